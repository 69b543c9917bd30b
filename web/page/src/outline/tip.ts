import { html, nothing } from "lit";
import { api, inWords } from "../api/api.ts";
import { define, Piece, styled } from "../piece.ts";
import { count, plural, when } from "../shell/time.ts";
import { levelOf, type Span, spanText } from "./geometry.ts";
import type { Node } from "./nodes.ts";

/** How long the pointer rests on a line before one that is not known is fetched, in ms. */
const rest = 120;

const unwritten = "This line is not written yet.";

/** What a line says, beside the pointer. Whoever cannot see it has the same from the list below. */
export class LineTip extends Piece {
  static override properties = { thread: { attribute: false }, at: { state: true }, fetched: { state: true } };
  declare thread: string;
  declare at: { span: Span; node: Node | null | undefined; x: number; y: number } | undefined;
  /** A line that was too narrow to have been fetched with others. */
  declare fetched: { span: string; text: string } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows a line, or none; node is what is known of it. */
  show(span: Span | undefined, node: Node | null | undefined, x: number, y: number): void {
    this.at = span && { span, node, x, y };
    clearTimeout(this.#timer);
    if (span && node === undefined && this.fetched?.span !== spanText(span)) this.#timer = setTimeout(() => this.#fetch(span), rest);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  async #fetch(s: Span): Promise<void> {
    const span = spanText(s);
    try {
      const { items } = await api.get<{ items: Node[] }>(this.thread, "/nodes", { level: levelOf(s), from: s.id, count: 1 });
      this.fetched = { span, text: items.find((n) => n.span === span)?.text ?? unwritten };
    } catch (err) {
      this.fetched = { span, text: inWords(err) };
    }
  }

  override render() {
    if (!this.at) return nothing;
    const { span, node, x, y } = this.at;
    const { clientWidth: width = 0, clientHeight: height = 0 } = this.parentElement ?? {};
    const across: Record<string, string> = x > width / 2 ? { right: `${width - x + 12}px` } : { left: `${x + 12}px` };
    const down: Record<string, string> = y > 180 ? { bottom: `${height - y + 12}px` } : { top: `${y + 16}px` };
    const known = node === undefined && this.fetched?.span === spanText(span) ? this.fetched.text : undefined;
    return html`<div class="tip" aria-hidden="true" ${styled({ ...across, ...down })}>
      <b>${span.n === 1 ? `Message ${count(span.id)}` : `${plural(span.n, "message", "messages")} from ${count(span.id)}`}</b>
      ${node?.time ? html`<time>${when(node.time)}</time>` : nothing}
      <p dir="auto">${known ?? (node === undefined ? "…" : (node?.text ?? unwritten))}</p>
    </div>`;
  }
}
define("sk-line-tip", LineTip);

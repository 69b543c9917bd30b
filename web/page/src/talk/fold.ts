import { html, nothing } from "lit";
import { define, Piece } from "../piece.ts";
import { plural } from "../shell/time.ts";
import { paint } from "../text/markdown.ts";

/** Lines that are shown of a text before it is opened. */
const few = 6;
/** A longer text is shown in pieces of so many characters. */
const most = 100_000;

/** The first lines of a text, as many as are shown folded, and how many there are. */
export function folded(text: string): { head: string; lines: number; whole: boolean } {
  const lines = text.split("\n");
  const head = lines.slice(0, few).map((l) => (l.length > 400 ? `${l.slice(0, 400)}…` : l)).join("\n");
  return { head, lines: lines.length, whole: head === text };
}

/** A text of which a few lines are shown until it is opened. */
class Fold extends Piece {
  static override properties = { text: { attribute: false }, language: { attribute: false }, label: { attribute: false }, open: { state: true } };
  declare text: string;
  declare language: string;
  declare label: string;
  declare open: boolean;

  constructor() {
    super();
    this.text = this.language = "";
    this.label = "Text";
    this.open = false;
  }

  override render() {
    const f = folded(this.text);
    return html`<pre dir="ltr" role="group" aria-label=${this.label} tabindex="0"><code></code></pre>
      ${f.whole ? nothing : html`<button class="button quiet small" aria-expanded=${String(this.open)} @click=${() => (this.open = !this.open)}>
        ${this.open ? "Show less" : f.lines > few ? `Show all ${plural(f.lines, "line", "lines")}` : "Show all"}
      </button>
      <button class="button quiet small" data-copies="fold">Copy</button>`}`;
  }

  protected override updated(): void {
    const code = this.querySelector("code")!;
    const text = this.open ? this.text.slice(0, most) : folded(this.text).head;
    paint(code, text, this.language);
  }
}
define("sk-fold", Fold);

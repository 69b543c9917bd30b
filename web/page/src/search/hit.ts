import { html, nothing } from "lit";
import { api, inWords } from "../api/api.ts";
import { type MessagePage, messagePage } from "../outline/opened.ts";
import { define, Piece } from "../piece.ts";
import { format } from "../route.ts";
import { count, exactly, onDay, when } from "../shell/time.ts";
import type { Hit, Line } from "./ask.ts";
import "./marks.css";
import { atBytes, drawn, marked, shortened } from "./marks.ts";
import { timeOf } from "./times.ts";

/** Asks when a hit was said once it is seen. */
const seen = new IntersectionObserver((all) => {
  for (const { isIntersecting, target } of all) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    void (target as HitLine).ask();
  }
});

/** One thing that was found, as a line. It opens in place: the message whole, and the line of what lies around it. */
class HitLine extends Piece {
  static override properties = { thread: { attribute: false }, hit: { attribute: false }, forms: { attribute: false }, open: { state: true }, message: { state: true }, around: { state: true }, failed: { state: true }, time: { state: true } };
  declare thread: string;
  declare hit: Hit;
  declare forms: readonly string[];
  declare open: boolean;
  declare message: MessagePage | undefined;
  /** Lines above the message, each of twice as many messages. */
  declare around: Line[];
  declare failed: string;
  declare time: string;

  constructor() {
    super();
    this.time = "";
    this.open = false;
    this.around = [];
    this.failed = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    seen.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    seen.unobserve(this);
  }

  async ask(): Promise<void> {
    this.time = await timeOf(this.thread, this.hit);
  }

  override render() {
    const h = this.hit;
    return html`
      ${this.open ? this.around.map((l) => this.#line(l)) : (h.before ?? []).map((l) => this.#line(l))}
      <button class="hit" aria-expanded=${this.open} @click=${this.#toggle}>
        <span class="at">${h.id < 0 ? "undone" : count(h.id)}</span>
        <span class="said" dir="auto">${drawn(shortened(atBytes(h.text, h.marks)))}${h.marks.length ? nothing : html` <i>beside a hit</i>`}</span>
        <time class="on" datetime=${this.time} title=${exactly(this.time)}>${onDay(this.time)}</time>
      </button>
      ${this.open ? this.#whole() : (h.after ?? []).map((l) => this.#line(l))}`;
  }

  #line(l: Line) {
    return html`<p class="around"><span class="at">${l.span}</span><span dir="auto">${l.missing ? "not written yet" : marked(l.text, this.forms)}</span></p>`;
  }

  #whole() {
    const m = this.message;
    if (this.failed) return html`<p class="trouble" role="alert">It cannot be opened: ${this.failed} <button class="button small" @click=${() => this.#page(1)}>Try again</button></p>`;
    if (!m) return html`<p class="opened" role="status">…</p>`;
    const { id } = this.hit;
    return html`<article class="opened">
      <header><b>${m.author ?? "Somebody"}</b>${m.to?.length ? html` to ${m.to.join(", ")}` : nothing} <time datetime=${m.time} title=${exactly(m.time)}>${when(m.time)}</time></header>
      <div class="text" dir="auto">${marked(m.text.replace(/^.*\n/, ""), this.forms)}</div>
      <footer>
        ${m.pages > 1 ? html`<button class="button small" ?disabled=${m.page === 1} @click=${() => this.#page(m.page - 1)}>Page before</button><span>page ${m.page} of ${m.pages}</span><button class="button small" ?disabled=${m.page === m.pages} @click=${() => this.#page(m.page + 1)}>Next page</button>` : nothing}
        ${id >= 0 ? html`<a class="button small" href=${format({ thread: this.thread, index: id, query: { words: this.forms.join(" ") } })}>Open in the conversation</a>
        <a class="button small" href=${format({ thread: this.thread, view: "outline", query: { at: `${id}+1` } })}>Show in the outline</a>
        <button class="button small" @click=${this.#wider}>${this.around.length ? "Wider still" : "What was it about?"}</button>` : nothing}
      </footer>
    </article>`;
  }

  #toggle(): void {
    this.open = !this.open;
    if (this.open && !this.message) void this.#page(1);
  }

  async #page(page: number): Promise<void> {
    this.failed = "";
    try {
      this.message = this.hit.id >= 0 ? await messagePage(this.thread, this.hit.id, page) : await undone(this.thread, this.hit.seq);
    } catch (err) {
      this.failed = inWords(err);
    }
  }

  /** Shows the line above, of twice as many messages. */
  async #wider(): Promise<void> {
    const level = this.around.length + 3;
    const n = 2 ** level;
    const id = this.hit.id - (this.hit.id % n);
    try {
      const { items } = await api.get<{ items: Line[] }>(this.thread, "/nodes", { level, from: id, count: 1 });
      const line = items.find((l) => l.span === `${id}+${n}`);
      this.around = [line ?? { span: `${id}+${n}`, text: "", missing: true }, ...this.around];
    } catch (err) {
      this.failed = inWords(err);
    }
  }
}
define("sk-hit", HitLine);

/** An undone message has no place: it is read by its seq. */
async function undone(thread: string, seq: number): Promise<MessagePage> {
  const e = await api.entry(thread, seq);
  const text = (e.message?.parts ?? []).map((p) => p.text ?? "").filter(Boolean).join("\n");
  return { id: -1, seq, ...(e.message && { author: e.message.author }), time: e.time ?? "", text: `\n${text}`, page: 1, pages: 1 };
}

import { html, nothing } from "lit";
import type { Live } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { Growing } from "./growing.ts";
import { callCard } from "./parts.ts";

/** The answer being made. Its text only grows: finished blocks are drawn once, and each piece draws the open block alone. */
class LiveAnswer extends Piece {
  static override properties = { live: { attribute: false }, author: { attribute: false } };
  declare live: Live;
  declare author: string;
  #text = new Growing();
  #thinking = new Growing();

  override render() {
    const l = this.live;
    const name = l.author || this.author;
    return html`<article class="message live" data-role="assistant" tabindex="-1" aria-labelledby="live-who">
      <header><h2 class="who" id="live-who"><bdi>${name}</bdi></h2><span class="aside">${this.#doing()}</span></header>
      <details class="thinking" ?hidden=${!l.thinking}><summary>Thinking</summary><div class="prose" data-grows="thinking"></div></details>
      <div class="prose" data-grows="text"></div>
      ${(l.tools ?? []).map((t) => callCard(t.name, t.input, "running", t.output ? html`<pre dir="ltr" tabindex="0" role="group" aria-label="Output so far"><code>${t.output.split("\n").slice(-6).join("\n")}</code></pre>` : nothing))}
      ${l.retry ? html`<p class="aside">Tried again: ${l.retry}</p>` : nothing}
      ${l.compact ? html`<p class="aside">The conversation was made smaller: ${l.compact}</p>` : nothing}
      <span class="caret" ?hidden=${(l.tools ?? []).length > 0 || l.text !== ""} aria-hidden="true"></span>
    </article>`;
  }

  protected override updated(): void {
    const l = this.live;
    this.#text.draw(this.querySelector("[data-grows=text]")!, l.text);
    this.#thinking.draw(this.querySelector("[data-grows=thinking]")!, l.thinking);
  }

  #doing(): string {
    const l = this.live;
    if (l.tools?.length) return "uses a tool…";
    if (l.text) return "writes…";
    return l.thinking ? "thinks…" : "begins…";
  }
}
define("sk-live", LiveAnswer);

import { html, nothing } from "lit";
import type { Live } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { Blocks, type Grown } from "../text/blocks.ts";
import { codeBlock, render } from "../text/markdown.ts";
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

/** A place in which a growing text is drawn. */
class Growing {
  #text = "";
  #blocks = new Blocks();
  #into: Element | undefined;
  #open: ChildNode[] = [];
  #code: Text | undefined;

  draw(into: Element, text: string): void {
    if (into === this.#into && text === this.#text) return;
    if (into !== this.#into || !text.startsWith(this.#text)) {
      into.replaceChildren();
      this.#into = into;
      this.#blocks = new Blocks();
      this.#open = [];
      this.#code = undefined;
    }
    this.#text = text;
    const grown = this.#blocks.grow(text);
    if (grown.closed.length) {
      this.#drop();
      for (const block of grown.closed) into.append(render(block));
    }
    this.#drawOpen(into, grown);
  }

  #drawOpen(into: Element, grown: Grown): void {
    if (grown.fence && this.#code) {
      this.#code.appendData(grown.fence.code.slice(this.#code.length));
      return;
    }
    this.#drop();
    if (grown.fence) {
      const block = codeBlock("", "");
      this.#code = document.createTextNode(grown.fence.code);
      block.querySelector("code")!.append(this.#code);
      into.append(block);
      this.#open = [block];
    } else if (grown.open.trim()) {
      const fragment = render(grown.open);
      this.#open = [...fragment.childNodes];
      into.append(fragment);
    }
  }

  #drop(): void {
    for (const node of this.#open) node.remove();
    this.#open = [];
    this.#code = undefined;
  }
}

import { Blocks, type Grown } from "../text/blocks.ts";
import { codeBlock, levelHeadings, render } from "../text/markdown.ts";

/** Shorter texts are drawn anew when they are whole. */
const long = 4000;

/** What is defined for other blocks makes them look otherwise once the whole is there. */
const defines = /^ {0,3}\[[^\]]+\]:/m;

/** The answer's text that was drawn last, so that its message can go on with what is there. */
let drawn: Growing | undefined;

/** Gives what was drawn of a long text while it grew, completed; undefined: it must be drawn anew. */
export function takeOver(text: string): DocumentFragment | undefined {
  return text.length >= long && !defines.test(text) ? drawn?.release(text) : undefined;
}

/** A place in which a growing text is drawn. */
export class Growing {
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
    drawn = this;
    const grown = this.#blocks.grow(text);
    if (grown.closed.length) {
      this.#drop();
      for (const block of grown.closed) into.append(render(block));
    }
    this.#drawOpen(into, grown);
  }

  /** Draws the rest of the text, and lets go of all that is drawn; undefined: it is another text. */
  release(text: string): DocumentFragment | undefined {
    if (!this.#into || this.#text.length < text.length / 2 || !text.startsWith(this.#text)) return undefined;
    this.draw(this.#into, text);
    if (this.#blocks.forced) return undefined;
    if (this.#code || this.#open.length) {
      this.#drop();
      const open = this.#blocks.grow(text).open;
      if (open.trim()) this.#into.append(render(open));
    }
    const all = document.createDocumentFragment();
    all.append(...this.#into.childNodes);
    levelHeadings(all);
    this.#into = undefined;
    return all;
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

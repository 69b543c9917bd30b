// A text that is being written, taken apart into blocks: those that are finished,
// which are drawn once, and the one that still grows. Cutting a Markdown text in
// the wrong place changes how it looks only until the whole is drawn.

export interface Grown {
  /** Blocks finished since the last time. */
  closed: string[];
  /** The block that grows. */
  open: string;
  /** It is a fence: its language, and the code so far. */
  fence?: { language: string; code: string };
}

const fenceAt = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/;
const listAt = /^(?:[-*+]|\d{1,9}[.)])\s/;
/** A longer block is cut at any line that begins at the margin. */
const long = 4000;

export class Blocks {
  /** A block was cut only since it was long: the whole may look otherwise. */
  forced = false;
  #text = "";
  #start = 0; // of the open block
  #line = 0; // the first line not looked at
  #blank = false; // the lines before it are blank
  #fence: { mark: string; language: string; code: number } | undefined;

  /** Takes the whole text so far, which must go on where it was. */
  grow(text: string): Grown {
    if (!text.startsWith(this.#text.slice(-64), Math.max(0, this.#text.length - 64))) throw new Error("the text does not go on where it was");
    this.#text = text;
    const closed: string[] = [];
    for (let end = text.indexOf("\n", this.#line); end >= 0; end = text.indexOf("\n", this.#line)) {
      this.#look(text.slice(this.#line, end), end + 1, closed);
      this.#line = end + 1;
    }
    const open = text.slice(this.#start);
    const f = this.#fence;
    if (f) return { closed, open, fence: { language: f.language, code: text.slice(Math.min(f.code, text.length)) } };
    return { closed, open };
  }

  #look(line: string, next: number, closed: string[]): void {
    const fence = fenceAt.exec(line);
    if (this.#fence) {
      const f = this.#fence;
      if (fence && fence[1]!.startsWith(f.mark) && line.trim() === fence[1]) {
        this.#fence = undefined;
        this.#close(next, closed);
      }
      return;
    }
    if (line.trim() === "") {
      this.#blank = true;
      return;
    }
    const margin = !/^\s/.test(line);
    const open = this.#text.slice(this.#start, this.#line);
    const list = listAt.test(open.trimStart());
    const natural = this.#blank ? !(list && listAt.test(line)) : /^#{1,6}\s/.test(line) || fence !== null;
    const tooLong = open.length > long;
    if (margin && (natural || tooLong)) {
      this.forced ||= !natural;
      this.#close(this.#line, closed);
    }
    this.#blank = false;
    if (fence && margin) this.#fence = { mark: fence[1]!, language: fence[2] ?? "", code: next };
  }

  #close(at: number, closed: string[]): void {
    const block = this.#text.slice(this.#start, at);
    if (block.trim()) closed.push(block);
    this.#start = at;
    this.#blank = false;
  }
}

// What is read aloud of an answer that is being made: whole sentences, once each.

/** How much one announcement says at most. */
const most = 400;

const plain = (text: string): string =>
  text
    .replace(/```[\s\S]*?(?:```|$)/g, " (code) ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_`#>|~]+/g, "")
    .replace(/\s+/g, " ")
    .trim();

export class Sentences {
  #said = 0;
  #segments = new Intl.Segmenter(undefined, { granularity: "sentence" });

  /** The sentences that the text so far has completed since the last time; at the end, all the rest. */
  next(text: string, ended = false): string {
    const rest = text.slice(this.#said);
    let end = rest.length;
    if (!ended) {
      // A fence that is open is not cut into sentences.
      const fences = [...rest.matchAll(/^ {0,3}```/gm)];
      if (fences.length % 2) end = fences.at(-1)!.index;
      const all = [...this.#segments.segment(rest.slice(0, end))];
      const last = all.at(-1);
      if (last && end === rest.length) end = last.index;
    }
    this.#said += end;
    const said = plain(rest.slice(0, end));
    return said.length > most ? `${said.slice(0, most)}…` : said;
  }
}

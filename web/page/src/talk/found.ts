import { atWords } from "../search/marks.ts";

/** The name of the marks in the style sheet. */
const name = "found";

/**
 * Marks the words in a message that somebody came to by a search. The marks lie over the
 * text and change nothing of it; without words, there are none.
 */
export function markWords(at: Element | null, words: readonly string[]): void {
  const marks = (CSS as { highlights?: HighlightRegistry }).highlights;
  if (!marks) return; // an older browser: the message itself is marked
  const ranges = at && words.length ? [...at.querySelectorAll(".prose, .call pre")].flatMap((el) => rangesIn(el, words)) : [];
  if (ranges.length) marks.set(name, new Highlight(...ranges));
  else marks.delete(name);
}

function rangesIn(el: Element, words: readonly string[]): Range[] {
  const out: Range[] = [];
  const walk = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    let from = 0;
    for (const piece of atWords(node.textContent ?? "", words)) {
      if (piece.hit) {
        const r = document.createRange();
        r.setStart(node, from);
        r.setEnd(node, from + piece.text.length);
        out.push(r);
      }
      from += piece.text.length;
    }
  }
  return out;
}

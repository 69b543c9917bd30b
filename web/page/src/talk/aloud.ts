import type { Live } from "../api/types.ts";
import { plainText } from "../api/api.ts";
import type { Row } from "../state/rows.ts";
import { Sentences } from "../text/sentences.ts";

/** So many announcements stay in the place where a screen reader finds them. */
const kept = 3;

/** Reads answers aloud as they are made, sentence by sentence, into a live region. */
export class Aloud {
  #of = "";
  #sentences = new Sentences();
  #joined = false;

  /** Goes on with the answer that is made, and finishes the one that was. */
  follow(into: Element, live: Live | null | undefined, rows: readonly Row[]): void {
    if (this.#of && live?.id !== this.#of) {
      const done = rows.find((r) => r.kind === "entry" && r.key === this.#of);
      if (done?.kind === "entry") this.#say(into, this.#sentences.next(plainText(done.entry.message?.parts ?? []), true));
      this.#of = "";
    }
    if (live?.id && live.id !== this.#of) {
      this.#of = live.id;
      this.#sentences = new Sentences();
      // Who comes in the middle hears what comes from now on.
      if (!this.#joined) this.#sentences.next(live.text);
    }
    this.#joined = true;
    if (live?.id) this.#say(into, this.#sentences.next(live.text));
  }

  #say(into: Element, text: string): void {
    if (!text) return;
    const p = document.createElement("p");
    p.textContent = text;
    into.append(p);
    while (into.children.length > kept) into.firstElementChild!.remove();
  }
}

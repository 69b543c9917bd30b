import { api } from "../api/api.ts";
import type { Logged } from "../api/types.ts";

/** A cut in force: when it was made, and what it did. */
export interface Cut {
  seq: number;
  number: number;
  time: string;
  strategy: string;
  /** The first message that was whole before it, and after it. */
  from: number;
  to: number;
  /** Tokens of what the model was sent of the conversation, before and after. */
  before: number;
  after: number;
}

/** So many are read without a pause. Each costs one small request. */
const most = 400;

/**
 * The cuts of a thread. Each names the one before it; they are read from the newest back,
 * as far as somebody looks.
 */
export class Cuts {
  /** The oldest that is known first. */
  all: readonly Cut[] = [];
  #bySeq = new Map<number, Logged>();
  #head = 0;
  #upTo = Infinity;
  #running = false;
  #failed = false;
  closed = false;

  constructor(
    thread: string,
    private readonly told: () => void,
    private readonly fetch: (seq: number) => Promise<Logged> = (seq) => api.logged(thread, seq),
  ) {}

  /** Reads those that were made after the entry upTo, with the newest at head; 0: there is none. */
  follow(head: number, upTo: number): void {
    if (head === this.#head && upTo >= this.#upTo && !this.#failed) return;
    const moved = head !== this.#head;
    this.#head = head;
    this.#upTo = Math.min(this.#upTo, upTo);
    if (moved) this.#settle();
    void this.#read();
  }

  /** Another log begins. */
  clear(): void {
    this.#bySeq.clear();
    this.all = [];
    this.#head = 0;
    this.#upTo = Infinity;
  }

  async #read(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    this.#failed = false;
    try {
      for (let n = 0, seq = this.#missing(); seq && n < most && !this.closed; n++, seq = this.#missing()) {
        this.#bySeq.set(seq, await this.fetch(seq));
        if (n % 20 === 19) this.#settle();
      }
    } catch {
      this.#failed = true; // the link's standing says why; the next batch asks again
    }
    this.#running = false;
    this.#settle();
  }

  /** The next one to be read: with the one before the oldest that is looked at, whose boundary it begins with. */
  #missing(): number {
    let seq = this.#head;
    for (let e = this.#bySeq.get(seq); e; e = this.#bySeq.get(seq)) {
      if (seq <= this.#upTo) return 0;
      seq = e.cut?.prev ?? 0;
    }
    return seq;
  }

  /** Tells of the cuts in force; until the newest has been read, of those that were before it. */
  #settle(): void {
    if (this.#head && !this.#bySeq.has(this.#head)) return;
    const out: Cut[] = [];
    for (let e = this.#bySeq.get(this.#head); e?.cut; ) {
      const c = e.cut;
      const prev = c.prev ? this.#bySeq.get(c.prev) : undefined;
      if (c.prev && !prev) break;
      const sum = (w?: { outline: number; tail: number }) => (w?.outline ?? 0) + (w?.tail ?? 0);
      out.push({ seq: e.seq, number: c.number, time: e.time ?? "", strategy: c.strategy, from: prev?.cut?.boundary ?? 0, to: c.boundary, before: sum(c.before), after: sum(c.after) });
      e = prev;
    }
    out.reverse();
    if (out.length === this.all.length && out.every((c, i) => c.seq === this.all[i]!.seq)) return;
    this.all = out;
    this.told();
  }
}

const span = (from: number, to: number): string => (to - from === 1 ? `message #${from}` : `messages #${from} to #${to - 1}`);

/** What a cut did, in words; or what several in a row did together. */
export function cutWords(c: Pick<Cut, "strategy" | "from" | "to">): string {
  if (c.strategy !== "outline") return `what the model gets was made smaller (${c.strategy})`;
  return c.to > c.from ? `${span(c.from, c.to)} became ${c.to - c.from === 1 ? "a line" : "lines"} for the model` : "older lines were joined";
}

import { api } from "../api/api.ts";
import type { Entry, Page } from "../api/types.ts";
import type { Range } from "../link/link.ts";

/** A stretch of the log: what lies after one seq and before another, both left out. */
export interface Stretch {
  after: number;
  before: number;
}

type Fetch = (q: Stretch & { cursor?: string }) => Promise<Page>;

const pageSize = 200;

/** So many pages of a stretch are looked through without being asked for. */
const unasked = 4;

/**
 * The messages that were undone, as far as the log was looked through for them: where
 * messages are held, and only there. What was undone stays undone, so it is kept; after
 * each rewind the same stretches are looked through again.
 */
export class Undone {
  /** By seq, ascending. */
  entries: readonly Entry[] = [];
  /** Long stretches that were looked through in part. */
  rest: readonly Stretch[] = [];
  #bySeq = new Map<number, Entry>();
  #looked: readonly Stretch[] = [];
  #due: Stretch[] = [];
  #as = "";
  #epoch = "";
  #running = false;
  /** Nobody listens any more. */
  closed = false;

  constructor(
    thread: string,
    private readonly told: () => void,
    private readonly fetch: Fetch = ({ after, before, cursor }) =>
      api.entries(thread, { inactive: true, limit: pageSize, ...(cursor ? { cursor } : { after, ...(before !== Infinity && { before }) }) }),
  ) {}

  /** Looks through what is held, as it is in this epoch and on this branch. */
  look(ranges: readonly Range[], at: { epoch: string; branch: number }): void {
    const as = `${at.epoch} ${at.branch}`;
    if (as !== this.#as) {
      if (at.epoch !== this.#epoch) {
        this.#bySeq.clear();
        this.entries = [];
      }
      this.#as = as;
      this.#epoch = at.epoch;
      this.#looked = this.rest = [];
      this.#due = [];
    }
    const wanted = ranges.length ? stretches(ranges) : [{ after: 0, before: Infinity }];
    const missing = wanted.flatMap((w) => without(w, [...this.#looked, ...this.rest, ...this.#due]));
    this.#due.push(...missing);
    if (missing.length) void this.#run();
  }

  /** Looks on where a long stretch was left. */
  goOn(): void {
    this.#due.push(...this.rest);
    this.rest = [];
    void this.#run();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (let s = this.#due[0]; s && !this.closed; s = this.#due[0]) {
      const as = this.#as;
      try {
        const left = await this.#through(s, as);
        if (as !== this.#as) continue; // it begins anew
        this.#due.shift();
        if (left) this.rest = [...this.rest, left];
      } catch {
        if (as !== this.#as) continue;
        this.#due = []; // the link's standing says why; what follows on the next batch asks again
      }
      this.told();
    }
    this.#running = false;
  }

  /** Looks through a stretch from its end; it gives what is left of it. */
  async #through(s: Stretch, as: string): Promise<Stretch | undefined> {
    let cursor: string | undefined;
    let { before } = s;
    for (let n = 0; n < unasked; n++) {
      const page = await this.fetch({ ...s, ...(cursor && { cursor }) });
      if (as !== this.#as) return undefined;
      const next = page.next ? (page.items.at(-1)?.seq ?? s.after + 1) : s.after + 1;
      for (const e of page.items) if (e.undone || e.past) this.#bySeq.set(e.seq, e);
      this.#looked = joined([...this.#looked, { after: next - 1, before }]);
      this.entries = [...this.#bySeq.values()].sort((a, b) => a.seq - b.seq);
      before = next;
      if (!page.next) return undefined;
      cursor = page.next;
      this.told();
    }
    return { after: s.after, before };
  }
}

/** Where messages are held: each run with what lies before its first, the last up to the end. */
const stretches = (ranges: readonly Range[]): Stretch[] =>
  ranges.map((r, i) => ({ after: r.before, before: i === ranges.length - 1 ? Infinity : r.entries.at(-1)!.seq }));

/** What of a stretch is in none of the others. */
export function without(s: Stretch, others: readonly Stretch[]): Stretch[] {
  let left = [s];
  for (const o of others) {
    left = left.flatMap((l) => {
      if (o.before <= l.after + 1 || o.after >= l.before - 1) return [l];
      return [{ after: l.after, before: Math.min(l.before, o.after + 1) }, { after: Math.max(l.after, o.before - 1), before: l.before }].filter((x) => x.before - x.after > 1);
    });
  }
  return left;
}

/** Stretches with those joined that touch. */
export function joined(all: readonly Stretch[]): Stretch[] {
  const out: Stretch[] = [];
  for (const s of [...all].sort((a, b) => a.after - b.after)) {
    const last = out.at(-1);
    if (last && s.after <= last.before - 1) last.before = Math.max(last.before, s.before);
    else out.push({ ...s });
  }
  return out;
}

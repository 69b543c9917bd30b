import { type Run, runSize, type Span } from "./geometry.ts";

/** A line as the server gives it. */
export interface Node {
  span: string;
  seq: number;
  text: string;
  by: string;
  time: string;
}

export type FetchNodes = (level: number, from: number, count: number, signal: AbortSignal) => Promise<Node[]>;

interface Held {
  lines: (Node | null)[];
  /** How long the thread was then; a run that reaches beyond its end is fetched again. */
  length: number;
  full: boolean;
}

/**
 * The lines that were fetched. What is wanted is what is on the screen: whoever wants
 * something else gives up what is not yet asked for. A few requests run at once, and a
 * bounded number of runs is kept, those that were looked at last.
 */
export class Nodes {
  #held = new Map<string, Held>();
  #running = new Map<string, AbortController>();
  #wanted: Run[] = [];
  #length = 0;
  #paused = false;
  failed: unknown;

  constructor(
    private readonly fetch: FetchNodes,
    private readonly told: () => void,
    private readonly bounds = { atOnce: 4, kept: 400, pause: 2000 },
  ) {}

  /** The line of a span; null: it is not built; undefined: it is not known. */
  get(s: Span): Node | null | undefined {
    const number = s.id / s.n;
    return this.#held.get(`${Math.round(Math.log2(s.n))} ${Math.floor(number / runSize)}`)?.lines[number % runSize];
  }

  get running(): number {
    return this.#running.size;
  }

  get kept(): number {
    return this.#held.size;
  }

  /** Wants these runs, in this order, of a thread of that length, and no others. */
  want(wanted: readonly Run[], length: number): void {
    this.#length = length;
    this.#wanted = wanted.filter((r) => !this.#fresh(r));
    const keys = new Set(this.#wanted.map(key));
    for (const [k, end] of this.#running) if (!keys.has(k)) end.abort();
    for (const r of wanted) this.#touch(key(r));
    this.#go();
  }

  /** Forgets all: the thread is another one, or went back. */
  clear(): void {
    for (const end of this.#running.values()) end.abort();
    this.#held.clear();
    this.#wanted = [];
  }

  #fresh(r: Run): boolean {
    const held = this.#held.get(key(r));
    return held !== undefined && (held.full || held.length === this.#length);
  }

  #touch(k: string): void {
    const held = this.#held.get(k);
    if (!held) return;
    this.#held.delete(k);
    this.#held.set(k, held);
  }

  #go(): void {
    for (const r of this.#wanted) {
      if (this.#paused || this.#running.size >= this.bounds.atOnce) return;
      if (!this.#running.has(key(r)) && !this.#fresh(r)) void this.#ask(r);
    }
  }

  async #ask(r: Run): Promise<void> {
    const end = new AbortController();
    const length = this.#length;
    this.#running.set(key(r), end);
    const n = 2 ** r.level;
    const first = r.number * runSize;
    try {
      const nodes = await this.fetch(r.level, first * n, runSize, end.signal);
      if (!end.signal.aborted) this.#take(r, nodes, length);
    } catch (err) {
      if (!end.signal.aborted) this.#rest(err);
    } finally {
      if (this.#running.get(key(r)) === end) this.#running.delete(key(r));
    }
    this.told();
    this.#go();
  }

  #take(r: Run, nodes: Node[], length: number): void {
    const n = 2 ** r.level;
    const first = r.number * runSize;
    const lines = new Array<Node | null>(runSize).fill(null);
    for (const node of nodes) {
      const i = Number(node.span.split("+")[0]) / n - first;
      if (i >= 0 && i < runSize) lines[i] = node;
    }
    this.#held.delete(key(r));
    this.#held.set(key(r), { lines, length, full: lines.every((l) => l !== null) });
    this.failed = undefined;
    for (const k of this.#held.keys()) {
      if (this.#held.size <= this.bounds.kept) break;
      this.#held.delete(k);
    }
  }

  /** After a failure nothing is asked for a moment. */
  #rest(err: unknown): void {
    this.failed = err;
    this.#paused = true;
    setTimeout(() => {
      this.#paused = false;
      this.#go();
    }, this.bounds.pause);
  }
}

const key = (r: Run): string => `${r.level} ${r.number}`;

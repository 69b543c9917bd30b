import type { Blob as Attached } from "../api/types.ts";
import { keysOf, read, type Storage, write } from "./storage.ts";

/** What is in a composer. */
export interface Draft {
  text: string;
  blobs: Attached[];
  time: number;
  /** It takes the place of a message and of all that follows it. */
  instead?: Instead;
}

/** The message in whose place something is said, and what stood in the composer before. */
export interface Instead {
  seq: number;
  prev: number;
  index: number;
  stash: string;
}

const prefix = "skein.draft.";

/**
 * Keeps what is typed, per thread and tab, with every key stroke. Two tabs on one thread
 * do not overwrite each other; what a crashed or closed tab left is found by the next one
 * that opens the thread.
 */
export class Drafts {
  /** This tab's name. */
  tab: string;
  #storage: Storage;
  #living: () => Promise<ReadonlySet<string>>;
  #now: () => number;

  /** `living` gives the names of the tabs there are. */
  constructor(tab: string, storage: Storage, living: () => Promise<ReadonlySet<string>>, now: () => number = Date.now) {
    this.tab = tab;
    this.#storage = storage;
    this.#living = living;
    this.#now = now;
  }

  /** It says whether there was room for it. */
  keep(thread: string, text: string, blobs: Attached[] = [], instead?: Instead): boolean {
    const key = this.#key(thread, this.tab);
    if (text === "" && blobs.length === 0 && !instead?.stash) {
      this.#storage.removeItem(key);
      return true;
    }
    return write(this.#storage, key, { text, blobs, time: this.#now(), ...(instead && { instead }) } satisfies Draft);
  }

  /** What this tab has in the thread's composer. */
  own(thread: string): Draft | undefined {
    return read<Draft>(this.#storage, this.#key(thread, this.tab));
  }

  /** Takes the newest draft that no tab is writing any more; it becomes this tab's. */
  async adopt(thread: string): Promise<Draft | undefined> {
    const before = this.#key(thread, "");
    const living = await this.#living();
    const left = keysOf(this.#storage, before)
      .filter((key) => !living.has(key.slice(before.length)) && key !== before + this.tab)
      .map((key) => ({ key, draft: read<Draft>(this.#storage, key) }))
      .filter((d): d is { key: string; draft: Draft } => d.draft !== undefined)
      .sort((a, b) => b.draft.time - a.draft.time)[0];
    if (!left || this.own(thread)) return undefined;
    this.#storage.removeItem(left.key);
    this.keep(thread, left.draft.text, left.draft.blobs, left.draft.instead);
    return left.draft;
  }

  /** Leaves a draft for another tab to take. */
  leave(thread: string, draft: Draft): void {
    write(this.#storage, this.#key(thread, `left-${this.#now()}`), draft);
  }

  #key(thread: string, tab: string): string {
    return `${prefix}${thread}/${tab}`; // no thread's id has a slash
  }
}

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
/** A draft of a tab that is not heard of for so long is anybody's. */
const orphaned = 10_000;

/**
 * Keeps what is typed, per thread and tab, with every key stroke. Two tabs on one thread
 * do not overwrite each other; what a crashed or closed tab left is found by the next one
 * that opens the thread.
 */
export class Drafts {
  #storage: Storage;
  #now: () => number;

  constructor(
    readonly tab: string,
    storage: Storage,
    now: () => number = Date.now,
  ) {
    this.#storage = storage;
    this.#now = now;
  }

  /** It says whether there was room for it. */
  keep(thread: string, text: string, blobs: Attached[] = [], instead?: Instead): boolean {
    const key = this.#key(thread);
    if (text === "" && blobs.length === 0 && !instead?.stash) {
      this.#storage.removeItem(key);
      return true;
    }
    return write(this.#storage, key, { text, blobs, time: this.#now(), ...(instead && { instead }) } satisfies Draft);
  }

  /** This tab's draft, else the newest one that no other tab is writing, which becomes this tab's. */
  open(thread: string): Draft | undefined {
    const own = this.#key(thread);
    const mine = read<Draft>(this.#storage, own);
    if (mine) return mine;
    const left = keysOf(this.#storage, `${prefix}${thread}.`)
      .filter((key) => key !== own && !this.#alive(key.slice(prefix.length + thread.length + 1)))
      .map((key) => ({ key, draft: read<Draft>(this.#storage, key) }))
      .filter((d): d is { key: string; draft: Draft } => d.draft !== undefined)
      .sort((a, b) => b.draft.time - a.draft.time)[0];
    if (!left) return undefined;
    this.#storage.removeItem(left.key);
    this.keep(thread, left.draft.text, left.draft.blobs, left.draft.instead);
    return left.draft;
  }

  /** Says that this tab lives. To be called every few seconds. */
  beat(): void {
    write(this.#storage, `skein.tab.${this.tab}`, this.#now());
    for (const key of keysOf(this.#storage, "skein.tab.")) {
      const at = read<number>(this.#storage, key) ?? 0;
      if (this.#now() - at > 24 * 3_600_000) this.#storage.removeItem(key);
    }
  }

  /** Says that this tab is closed. */
  end(): void {
    this.#storage.removeItem(`skein.tab.${this.tab}`);
  }

  #alive(tab: string): boolean {
    const at = read<number>(this.#storage, `skein.tab.${tab}`);
    return at !== undefined && this.#now() - at < orphaned;
  }

  #key(thread: string): string {
    return `${prefix}${thread}.${this.tab}`;
  }
}

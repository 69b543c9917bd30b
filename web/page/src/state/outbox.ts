import { api, inWords, mayRetry, type Saying } from "../api/api.ts";
import type { Blob as Attached } from "../api/types.ts";
import { Observable } from "./observable.ts";
import { keysOf, read, type Storage, write } from "./storage.ts";

/** Something said that the server has not acknowledged, or that is not in the window yet. */
export interface Outgoing {
  key: string;
  text: string;
  blobs: Attached[];
  when: "now" | "next";
  time: number;
  /** The server has it. */
  seq?: number;
  /** The server refused it, in words. It is kept until it is sent again or taken back. */
  refused?: string;
}

/**
 * What was said in a thread and is on its way. Each has a client key from the start and
 * is kept in storage, by itself, so that it is sent again after a lost link, a reload or a
 * crash, by whichever tab, and is said once: the server knows the key. They go in order.
 */
export class Outbox extends Observable {
  items: Outgoing[] = [];
  /** Is told of each message that the server has taken. */
  told: (what: Outgoing) => void = () => {};
  #sending = false;
  #place: string;
  #storage: Storage;
  #say: (thread: string, what: Saying) => Promise<{ seq: number }>;

  constructor(
    readonly thread: string,
    storage: Storage,
    say: (thread: string, what: Saying) => Promise<{ seq: number }> = api.say,
  ) {
    super();
    this.#storage = storage;
    this.#say = say;
    this.#place = `skein.outbox.${thread}/`;
    this.items = keysOf(storage, this.#place)
      .map((key) => read<Outgoing>(storage, key))
      .filter((o): o is Outgoing => o?.key !== undefined)
      .sort((a, b) => a.time - b.time);
  }

  /** It says whether the message is safe in storage; it is sent either way. */
  add(text: string, when: Outgoing["when"], blobs: Attached[] = []): boolean {
    const time = Math.max(Date.now(), (this.items.at(-1)?.time ?? 0) + 1);
    const one: Outgoing = { key: crypto.randomUUID?.() ?? fallbackKey(), text, blobs, when, time };
    const safe = write(this.#storage, this.#place + one.key, one);
    this.items = [...this.items, one];
    this.changed();
    void this.pump();
    return safe;
  }

  /** Sends what waits, in order, until one cannot be sent. */
  async pump(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) {
        try {
          const said = await this.#say(this.thread, { text: next.text, key: next.key, when: next.when, ...(next.blobs.length && { blobs: next.blobs.map(({ hash, name }) => ({ hash, name })) }) });
          this.#change(next.key, (o) => ({ ...o, seq: said.seq }));
          this.told(next);
        } catch (err) {
          if (mayRetry(err)) return;
          this.#change(next.key, (o) => ({ ...o, refused: inWords(err) }));
        }
      }
    } finally {
      this.#sending = false;
    }
  }

  /** Takes off what the window or the inbox shows. */
  seen(keys: ReadonlySet<string>, upto: number): void {
    const there = (o: Outgoing) => keys.has(o.key) || (o.seq !== undefined && o.seq <= upto);
    for (const o of this.items.filter(there)) this.#storage.removeItem(this.#place + o.key);
    if (this.items.some(there)) {
      this.items = this.items.filter((o) => !there(o));
      this.changed();
    }
  }

  /** Sends what was refused again. */
  again(key: string): void {
    this.#change(key, ({ refused: _, ...o }) => o);
    void this.pump();
  }

  /** Takes back what has not been said, and gives it. */
  takeBack(key: string): Outgoing | undefined {
    const it = this.items.find((o) => o.key === key);
    if (!it || it.seq !== undefined) return undefined;
    this.#storage.removeItem(this.#place + key);
    this.items = this.items.filter((o) => o !== it);
    this.changed();
    return it;
  }

  #next(): Outgoing | undefined {
    return this.items.find((o) => o.seq === undefined && o.refused === undefined);
  }

  #change(key: string, to: (was: Outgoing) => Outgoing): void {
    this.items = this.items.map((o) => (o.key === key ? to(o) : o));
    const now = this.items.find((o) => o.key === key);
    if (now) write(this.#storage, this.#place + key, now);
    this.changed();
  }
}

/** Where a page is not served securely, randomUUID is missing. */
function fallbackKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

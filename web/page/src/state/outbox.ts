import { api, inWords, mayRetry, type Saying } from "../api/api.ts";
import type { Blob as Attached } from "../api/types.ts";
import { Observable } from "./observable.ts";
import { read, type Storage, write } from "./storage.ts";

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
 * is kept in storage, so that it is sent again after a lost link, a reload or a crash,
 * by whichever tab, and is said once: the server knows the key. They go in order.
 */
export class Outbox extends Observable {
  items: Outgoing[] = [];
  #sending = false;
  #key: string;
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
    this.#key = `skein.outbox.${thread}`;
    this.items = read<Outgoing[]>(storage, this.#key) ?? [];
  }

  /** It says whether the message is safe in storage; it is sent either way. */
  add(text: string, when: Outgoing["when"], blobs: Attached[] = []): boolean {
    this.items = [...this.items, { key: crypto.randomUUID?.() ?? fallbackKey(), text, blobs, when, time: Date.now() }];
    const safe = this.#keep();
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
          this.#change(next.key, { seq: said.seq });
        } catch (err) {
          if (mayRetry(err)) return;
          this.#change(next.key, { refused: inWords(err) });
        }
      }
    } finally {
      this.#sending = false;
    }
  }

  /** Takes off what the window or the inbox shows. */
  seen(keys: ReadonlySet<string>, upto: number): void {
    const left = this.items.filter((o) => !keys.has(o.key) && !(o.seq !== undefined && o.seq <= upto));
    if (left.length === this.items.length) return;
    this.items = left;
    this.#keep();
  }

  /** Sends what was refused again. */
  again(key: string): void {
    this.items = this.items.map(({ refused, ...o }) => (o.key === key || refused === undefined ? o : { ...o, refused }));
    this.#keep();
    void this.pump();
  }

  /** Takes back what has not been said, and gives it. */
  takeBack(key: string): Outgoing | undefined {
    const it = this.items.find((o) => o.key === key);
    if (!it || it.seq !== undefined) return undefined;
    this.items = this.items.filter((o) => o !== it);
    this.#keep();
    return it;
  }

  #next(): Outgoing | undefined {
    return this.items.find((o) => o.seq === undefined && o.refused === undefined);
  }

  #change(key: string, by: Partial<Outgoing>): void {
    this.items = this.items.map((o) => (o.key === key ? { ...o, ...by } : o));
    this.#keep();
  }

  #keep(): boolean {
    let safe = true;
    if (this.items.length) safe = write(this.#storage, this.#key, this.items);
    else this.#storage.removeItem(this.#key);
    this.changed();
    return safe;
  }
}

/** Where a page is not served securely, randomUUID is missing. */
function fallbackKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");
}

import { api } from "../api/api.ts";
import { Observable } from "../state/observable.ts";
import { joined, type Made, type Requests } from "./ledger.ts";

const pageSize = 200;

/** So many requests are fetched without being asked for. */
const unasked = 12_000;

/** So many pages in a row may be without a request before one is asked whether to go on. */
const bare = 3;

type Fetch = (before: number | undefined, limit: number, signal: AbortSignal) => Promise<Requests>;

const fromServer =
  (thread: string): Fetch =>
  (before, limit, signal) =>
    api.get<Requests>(thread, "/requests", { limit, ...(before !== undefined && { before }) }, signal);

/** Reads a thread's ledger page by page, the newest first. Each page is shown as it comes. */
export class LedgerReader extends Observable {
  /** The oldest first. */
  all: Made[] = [];
  /** There may be older ones. */
  more = true;
  reading = false;
  failed: unknown;
  #next: number | undefined;
  #end = new AbortController();
  readonly #fetch: Fetch;

  constructor(thread: string, fetch: Fetch = fromServer(thread)) {
    super();
    this.#fetch = fetch;
  }

  close(): void {
    this.#end.abort();
  }

  /** Fetches older ones: all there are, within bounds. */
  async read(most = unasked): Promise<void> {
    if (this.reading) return;
    const upTo = this.all.length + most;
    let without = 0;
    await this.#run(async () => {
      while (this.more && this.all.length < upTo && without < bare) {
        const page = await this.#fetch(this.#next, pageSize, this.#end.signal);
        without = page.items.length ? 0 : without + 1;
        this.#next = page.next;
        this.#take(page.items);
        this.more = page.next !== undefined && this.all[0]?.request.number !== 1;
        this.changed();
      }
    });
  }

  /** Fetches what is newer than all that is known. */
  async renew(): Promise<void> {
    if (this.reading) return;
    if (!this.all.length) {
      this.more = true; // there were none yet
      this.#next = undefined;
      return this.read();
    }
    const newest = this.all.at(-1)!.seq;
    await this.#run(async () => {
      let before: number | undefined;
      do {
        const page = await this.#fetch(before, 20, this.#end.signal);
        this.#take(page.items);
        before = page.items.some((m) => m.seq <= newest) ? undefined : page.next;
      } while (before !== undefined);
    });
  }

  #take(items: Made[]): void {
    this.all = joined(this.all, items);
  }

  async #run(work: () => Promise<void>): Promise<void> {
    this.reading = true;
    this.failed = undefined;
    try {
      await work();
    } catch (err) {
      if (!this.#end.signal.aborted) this.failed = err;
    } finally {
      this.reading = false;
      this.changed();
    }
  }
}

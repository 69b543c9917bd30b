import { api, Fault, inWords } from "../api/api.ts";
import type { Entry, View } from "../api/types.ts";
import type { Link, Standing, Watch } from "../link/link.ts";
import { Cuts } from "./cuts.ts";
import { notices } from "./notices.ts";
import { Observable } from "./observable.ts";
import { Outbox } from "./outbox.ts";
import { type Row, rows } from "./rows.ts";
import type { Storage } from "./storage.ts";
import { threads } from "./threads.ts";
import { Undone } from "./undone.ts";

/** Messages that are kept before the window while somebody reads the newest. */
const keptBehind = 200;

/** One open thread: what is held of it, and what can be done with it. */
export class ThreadStore extends Observable {
  readonly watch: Watch;
  readonly outbox: Outbox;
  /** Somebody looks at something older than the end: what leaves the window stays on the screen. */
  reading = false;
  rows: Row[] = [];
  readonly cuts: Cuts;
  readonly undone: Undone;
  /** Marks of undone messages that are open, by their rows' keys. */
  readonly opened = new Set<string>();
  #view: View | null = null;
  #fetching = new Set<string>();
  #leave: () => void;

  constructor(
    readonly id: string,
    link: Link,
    storage: Storage,
  ) {
    super();
    this.watch = link.watch(id);
    this.outbox = new Outbox(id, storage);
    this.cuts = new Cuts(id, () => this.#lay());
    this.undone = new Undone(id, () => this.#lay());
    this.watch.listen(() => this.#moved());
    this.outbox.listen(() => this.changed());
    this.outbox.told = (o) => void threads.entitle(id, o.text || (o.blobs[0]?.name ?? ""));
    // The list says whether it is a fork, in whose past something may have been undone.
    this.#leave = threads.listen(() => this.#look(this.#view));
    void this.outbox.pump();
  }

  close(): void {
    threads.follow(undefined);
    this.#leave();
    this.cuts.closed = this.undone.closed = true;
    this.watch.close();
  }

  /** Opens a mark of undone messages, or closes it. */
  toggle(key: string): void {
    if (!this.opened.delete(key)) this.opened.add(key);
    this.changed();
  }

  get view(): View | null {
    return this.#view;
  }

  get standing(): Standing {
    return this.watch.standing;
  }

  get reason(): string {
    return this.watch.reason;
  }

  /** A turn runs or waits for an approval. */
  get busy(): boolean {
    return (this.#view?.docs.agent.turn ?? 0) !== 0 || this.#view?.docs.live != null;
  }

  fetching(what: string): boolean {
    return this.#fetching.has(what);
  }

  /** Fetches the page before all that is held. */
  earlier(): Promise<void> {
    const before = this.watch.earlier + 1;
    return this.#fetch("earlier", () => api.entries(this.id, { before, limit: 50 }));
  }

  /** Fetches the newer end of a hole. */
  fill(hole: { after: number; before: number }): Promise<void> {
    return this.#fetch(`hole ${hole.after}`, () => api.entries(this.id, { before: hole.before, after: hole.after, limit: 50 }));
  }

  /** Fetches what lies around the message of that index. It says whether there is one. */
  async reach(index: number): Promise<boolean> {
    const seq = await api.seqAt(this.id, index);
    if (seq === undefined) return false;
    await this.#fetch(`around ${index}`, () => api.entries(this.id, { before: seq + 1, limit: 25 }));
    await this.#fetch(`around ${index}`, () => api.entries(this.id, { after: seq, limit: 25, order: "asc" }));
    return true;
  }

  /** Fetches a message whose long parts were cut. */
  whole(entry: Entry): Promise<Entry> {
    return api.entry(this.id, entry.seq);
  }

  /** Has the newest answer made again: undoes it, and what led to it, and answers what was asked. */
  async regenerate(): Promise<void> {
    const entries = this.rows.filter((r) => r.kind === "entry").map((r) => r.entry);
    const turn = entries.findLast((e) => e.message?.role === "assistant")?.message?.turn ?? 0;
    // What was said into the turn is part of it; it was begun by what stands before it.
    const asked = entries.findLast((e) => e.message?.role === "user" && e.message.turn !== turn && e.seq < turn);
    if (!asked) throw new Error("what was asked is not on the screen: fetch earlier messages first");
    await api.rewind(this.id, asked.seq);
    await api.reply(this.id);
  }

  stop(): Promise<void> {
    return api.stop(this.id);
  }

  /** Undoes a message and all that follows it. */
  goBack(to: { prev: number }): Promise<unknown> {
    return to.prev === 0 ? api.reset(this.id) : api.rewind(this.id, to.prev);
  }

  async #fetch(what: string, page: () => ReturnType<typeof api.entries>): Promise<void> {
    if (this.#fetching.has(what)) return;
    this.#fetching.add(what);
    this.changed();
    try {
      await this.#take(page);
    } catch (err) {
      notices.trouble(`Messages could not be fetched: ${inWords(err)}`);
    } finally {
      this.#fetching.delete(what);
      this.changed();
    }
  }

  /** A page of a branch that the view has not moved to yet is fetched again in a moment. */
  async #take(page: () => ReturnType<typeof api.entries>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.watch.fetched(await page());
        return;
      } catch (err) {
        if (!(err instanceof Fault) || attempt === 4) throw err;
        await new Promise((r) => setTimeout(r, 250 * attempt));
      }
    }
  }

  #moved(): void {
    const now = this.watch.view;
    const was = this.#view;
    if (now && was && was !== now) this.#keepPlace(was, now);
    this.#view = now;
    if (now && (now.entries !== was?.entries || now.docs.inbox !== was?.docs.inbox)) {
      const keys = new Set([...now.entries, ...(now.docs.inbox ?? [])].map((e) => e.key ?? ""));
      keys.delete("");
      this.outbox.seen(keys, now.entries.at(-1)?.seq ?? now.before);
    }
    if (this.standing === "live" && this.outbox.items.length) void this.outbox.pump();
    // A piece of an answer changes no row: only what is held, and the cut, do.
    if (now?.entries !== was?.entries || now?.head !== was?.head || now?.length !== was?.length || this.#fetching.size) {
      this.#look(was);
      this.#lay();
    } else this.changed();
    this.#tell();
  }

  /** Tells the list how this thread stands. */
  #tell(): void {
    const { agent } = this.#view?.docs ?? {};
    if (!agent || this.standing !== "live") return threads.follow(undefined);
    threads.follow({ id: this.id, turn: agent.turn ?? 0, parked: !!agent.parked || !!agent.waiting?.length, updated: this.#view?.entries.at(-1)?.time ?? "" });
  }

  /** Looks for what lies between the messages that are held. */
  #look(was: View | null): void {
    const now = this.#view;
    if (!now) return;
    if (was && was.thread.epoch !== now.thread.epoch) this.cuts.clear();
    const { ranges } = this.watch;
    this.cuts.follow(now.head?.seq ?? 0, ranges[0]?.before ?? now.before);
    const root = threads.find(this.id)?.root ?? this.id;
    if (now.thread.branch > 0 || root !== this.id) this.undone.look(ranges, now.thread);
  }

  #lay(): void {
    const now = this.#view;
    this.rows = now ? rows(this.watch.ranges, now, { cuts: this.cuts.all, undone: this.undone.entries, rest: this.undone.rest }) : [];
    this.changed();
  }

  /**
   * What a drop takes out of the window stays while somebody reads there; who follows the
   * newest keeps no more than a little.
   */
  #keepPlace(was: View, now: View): void {
    if (was.entries === now.entries || was.thread.epoch !== now.thread.epoch) return;
    const first = now.entries[0]?.seq ?? now.before + 1;
    const left = was.entries.filter((e) => e.seq < first);
    if (this.reading) {
      if (left.length && was.thread.branch === now.thread.branch) this.watch.keep(left);
    } else if (left.length && this.watch.ranges.reduce((n, r) => n + r.entries.length, 0) > now.entries.length + keptBehind) {
      this.watch.forget();
    }
  }
}

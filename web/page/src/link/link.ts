import type { Watch as ClientWatch } from "../../../client/index.js";
import { onReach, theClient } from "../api/api.ts";
import type { Batch, Entry, Page, View } from "../api/types.ts";
import { Observable } from "../state/observable.ts";

// The watches of the page. They share the client's one WebSocket; what the link is
// said to be is what the open watches say, and without one what the last request met.

/** How a watch stands; "gone" is for good. */
export type Standing = "live" | "catching up" | "offline" | "gone";

/** Messages that follow each other; `before` is the seq of the one before the first. */
export interface Range {
  before: number;
  entries: Entry[];
}

/** One watched thread. Whoever listens is told after each batch and each change of its standing. */
export class Watch extends Observable {
  #client: ClientWatch;
  /** The batch that came last, for who shows the wire. */
  batch: Batch | undefined;

  constructor(
    readonly thread: string,
    readonly tail: number | undefined,
    private readonly left: (w: Watch) => void,
  ) {
    super();
    this.#client = theClient().watch(thread, {
      ...(tail && { tail }),
      onChange: (_: unknown, batch: unknown) => {
        this.batch = batch as Batch | undefined;
        this.changed();
      },
      onState: () => this.changed(),
    } as never);
  }

  get view(): View | null {
    return this.#client.view as View | null;
  }

  get ranges(): Range[] {
    return this.#client.ranges as Range[];
  }

  get standing(): Standing {
    return this.#client.state as Standing;
  }

  get reason(): string {
    return this.#client.reason;
  }

  /** The seq of the active message before all that is held, 0 where there is none. */
  get earlier(): number {
    return this.#client.replica.earlier;
  }

  /** Adds a page; it throws a Fault "stale" where the thread has moved to another branch. */
  fetched(page: Page): void {
    this.#client.replica.fetched(page as never);
    this.batch = undefined;
    this.changed();
  }

  /** Goes on holding messages that have left the window; nobody is told, since nothing moves on the screen. */
  keep(entries: Entry[]): void {
    const { epoch, branch } = this.view!.thread;
    this.#client.replica.fetched({ items: entries, epoch, branch } as never);
  }

  /** Lets go of what lies before the window. */
  forget(): void {
    (this.#client.replica as unknown as { held: Entry[] }).held = [];
  }

  get held(): boolean {
    return this.#client.held;
  }

  /** Asks the server to send nothing until it is let go on. */
  hold(on: boolean): void {
    this.#client.hold(on);
    this.changed();
  }

  close(): void {
    this.#client.close();
    this.left(this);
  }
}

export class Link extends Observable {
  #watches = new Set<Watch>();
  #reached: boolean | undefined;

  constructor() {
    super();
    onReach((ok) => {
      if (ok === this.#reached) return;
      this.#reached = ok;
      this.changed();
    });
  }

  /** How the link to the server stands. */
  get standing(): Exclude<Standing, "gone"> {
    const all = [...this.#watches].map((w) => w.standing).filter((s) => s !== "gone");
    if (all.includes("offline")) return "offline";
    if (all.includes("catching up")) return "catching up";
    if (all.length) return "live";
    return this.#reached === undefined ? "catching up" : this.#reached ? "live" : "offline";
  }

  watch(thread: string, tail?: number): Watch {
    const w = new Watch(thread, tail, (gone) => {
      this.#watches.delete(gone);
      this.changed();
    });
    w.listen(() => this.#heard());
    this.#watches.add(w);
    this.#heard();
    return w;
  }

  #was: string | undefined;

  #heard(): void {
    if (this.standing === this.#was) return;
    this.#was = this.standing;
    this.changed();
  }
}

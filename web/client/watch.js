// One watched thread: a replica, and how its link stands.

import { Fault, Replica } from "./replica.js";

/** @typedef {import("./index.d.ts").State} State */

export class Watch {
  /**
   * @param {import("./client.js").Client} client
   * @param {string} thread
   * @param {import("./index.d.ts").WatchOptions} options
   */
  constructor(client, thread, options) {
    this.client = client;
    this.thread = thread;
    this.options = options;
    this.replica = new Replica();
    /** @type {State} */
    this.state = "offline";
    /** Why the state is what it is, where there is a reason. */
    this.reason = "";
    this.held = false;
    /** @private @type {Set<() => void>} */
    this.waiting = new Set();
    this.link = client.link();
    this.link.start(this);
  }

  /** The view as of the last batch, null before the first. */
  get view() {
    return this.replica.view;
  }

  /** All that is held, the oldest first, in runs without a hole. */
  get ranges() {
    return this.replica.ranges;
  }

  get holes() {
    return this.replica.holes;
  }

  /**
   * Asks the server to send nothing until it is let go on; then one snapshot brings
   * what was missed.
   * @param {boolean} on
   */
  hold(on) {
    if (on === this.held || this.state === "gone") return;
    this.held = on;
    this.link.hold(this, on);
  }

  /**
   * Fetches the page before the window and what joins it, or before a seq, such as
   * that of a hole. It says whether there is more before what is then held there.
   * @param {{ before?: number, limit?: number, signal?: AbortSignal }} [what]
   */
  async fetchEarlier({ before, limit, signal } = {}) {
    for (let attempt = 1; ; attempt++) {
      const last = this.ranges.at(-1);
      const at = before ?? (last ? (last.entries[0]?.seq ?? last.before + 1) : 0);
      if (at <= 1 || (before === undefined && !last?.before)) return false;
      const page = await this.client.page(this.thread, { before: at, limit, signal });
      try {
        this.replica.fetched(page);
      } catch (err) {
        if (!(err instanceof Fault) || attempt === 5 || this.state === "gone") throw err;
        await this.moved(signal);
      signal?.throwIfAborted();
        continue;
      }
      this.tell();
      const oldest = Math.min(...page.items.map((/** @type {import("./index.d.ts").Entry} */ e) => e.seq));
      return (this.ranges.find((r) => r.entries.some((e) => e.seq === oldest))?.before ?? 0) !== 0;
    }
  }

  /** Ends the watch. It stays as it is, and nothing more is told of it. */
  close() {
    this.link.stop(this);
    this.end("gone", "closed");
  }

  /** What to watch with. @returns {{ tail?: number, from?: number, epoch?: string }} */
  asks() {
    const { tail, from } = this.options;
    return { tail, from, ...this.replica.resume() };
  }

  /**
   * Takes a batch off the link; false: it is a fault, watch again.
   * @param {import("./index.d.ts").Batch} batch
   */
  take(batch) {
    try {
      this.replica.apply(batch);
    } catch (err) {
      if (!(err instanceof Fault)) throw err;
      this.become("catching up", err.message);
      return false;
    }
    this.become("live");
    this.tell(batch);
    return true;
  }

  /** @param {State} state @param {string} [reason] */
  become(state, reason = "") {
    if (this.state === "gone" || (state === this.state && reason === this.reason)) return;
    this.state = state;
    this.reason = reason;
    report(() => this.options.onState?.(state, reason, this));
  }

  /** @param {State} state @param {string} reason */
  end(state, reason) {
    this.become(state, reason);
    for (const go of this.waiting) go();
  }

  /** @private @param {import("./index.d.ts").Batch} [batch] */
  tell(batch) {
    if (this.state !== "gone") report(() => this.options.onChange?.(this, batch));
    for (const go of this.waiting) go();
  }

  /** Waits until the view has moved on, or a moment. @private @param {AbortSignal} [signal] */
  moved(signal) {
    return new Promise((/** @type {(v?: unknown) => void} */ resolve) => {
      const go = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", go);
        this.waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, 1000);
      this.waiting.add(go);
      signal?.addEventListener("abort", go);
    });
  }
}

/** What a listener throws is its own: it is seen, and breaks no link. @param {() => void} tell */
function report(tell) {
  try {
    tell();
  } catch (err) {
    queueMicrotask(() => {
      throw err;
    });
  }
}

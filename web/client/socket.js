// One WebSocket that carries all of a client's watches.

import { final } from "./error.js";
import { Retry } from "./retry.js";

/** @typedef {import("./watch.js").Watch} Watch */

/** Why a watch ends for good; after any other reason it is begun again. */
const gone = new Set(["deleted", "invalid", "not-found", "refused", "revoked", "token"]);

/** Says whether a watch that ended for that reason is not to be begun again. @param {string} reason */
export const isGone = (reason) => gone.has(reason);

export class Socket {
  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.client = client;
    this.retry = new Retry(client.pace);
    /** @type {Map<Watch, Retry>} The watches, and when each is to be begun again. */
    this.watches = new Map();
    /** @type {Map<number, Watch>} Those that the server knows, by the number they were begun with. */
    this.begun = new Map();
    /** @type {Set<ReturnType<typeof setTimeout>>} */
    this.timers = new Set();
    /** @type {WebSocket | null} */
    this.ws = null;
    this.connecting = false;
    this.proven = false; // a WebSocket was open once
    this.numbers = 0;
    this.heard = 0;
    this.slow = 0; // snapshots in a row that patience was too short for
  }

  /** @param {Watch} watch */
  start(watch) {
    this.watches.set(watch, new Retry(this.client.pace));
    if (this.ws?.readyState === 1) this.begin(watch);
    else this.connect();
  }

  /** @param {Watch} watch */
  stop(watch) {
    this.leave(watch);
    this.watches.delete(watch);
    if (this.watches.size === 0) this.close();
  }

  /** @param {Watch} watch @param {boolean} on */
  hold(watch, on) {
    const w = this.number(watch);
    if (w) this.send({ hold: w, on });
  }

  all() {
    return [...this.watches.keys()];
  }

  /** Ends the socket; watches that are begun later open another. */
  close() {
    for (const t of this.timers) clearTimeout(t);
    this.timers.clear();
    this.drop();
  }

  /** @private Lets go of the WebSocket, whatever state it is in. */
  drop() {
    const ws = this.ws;
    this.ws = null;
    this.begun.clear();
    ws?.close();
  }

  /** @private */
  async connect() {
    if (this.ws || this.connecting) return;
    this.connecting = true;
    try {
      const url = await this.client.socketURL();
      if (this.watches.size) this.open(url);
    } catch (err) {
      if (final(err)) this.end(/** @type {import("./error.js").SkeinError} */ (err).code);
      else this.lost(String(err));
    } finally {
      this.connecting = false;
    }
  }

  /** @private @param {string} url */
  open(url) {
    const ws = new /** @type {typeof WebSocket} */ (this.client.WebSocket)(url);
    this.ws = ws;
    const mine = (/** @type {(e: any) => void} */ then) => (/** @type {any} */ e) => ws === this.ws && then(e);
    ws.onopen = mine(() => {
      this.proven = true;
      this.heard = Date.now();
      this.retry.up();
      for (const watch of this.watches.keys()) this.begin(watch);
      this.mind(ws);
    });
    ws.onmessage = mine(({ data }) => {
      this.heard = Date.now();
      this.receive(JSON.parse(data));
    });
    ws.onclose = mine(({ reason }) => this.lost(reason || "the connection was lost"));
    ws.onerror = mine(() => this.lost("the connection was lost"));
    this.after(this.client.pace.patience, () => ws === this.ws && ws.readyState === 0 && this.lost("nobody answered"));
  }

  /** @private @param {Watch} watch */
  begin(watch) {
    this.leave(watch);
    const w = ++this.numbers;
    this.begun.set(w, watch);
    watch.become("catching up");
    this.send({ watch: w, thread: watch.thread, ...watch.asks() });
    if (watch.held) this.send({ hold: w, on: true });
  }

  /** @private Ends what the server sends for a watch. @param {Watch} watch */
  leave(watch) {
    const w = this.number(watch);
    if (!w) return;
    this.begun.delete(w);
    this.send({ unwatch: w });
  }

  /** @private @param {Watch} watch */
  again(watch) {
    this.leave(watch);
    const wait = /** @type {Retry} */ (this.watches.get(watch)).down();
    this.after(wait, () => this.ws?.readyState === 1 && this.watches.has(watch) && !this.number(watch) && this.begin(watch));
  }

  /** @private @param {any} frame */
  receive(frame) {
    const watch = this.begun.get(frame.w ?? frame.end);
    if (!watch) return; // of a watch that was left, or the answer to a ping
    if (frame.end !== undefined) {
      this.begun.delete(frame.end);
      if (isGone(frame.reason)) {
        this.watches.delete(watch);
        watch.end("gone", frame.reason);
        return;
      }
      watch.become("catching up", frame.reason);
      this.again(watch);
      return;
    }
    this.slow = 0;
    if (!watch.take(frame)) this.again(watch);
    else if (frame.n === 1) this.watches.get(watch)?.up();
  }

  /**
   * Looks after the link: a socket that is open and dead answers no ping. While a
   * snapshot is on its way nothing else can be heard, so that is given longer, and
   * longer each time it was too short.
   * @private @param {WebSocket} ws
   */
  mind(ws) {
    const { ping, patience, snapshot } = this.client.pace;
    this.after(ping, () => {
      if (ws !== this.ws) return;
      const asked = Date.now();
      this.send({ ping: ++this.numbers });
      const due = [...this.begun.values()].some((w) => w.state === "catching up" && !w.held);
      this.after(due ? Math.max(patience, snapshot * 2 ** this.slow) : patience, () => {
        if (ws !== this.ws) return;
        if (this.heard >= asked) return this.mind(ws);
        if (due) this.slow++;
        this.lost("the connection is dead");
      });
    });
  }

  /** @private @param {string} reason */
  lost(reason) {
    this.drop();
    if (!this.watches.size) return;
    for (const watch of this.watches.keys()) watch.become("offline", reason);
    this.after(this.retry.down(), async () => {
      if (!this.proven && this.retry.failures > 1 && (await this.client.blocked())) this.client.withoutSockets();
      else if (this.watches.size) this.connect();
    });
  }

  /** @private @param {string} reason */
  end(reason) {
    const all = [...this.watches.keys()];
    this.watches.clear();
    this.close();
    for (const watch of all) watch.end("gone", reason);
  }

  /** @private @param {Watch} watch */
  number(watch) {
    for (const [w, of] of this.begun) if (of === watch) return w;
    return 0;
  }

  /** @private @param {object} frame */
  send(frame) {
    if (this.ws?.readyState === 1) this.ws.send(JSON.stringify(frame));
  }

  /** @private @param {number} ms @param {() => unknown} then */
  after(ms, then) {
    const t = setTimeout(() => {
      this.timers.delete(t);
      then();
    }, ms);
    this.timers.add(t);
  }
}

// A thread and its watches as the server has them, small enough to be seen to be
// right: every view is made from scratch, and operations by the rules of windows.

/** A generator of numbers that a seed fixes. */
export function randomness(seed) {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0) / 2 ** 32;
  };
  return { next, below: (n) => Math.floor(next() * n), chance: (p) => next() < p };
}

export class Model {
  constructor({ id = "t", tail = 4 } = {}) {
    this.id = id;
    this.tail = tail;
    this.epoch = "e1";
    this.branch = 1;
    this.tip = 0;
    this.active = []; // entries
    this.live = null;
    this.watches = new Set();
  }

  get last() {
    return this.active.at(-1)?.seq ?? 0;
  }

  entry(seq, text) {
    return { seq, id: `${this.epoch}-${seq}`, prev: this.last, index: this.active.length, message: { author: "ana", role: "user", parts: [{ type: "text", text: text ?? `message ${seq}` }] } };
  }

  /** Somebody says something; gap entries of other kinds come before it. */
  say({ gap = 0, text } = {}) {
    this.tip += gap + 1;
    const e = this.entry(this.tip, text);
    const ends = this.live !== null && e;
    if (ends) this.live = null;
    this.active.push(e);
    for (const w of this.watches) w.appended(e, ends);
    return e;
  }

  /** An answer that is being made goes on. */
  piece(text) {
    const offset = Buffer.byteLength(this.live?.text ?? "");
    const fresh = this.live === null;
    this.live = { id: `live-${this.tip}`, author: "north", turn: this.tip, text: (this.live?.text ?? "") + text, thinking: "", tools: [] };
    for (const w of this.watches) w.put(fresh ? [["s", ["docs", "live"], this.live]] : [["a", ["docs", "live", "text"], offset, text]]);
  }

  rewind(keep) {
    this.tip++;
    this.branch = this.tip;
    this.active.length = keep;
    this.live = null;
    for (const w of this.watches) w.cut();
  }

  reset() {
    this.rewind(0);
  }

  /** The database was restored: the log is another one. */
  restore(keep) {
    this.epoch += "'";
    this.active.length = keep;
    this.tip = this.last;
    this.live = null;
    for (const w of this.watches) w.snapshot({ fresh: true, entries: this.active.slice(-this.tail) });
  }

  watch({ tail = this.tail, from, epoch } = {}, put = () => {}) {
    const w = new Watch(this, tail, put);
    this.watches.add(w);
    w.open(from, epoch);
    return w;
  }

  /** A page, newest first. */
  page({ before = Infinity, limit = 50 } = {}) {
    const items = this.active.filter((e) => e.seq < before).slice(-limit).reverse();
    return { items, epoch: this.epoch, branch: this.branch };
  }
}

class Watch {
  constructor(model, tail, put) {
    Object.assign(this, { model, tail, send: put, n: 0, window: [], from: 0 });
  }

  open(from, epoch) {
    const { model } = this;
    if (from === undefined) return this.snapshot({ entries: model.active.slice(-this.tail) });
    if ((epoch ?? model.epoch) !== model.epoch || from > model.tip + 1) {
      return this.snapshot({ fresh: true, entries: model.active.slice(-this.tail) });
    }
    const missed = model.active.filter((e) => e.seq >= from);
    if (missed.length >= 2 * this.tail) return this.snapshot({ entries: missed.slice(-this.tail) });
    this.snapshot({ entries: missed, from });
  }

  view(fresh) {
    const { model } = this;
    const before = model.active[model.active.length - this.window.length - 1]?.seq ?? 0;
    return {
      thread: { id: model.id, title: "", epoch: model.epoch, branch: model.branch },
      entries: this.window.slice(),
      from: this.from,
      before,
      earlier: before !== 0,
      length: model.active.length,
      ...(fresh && { fresh }),
      docs: { live: model.live, agent: {}, inbox: [], provider: {}, usage: {} },
    };
  }

  snapshot({ fresh, entries, from }) {
    this.window = entries.slice();
    this.from = from ?? entries[0]?.seq ?? this.model.tip + 1;
    this.fresh = fresh;
    this.put([["r", this.view(fresh)]]);
  }

  /** Too much was not delivered. */
  overflow() {
    this.snapshot({ entries: this.model.active.slice(-this.tail) });
  }

  appended(e, ends) {
    const ops = [["p", ["entries"], this.window.length, 0, [e]]];
    this.window.push(e);
    if (this.window.length >= 2 * this.tail) {
      ops.push(["p", ["entries"], 0, this.window.length - this.tail, []]);
      this.window = this.window.slice(-this.tail);
      this.from = this.window[0].seq;
      const { before, earlier } = this.view();
      ops.push(["s", ["from"], this.from], ["s", ["before"], before], ["s", ["earlier"], earlier]);
    }
    ops.push(["s", ["length"], this.model.active.length]);
    if (ends) ops.push(["s", ["docs", "live"], null]);
    this.put(ops);
  }

  cut() {
    const { model } = this;
    const keep = this.window.filter((e) => e.seq <= model.last).length;
    if (keep === 0) return this.overflow();
    const ops = [["p", ["entries"], keep, this.window.length - keep, []]];
    this.window.length = keep;
    ops.push(["s", ["length"], model.active.length], ["s", ["thread", "branch"], model.branch], ["s", ["docs", "live"], null]);
    this.put(ops);
  }

  put(ops) {
    this.send(JSON.parse(JSON.stringify({ n: ++this.n, ops })));
  }

  close() {
    this.model.watches.delete(this);
  }
}

// What a client holds of a thread: the window that the server keeps up, and
// around it the ranges of older messages that were shown or fetched. Values are
// never changed in place, so an old view may be kept and compared by identity.

/**
 * @typedef {import("./index.d.ts").View} View
 * @typedef {import("./index.d.ts").Entry} Entry
 * @typedef {import("./index.d.ts").Range} Range
 */

/** A batch that cannot be applied, or a page that does not belong to the view. */
export class Fault extends Error {
  /**
   * @param {import("./index.d.ts").FaultCode} code
   * @param {string} reason
   */
  constructor(code, reason) {
    super(reason);
    this.name = "Fault";
    this.code = code;
  }
}

const utf8 = new TextEncoder();
const bytes = (/** @type {string} */ text) => utf8.encode(text).length;
const counts = (/** @type {unknown} */ x) => Number.isSafeInteger(x) && /** @type {number} */ (x) >= 0;

/**
 * A window and the ranges around it. It does no input or output. It goes by the
 * same rules as the replica in Go (package view).
 */
export class Replica {
  constructor() {
    /** @type {View | null} The view as of the last batch. */
    this.view = null;
    /** The number of that batch; 0: only a snapshot may come next. */
    this.n = 0;
    /** @type {Entry[]} Older than the window, ascending; a hole is where neighbours do not follow each other. */
    this.held = [];
    /** The text that was appended to last and its bytes, so that it is not measured again. */
    this.measured = { text: "", bytes: 0 };
  }

  /**
   * Changes the replica by a batch. A batch that does not fit throws a {@link Fault}
   * and changes nothing; then call {@link resume} and watch again.
   * @param {import("./index.d.ts").Batch} batch
   */
  apply(batch) {
    const { n, ops } = batch ?? {};
    if (!Number.isSafeInteger(n) || !Array.isArray(ops)) throw new Fault("operation", "a batch has a number and operations");
    if (n < 1 || (this.n > 0 && n !== this.n + 1)) throw new Fault("gap", `batch ${n} does not follow batch ${this.n}`);
    if (this.n === 0 && ops[0]?.[0] !== "r") throw new Fault("gap", `batch ${n} is no snapshot, and there is nothing yet that it could change`);
    let { view, held } = this;
    for (const op of ops) {
      switch (op?.[0]) {
        case "r": {
          const next = snapshot(op[1]);
          held = view && goesOn(view, next) ? tidy(merge(held, view.entries), next.before) : [];
          view = next;
          break;
        }
        case "p": {
          const [next, dropped] = splice(view, op);
          if (dropped.length && held.at(-1)?.seq === dropped[0].prev) held = held.concat(dropped);
          view = next;
          break;
        }
        case "s":
          if (op.length < 3) throw new Fault("operation", "a set has a value");
          view = put(view, op[1], () => op[2]);
          break;
        case "d":
          view = put(view, op[1]);
          break;
        case "a":
          view = put(view, op[1], (was) => this.lengthened(was, op[2], op[3]));
          break;
        default:
          throw new Fault("operation", `${JSON.stringify(op?.[0])} is no operation`);
      }
    }
    const next = /** @type {View} */ (view);
    check(next);
    [this.view, this.held, this.n] = [next, held, n];
  }

  /**
   * Gives what to watch again with, after a link was lost or a batch was a fault.
   * The next batch must then begin with a snapshot.
   * @returns {{ from: number, epoch: string } | undefined} undefined before the first snapshot
   */
  resume() {
    this.n = 0;
    const v = this.view;
    return v ? { from: v.entries.length ? v.entries[v.entries.length - 1].seq + 1 : v.from, epoch: v.thread.epoch } : undefined;
  }

  /**
   * Adds a page, whatever its order. It throws a {@link Fault} "stale" where the
   * page is of another epoch or branch than the view: fetch it again once the view
   * has moved on. Messages that are undone, or lie before a reset, are passed over.
   * @param {import("./index.d.ts").Page} page
   */
  fetched(page) {
    const v = this.view;
    if (!v || page.epoch !== v.thread.epoch || page.branch !== v.thread.branch) {
      throw new Fault("stale", "the page is of another branch of the thread than the view");
    }
    const add = page.items.filter((e) => !e.undone && !e.past && e.seq <= v.before).sort((a, b) => a.seq - b.seq);
    this.held = tidy(merge(this.held, add), v.before);
  }

  /**
   * All that is held, the oldest first, in runs of messages that follow each
   * other. The window is, or ends, the last one. Between two there is a hole.
   * @returns {Range[]}
   */
  get ranges() {
    const v = this.view;
    if (!v) return [];
    /** @type {Range[]} */
    const out = [];
    for (const e of this.held.concat(v.entries)) {
      if (out.at(-1)?.entries.at(-1)?.seq !== e.prev) out.push({ before: e.prev, entries: [] });
      out[out.length - 1].entries.push(e);
    }
    if (!v.entries.length && v.before !== (this.held.at(-1)?.seq ?? 0)) out.push({ before: v.before, entries: [] });
    return out;
  }

  /**
   * The holes between what is held, the oldest first: messages with after < seq <
   * before are missing. What lies before all of it is none: see {@link earlier}.
   */
  get holes() {
    return this.ranges.slice(1).map((next, i) => ({
      after: /** @type {Entry} */ (this.ranges[i].entries.at(-1)).seq,
      before: next.entries[0]?.seq ?? next.before + 1,
    }));
  }

  /** The seq of the active message before all that is held, 0 where there is none. */
  get earlier() {
    return this.held[0]?.prev ?? this.view?.before ?? 0;
  }

  /** @private @param {unknown} was @param {unknown} offset @param {unknown} text */
  lengthened(was, offset, text) {
    if (typeof was !== "string") throw new Fault("path", "there is no text to append to");
    if (typeof text !== "string") throw new Fault("operation", "what is appended is no text");
    const had = was === this.measured.text ? this.measured.bytes : bytes(was);
    if (offset !== had) throw new Fault("offset", `the text has ${had} bytes, not ${offset}`);
    this.measured = { text: was + text, bytes: had + bytes(text) };
    return this.measured.text;
  }
}

/** @param {any} value @returns {View} */
function snapshot(value) {
  if (!Array.isArray(value?.entries) || typeof value.thread?.epoch !== "string") throw new Fault("value", "a snapshot holds no view");
  return value;
}

/** Says whether what was held goes on in the new view. @param {View} was @param {View} now */
const goesOn = (was, now) => !now.fresh && was.thread.id === now.thread.id && was.thread.epoch === now.thread.epoch;

/**
 * @param {View | null} view
 * @param {any[]} op
 * @returns {[View, Entry[]]} the view, and what a drop took off its start
 */
function splice(view, [, path, index, remove, items]) {
  const v = /** @type {View} */ (view);
  if (path?.length !== 1 || path[0] !== "entries") throw new Fault("path", `there is no list at ${path}`);
  if (!counts(index) || !counts(remove) || index + remove > v.entries.length) {
    throw new Fault("index", `the window has ${v.entries.length} entries: none can be put at ${index} in place of ${remove}`);
  }
  if (!Array.isArray(items)) throw new Fault("operation", "a splice has items");
  const entries = v.entries.slice();
  const gone = entries.splice(index, remove, ...items);
  return [{ ...v, entries }, index === 0 && remove < v.entries.length ? gone : []];
}

/**
 * Gives a copy of node with another value at the path, or none without a value;
 * all that is beside the path is shared. A path into something that is not there
 * is passed over, as an unknown field is.
 * @param {any} node
 * @param {any} path
 * @param {(was: unknown) => unknown} [value]
 * @returns {any}
 */
function put(node, path, value, depth = 0) {
  if (!Array.isArray(path) || path.length === 0) throw new Fault("operation", "an operation has a path");
  const key = path[depth];
  const last = depth === path.length - 1;
  const list = Array.isArray(node);
  if (node === null || typeof node !== "object" || (list && !Object.hasOwn(node, key))) {
    throw new Fault("path", `there is nothing at ${path.slice(0, depth + 1).join("/")}`);
  }
  if (key === "__proto__" || (!last && !Object.hasOwn(node, key))) return node;
  const copy = list ? node.slice() : { ...node };
  if (!last) copy[key] = put(node[key], path, value, depth + 1);
  else if (value) copy[key] = value(node[key]);
  else delete copy[key];
  return copy;
}

/**
 * Holds the view against itself: seqs ascend, neighbours follow each other, and
 * the window ends where the thread does.
 * @param {View} view
 */
function check({ entries, from, before, earlier, length }) {
  let prev = before;
  if (!Array.isArray(entries) || !counts(before) || earlier !== (before !== 0)) {
    throw new Fault("broken", `earlier is ${earlier}, but before is ${before}`);
  }
  for (const [i, e] of entries.entries()) {
    if (e.prev !== prev || !(e.seq > prev) || e.seq < from || e.index !== length - (entries.length - i)) {
      throw new Fault("broken", `message ${e.seq} (number ${e.index}) follows ${e.prev}; but ${prev} comes before it, in a window from ${from} of ${length} messages`);
    }
    prev = e.seq;
  }
}

/**
 * Joins two ascending lists; where both have a message, b's counts.
 * @param {Entry[]} a
 * @param {Entry[]} b
 */
function merge(a, b) {
  const held = new Map(a.concat(b).map((e) => [e.seq, e]));
  return [...held.values()].sort((x, y) => x.seq - y.seq);
}

/**
 * Drops what was undone: each message, and the window's start, says which active
 * one came before it, so that none can lie between the two.
 * @param {Entry[]} held
 * @param {number} before
 */
function tidy(held, before) {
  return held.reduceRight((/** @type {Entry[]} */ kept, e) => {
    if (e.seq <= before) {
      kept.push(e);
      before = e.prev;
    }
    return kept;
  }, []).reverse();
}

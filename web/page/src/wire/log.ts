import type { Batch, Entry, Op, View } from "../api/types.ts";

// What came over the wire, as pure functions and a bounded log.

/** One operation as it came. */
export interface Row {
  /** Counts rows, so that each has a name. */
  id: number;
  n: number;
  time: number;
  kind: Op[0];
  /** What it does, in a word or two. */
  what: string;
  where: string;
  text: string;
  bytes: number;
}

const encoder = new TextEncoder();
export const utf8 = (text: string): number => encoder.encode(text).length;

/** What each operation of a batch took: the long ones share what the short ones leave of the frame. */
export function opBytes(batch: Batch, frame: number): number[] {
  const known = batch.ops.map((op) => (op[0] === "r" ? undefined : utf8(JSON.stringify(op))));
  const rest = frame - known.reduce<number>((a, b) => a + (b ?? 0), 0);
  const unknown = known.filter((k) => k === undefined).length;
  return known.map((k) => k ?? Math.max(0, Math.round(rest / unknown)));
}

const short = (text: string): string => {
  const one = text.replace(/\s+/g, " ");
  return one.length > 120 ? `${one.slice(0, 120)}…` : one;
};

const said = (e: Entry | undefined): string => {
  if (!e) return "";
  const text = (e.message?.parts ?? []).map((p) => p.text ?? (p.name ? `→ ${p.name}` : "")).join(" ");
  return e.message ? `${e.message.author}: ${text}` : "";
};

/** An operation in a few words. */
export function described(op: Op): { what: string; where: string; text: string } {
  switch (op[0]) {
    case "r":
      return { what: "replace all", where: "", text: `${op[1].entries.length} of ${op[1].length} messages, from seq ${op[1].from}` };
    case "p": {
      const [, path, at, gone, items] = op;
      const what = items.length && gone ? "splice" : gone ? (at === 0 ? "drop" : "take off") : "append";
      return { what, where: `${path.join(".")} at ${at}`, text: short(items.length ? items.map(said).join(" · ") : `${gone} fewer`) };
    }
    case "s":
      return { what: "set", where: op[1].join("."), text: short(JSON.stringify(op[2]) ?? "") };
    case "d":
      return { what: "delete", where: op[1].join("."), text: "" };
    case "a":
      return { what: "go on", where: `${op[1].join(".")} at ${op[2]}`, text: short(op[3]) };
    default:
      return { what: String(op[0]), where: "", text: "" };
  }
}

/** The operations that came last, and what all of them came to. */
export class WireLog {
  /** The newest first. */
  rows: readonly Row[] = [];
  operations = 0;
  batches = 0;
  bytes = 0;
  /** The snapshot that came last, and how many operations came since. */
  snapshot: { bytes: number; messages: number; time: number; since: number } | undefined;
  #ids = 0;

  constructor(readonly most = 300) {}

  add(batch: Batch, frame: number, time: number): void {
    const bytes = opBytes(batch, frame);
    const rows = batch.ops.map((op, i): Row => {
      this.operations++;
      if (op[0] === "r") this.snapshot = { bytes: bytes[i]!, messages: op[1].entries.length, time, since: 0 };
      else if (this.snapshot) this.snapshot.since++;
      return { id: ++this.#ids, n: batch.n, time, kind: op[0], bytes: bytes[i]!, ...described(op) };
    });
    this.batches++;
    this.bytes += frame;
    this.rows = [...rows.reverse(), ...this.rows].slice(0, this.most);
  }

  clear(): void {
    this.rows = [];
    this.operations = this.batches = this.bytes = 0;
    this.snapshot = undefined;
  }
}

const messages = (n: number): string => (n === 1 ? "one message" : `${n} messages`);

/** What a batch did to a window of that tail, in one sentence. */
export function sentence(was: View | null, now: View, batch: Batch, tail: number): string {
  const ops = batch.ops;
  const first = ops[0];
  if (first?.[0] === "r") return snapshotSentence(was, now);
  const splices = ops.filter((op) => op[0] === "p");
  const came = splices.flatMap((op) => op[4]).length;
  const dropped = splices.filter((op) => op[2] === 0 && op[4].length === 0).reduce((n, op) => n + op[3], 0);
  const undone = splices.filter((op) => op[2] > 0).reduce((n, op) => n + op[3], 0);
  if (dropped) return `The window was full at ${2 * tail}, so its oldest ${dropped} left in one splice.`;
  if (came) return `${capital(messages(came))} came at the end, and the window holds ${now.entries.length} of at most ${2 * tail - 1}.`;
  if (undone) return `${capital(messages(undone))} left the end in one splice, since ${undone === 1 ? "it was" : "they were"} undone.`;
  if (ops.some((op) => op[0] === "a")) return "The answer goes on, and only what is new of it was sent.";
  const docs = ops.filter((op) => op[0] === "s" || op[0] === "d").map((op) => (op[1][0] === "docs" ? (op[1][1] ?? "") : (op[1][0] ?? "")));
  if (docs.includes("live")) return now.docs.live ? "An answer is being made, and is shown before it is kept." : "The answer is made and kept.";
  if (docs.length) return `What stands beside the messages changed: ${[...new Set(docs)].join(", ")}.`;
  return "Nothing changed.";
}

function snapshotSentence(was: View | null, now: View): string {
  if (!was) return `A snapshot: the last ${messages(now.entries.length)} of ${now.length}.`;
  if (now.fresh || was.thread.epoch !== now.thread.epoch) return "A snapshot of another log came, and nothing that was held goes on in it.";
  if (now.length < was.length) return `Messages were undone from before the window, so a new snapshot came, of ${messages(now.entries.length)}.`;
  const missed = now.length - was.length;
  const last = was.entries.at(-1)?.seq ?? was.before;
  const joins = now.before === last;
  if (missed === 0 && joins) return "Back: nothing was missed, so the snapshot holds no message.";
  if (joins) return `Back: the snapshot holds just what was missed, ${messages(now.entries.length)}, and joins what was held.`;
  if (now.before < last) return `One snapshot of the last ${messages(now.entries.length)} brings ${missed === 1 ? "the one message that was" : `the ${messages(missed)} that were`} missed, and leaves no hole.`;
  return `Too much was missed for the snapshot, so before its ${messages(now.entries.length)} there is a hole that can be fetched.`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export type Place = "window" | "held" | "none";

export interface Block {
  index: number;
  /** It is in the store; what is not there was undone, and the window does not know it yet. */
  stored: boolean;
  place: Place;
}

export interface Lanes {
  blocks: Block[];
  /** So many messages lie before the first block. */
  before: number;
  /** The window among the blocks: the first, and one past the last. */
  window: [number, number];
  /** Messages that are missing between what is held. */
  holes: number;
}

/** The newest messages side by side: in the store, and in the window or held beside it. */
export function lanes(stored: number, view: View | null, ranges: readonly { entries: readonly Entry[] }[], room: number): Lanes {
  const length = Math.max(stored, view?.length ?? 0);
  const before = Math.max(0, length - Math.max(1, room));
  const inWindow = new Set((view?.entries ?? []).map((e) => e.index));
  const held = new Set(ranges.flatMap((r) => r.entries.map((e) => e.index)));
  const blocks: Block[] = [];
  for (let index = before; index < length; index++) {
    blocks.push({ index, stored: index < stored, place: inWindow.has(index) ? "window" : held.has(index) ? "held" : "none" });
  }
  const first = view?.entries[0]?.index ?? length;
  const holes = ranges.slice(1).reduce((n, r, i) => n + Math.max(0, (r.entries[0]?.index ?? view?.length ?? 0) - (ranges[i]!.entries.at(-1)?.index ?? 0) - 1), 0);
  return { blocks, before, window: [Math.max(0, first - before), Math.max(0, first + inWindow.size - before)], holes };
}

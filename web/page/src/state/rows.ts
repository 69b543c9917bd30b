import type { Entry, Part, View } from "../api/types.ts";
import type { Range } from "../link/link.ts";
import type { Cut } from "./cuts.ts";
import type { Stretch } from "./undone.ts";

// What of a thread is drawn, from top to bottom, as a pure function of what is held.

/** The result of a call, and the message that brought it. */
export interface Outcome {
  part: Part;
  entry: Entry;
}

export type Row =
  /** So many messages lie before all that is held. */
  | { kind: "earlier"; key: string; count: number; before: number }
  /** So many messages lie between what is held, and are not shown. */
  | { kind: "hole"; key: string; count: number; after: number; before: number }
  /** Here the messages start that the model gets whole. */
  | { kind: "divider"; key: string; boundary: number; lines: number; number: number; strategy: string; time: string }
  /** Here cuts were made, with no message between them. */
  | { kind: "cuts"; key: string; cuts: Cut[] }
  /** Here messages were undone; `past`: by a reset. There may be `more`, not looked for yet. */
  | { kind: "undone"; key: string; entries: Entry[]; past: boolean; more: boolean }
  /** A message; `outcomes` are the results of its calls, `also` the messages that are drawn with it. */
  | { kind: "entry"; key: string; entry: Entry; outcomes: Outcome[]; also: number[] };

/** What lies between the messages that are held. */
export interface Between {
  cuts: readonly Cut[];
  undone: readonly Entry[];
  /** Stretches that were not looked through for undone ones. */
  rest: readonly Stretch[];
}

const nothing: Between = { cuts: [], undone: [], rest: [] };

/** Lays out what is held. A message of results is drawn with the calls it answers. */
export function rows(ranges: readonly Range[], view: View, between: Between = nothing): Row[] {
  const out: Row[] = [];
  const aside = asides(between, ranges);
  const boundary = view.head?.boundary ?? 0;
  let last: Entry | undefined;
  let divided = false;
  const divide = () => {
    divided = true;
    const h = view.head!;
    out.push({ kind: "divider", key: "divider", boundary, lines: h.lines ?? 0, number: h.number, strategy: h.strategy, time: between.cuts.find((c) => c.seq === h.seq)?.time ?? "" });
  };
  const calls = new Map<string, { row: Row & { kind: "entry" } }>();
  for (const range of ranges) {
    const first = range.entries[0];
    const index = first?.index ?? view.length;
    const before = first?.seq ?? range.before + 1;
    if (!last && range.before !== 0) out.push({ kind: "earlier", key: "earlier", count: index, before });
    if (last && last.seq !== range.before) {
      out.push({ kind: "hole", key: `hole ${last.seq}`, count: index - last.index - 1, after: last.seq, before });
    }
    let after = range.before;
    for (const entry of range.entries) {
      out.push(...aside(after, entry.seq));
      after = entry.seq;
      if (!divided && boundary > 0 && entry.index === boundary) divide();
      last = entry;
      take(entry, calls, out);
    }
  }
  const end = ranges.at(-1);
  out.push(...aside(end?.entries.at(-1)?.seq ?? end?.before ?? 0, Infinity));
  if (!divided && boundary > 0 && boundary === view.length && last) divide();
  return out;
}

/** Gives what lies between two neighbours, in its order. It is asked from top to bottom. */
function asides({ cuts, undone, rest }: Between, ranges: readonly Range[]): (after: number, before: number) => Row[] {
  const active = new Set(ranges.flatMap((r) => r.entries.map((e) => e.seq)));
  const all = [...undone.filter((e) => !active.has(e.seq)), ...cuts].sort((a, b) => a.seq - b.seq);
  let i = 0;
  return (after, before) => {
    while (i < all.length && all[i]!.seq <= after) i++;
    const out: Row[] = [];
    for (; i < all.length && all[i]!.seq < before; i++) {
      const one = all[i]!;
      const row = out.at(-1);
      if ("number" in one) {
        if (row?.kind === "cuts") row.cuts.push(one);
        else out.push({ kind: "cuts", key: `cuts ${one.seq}`, cuts: [one] });
      } else if (row?.kind === "undone") {
        row.entries.push(one);
        row.past ||= one.past === true;
      } else out.push({ kind: "undone", key: `undone ${after} ${out.length}`, entries: [one], past: one.past === true, more: false });
    }
    const more = rest.some((r) => r.before > after && r.before <= before);
    if (!more) return out;
    const first = out.find((r) => r.kind === "undone");
    if (first) first.more = true;
    else out.unshift({ kind: "undone", key: `undone ${after} more`, entries: [], past: false, more });
    return out;
  };
}

/** Messages that follow each other as rows: those that were undone. */
export function drawn(entries: readonly Entry[]): (Row & { kind: "entry" })[] {
  const out: (Row & { kind: "entry" })[] = [];
  const calls = new Map<string, { row: Row & { kind: "entry" } }>();
  for (const entry of entries) take(entry, calls, out);
  return out;
}

function take(entry: Entry, calls: Map<string, { row: Row & { kind: "entry" } }>, out: Row[]): void {
  if (absorbed(entry, calls)) return;
  const row = { kind: "entry" as const, key: entry.id, entry, outcomes: [], also: [] };
  for (const p of entry.message?.parts ?? []) if (p.type === "toolCall" && p.id) calls.set(p.id, { row });
  out.push(row);
}

/** Hands the results in a message to the rows of their calls, where all of them are there. */
function absorbed(entry: Entry, calls: Map<string, { row: Row & { kind: "entry" } }>): boolean {
  const m = entry.message;
  if (m?.role !== "tool") return false;
  const results = m.parts.filter((p) => p.type === "toolResult");
  if (!results.length || results.length !== m.parts.length) return false;
  const targets = results.map((p) => calls.get(p.call ?? ""));
  if (targets.some((t) => !t)) return false;
  results.forEach((part, i) => targets[i]!.row.outcomes.push({ part, entry }));
  const row = targets[0]!.row;
  row.also.push(entry.index);
  return true;
}

/** How a call ended, by its result: one that was not allowed was never run, and did not fail. */
export function endOf(result: Part): "done" | "failed" | "denied" {
  if (!result.isError) return "done";
  return result.parts?.[0]?.text?.startsWith("Denied: ") ? "denied" : "failed";
}

/** The row that shows the message of that index. */
export const rowOf = (all: readonly Row[], index: number): (Row & { kind: "entry" }) | undefined =>
  all.find((r): r is Row & { kind: "entry" } => r.kind === "entry" && (r.entry.index === index || r.also.includes(index)));

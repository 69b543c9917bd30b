import type { Entry, Part, View } from "../api/types.ts";
import type { Range } from "../link/link.ts";

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
  | { kind: "divider"; key: string; boundary: number; lines: number; number: number; strategy: string }
  /** A message; `outcomes` are the results of its calls, `also` the messages that are drawn with it. */
  | { kind: "entry"; key: string; entry: Entry; outcomes: Outcome[]; also: number[] };

/** Lays out what is held. A message of results is drawn with the calls it answers. */
export function rows(ranges: readonly Range[], view: View): Row[] {
  const out: Row[] = [];
  const boundary = view.head?.boundary ?? 0;
  let last: Entry | undefined;
  let divided = false;
  const divide = () => {
    divided = true;
    const h = view.head!;
    out.push({ kind: "divider", key: "divider", boundary, lines: h.lines ?? 0, number: h.number, strategy: h.strategy });
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
    for (const entry of range.entries) {
      if (!divided && boundary > 0 && entry.index === boundary) divide();
      last = entry;
      if (absorbed(entry, calls)) continue;
      const row = { kind: "entry" as const, key: entry.id, entry, outcomes: [], also: [] };
      for (const p of entry.message?.parts ?? []) if (p.type === "toolCall" && p.id) calls.set(p.id, { row });
      out.push(row);
    }
  }
  if (!divided && boundary > 0 && boundary === view.length && last) divide();
  return out;
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

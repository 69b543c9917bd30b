import type { Request, TokenUsage } from "../api/types.ts";
import { causeWords } from "./shape.ts";

// The ledger of a thread, as pure functions: its columns for the chart, its sums, its
// cuts.

/** One request that was made, as the server lists it. */
export interface Made {
  seq: number;
  time: string;
  agent: string;
  model?: string;
  stop?: string;
  undone?: boolean;
  usage?: TokenUsage;
  request: Request;
}

export interface Requests {
  items: Made[];
  next?: number;
}

/** What one request took. Estimated: from what the prompts have in common, where the model tells of no cache. */
export interface Took {
  read: number;
  written: number;
  fresh: number;
  output: number;
  cost: number;
}

/** Says whether any request tells of a cache; where none does, what the prompts share is shown instead. */
export const tellsOfCache = (all: readonly Made[]): boolean => all.some((m) => (m.usage?.cacheRead ?? 0) + (m.usage?.cacheWrite ?? 0) > 0);

export function took(m: Made, told: boolean): Took {
  const u = m.usage;
  const [output, cost] = [u?.output ?? 0, u?.cost ?? 0];
  if (told && u) return { read: u.cacheRead, written: u.cacheWrite, fresh: u.input, output, cost };
  return { read: m.request.same, written: 0, fresh: Math.max(0, m.request.tokens - m.request.same), output, cost };
}

/** A few requests that follow each other, drawn as one column: means of what they took. */
export interface Column extends Took {
  /** Places of the first and the last, counted from the oldest that is known. */
  first: number;
  last: number;
}

/** The columns of the requests in [from, to), the oldest first; at most `most` of them. */
export function columns(all: readonly Made[], from: number, to: number, most: number): Column[] {
  const told = tellsOfCache(all);
  const wide = Math.max(1, Math.ceil((to - from) / Math.max(1, most)));
  const out: Column[] = [];
  for (let i = from - (from % wide); i < to; i += wide) {
    const [first, last] = [Math.max(i, from), Math.min(i + wide, to) - 1];
    const c: Column = { first, last, read: 0, written: 0, fresh: 0, output: 0, cost: 0 };
    const n = last - first + 1;
    for (let j = first; j <= last; j++) {
      const t = took(all[j]!, told);
      for (const key of ["read", "written", "fresh", "output", "cost"] as const) c[key] += t[key] / n;
    }
    out.push(c);
  }
  return out;
}

export interface Sums extends Took {
  requests: number;
  /** The part of the input that was read from a cache, 0 to 1. */
  hit: number;
  estimated: boolean;
}

export function sums(all: readonly Made[]): Sums {
  const told = tellsOfCache(all);
  const s: Sums = { requests: all.length, read: 0, written: 0, fresh: 0, output: 0, cost: 0, hit: 0, estimated: !told };
  for (const m of all) {
    const t = took(m, told);
    for (const key of ["read", "written", "fresh", "output", "cost"] as const) s[key] += t[key];
  }
  const input = s.read + s.written + s.fresh;
  s.hit = input ? s.read / input : 0;
  return s;
}

/** Cuts between two requests: the first request that was made after them, and what they did to the prompt. */
export interface CutsMade {
  /** The place of that request; one past the last: it is still to be made. */
  at: number;
  /** The numbers of the first and the last of them. */
  first: number;
  number: number;
  /** The prompts before and after them; 0: there is none. */
  before: number;
  after: number;
}

/**
 * The cuts before, between and after the requests that are known, where `newest` is the number
 * of the thread's newest. Undone answers count: they were sent.
 */
export function cuts(all: readonly Made[], newest = 0): CutsMade[] {
  const out: CutsMade[] = [];
  const whole = all[0]?.request.number === 1;
  let made = all.length && !whole ? (all[0]!.request.cut ?? 0) : 0;
  for (let at = 0; at <= all.length; at++) {
    const number = at < all.length ? (all[at]!.request.cut ?? 0) : newest;
    if (number <= made) continue;
    out.push({ at, first: made + 1, number, before: all[at - 1]?.request.tokens ?? 0, after: all[at]?.request.tokens ?? 0 });
    made = number;
  }
  return out;
}

/** How many cuts a thread has had: their numbers go on for ever, and those of undone answers count. */
export const cutsEver = (all: readonly Made[], newest = 0): number => all.reduce((n, m) => Math.max(n, m.request.cut ?? 0), newest);

/** Puts a page, the newest first, before what is known, the oldest first; or after it, if it is newer. */
export function joined(known: readonly Made[], page: readonly Made[]): Made[] {
  const bySeq = new Map(known.map((m) => [m.seq, m]));
  for (const m of page) bySeq.set(m.seq, m);
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Money for people. Small sums keep two figures that count. */
export function money(usd: number): string {
  if (usd === 0) return "$0";
  return `$${usd.toFixed(usd >= 0.1 ? 2 : Math.min(10, 1 - Math.floor(Math.log10(usd))))}`;
}

/** One request in a sentence. */
export function inSentence(m: Made, told: boolean, count: (n: number) => string): string {
  const t = took(m, told);
  const parts = [`${count(t.read)} ${told ? "read from the cache" : "the same as before"}`];
  if (told) parts.push(`${count(t.written)} written to it`);
  parts.push(`${count(t.fresh)} new`, `${count(t.output)} answered`);
  const { cause, cut } = m.request;
  const why = cause === "cut" ? `, the first after cut ${count(cut ?? 0)}` : cause ? ` (${causeWords(cause)})` : "";
  return `Request ${count(m.request.number)}${why}: ${parts.join(", ")}${t.cost ? `, ${money(t.cost)}` : ""}${m.undone ? ", undone since" : ""}.`;
}

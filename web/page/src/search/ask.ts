import { api, inWords } from "../api/api.ts";
import { formsOf, type Range } from "./marks.ts";

export interface Line {
  span: string;
  text: string;
  missing?: boolean;
}

export interface Hit {
  /** Its place among the thread's messages; -1: it was undone. */
  id: number;
  seq: number;
  text: string;
  marks: Range[];
  score: number;
  before?: Line[];
  after?: Line[];
}

export interface Results {
  words: string[];
  hits: Hit[];
  capped?: number;
}

/** What was found in one thread. */
export interface Found {
  thread: string;
  title?: string;
  hits: Hit[];
  /** The places of what holds the words, ascending; not of what was only found beside it. */
  places: number[];
  /** By these beginnings the words are known in other texts. */
  forms: string[];
  capped: number;
  failed: string;
}

export interface FoundAll {
  items: Found[];
  /** So many threads were looked through; there are more. */
  searched: number;
  more: boolean;
  failed: string;
}

export function foundIn(thread: string, r: Results, title?: string): Found {
  const places = [...new Set(r.hits.filter((h) => h.id >= 0 && h.marks?.length).map((h) => h.id))].sort((a, b) => a - b);
  const marks = r.hits.map((h) => ({ ...h, marks: h.marks ?? [] }));
  return { thread, ...(title && { title }), hits: marks, places, forms: formsOf(r.words ?? [], marks), capped: r.capped ?? 0, failed: "" };
}

const nothing = (thread: string, err: unknown): Found => ({ thread, hits: [], places: [], forms: [], capped: 0, failed: inWords(err) });

/** Searches a thread. A failure is told in the answer; one that was called off is thrown. */
export async function searchThread(thread: string, q: string, limit: number, o: { around?: number; inactive?: boolean; signal?: AbortSignal } = {}): Promise<Found> {
  try {
    const around = o.around ? { before: o.around, after: o.around } : {};
    return foundIn(thread, await api.get<Results>(thread, "/search", { q, limit, ...around, ...(o.inactive && { inactive: true }) }, o.signal));
  } catch (err) {
    o.signal?.throwIfAborted();
    return nothing(thread, err);
  }
}

/** Searches the threads that were used last. */
export async function searchAll(q: string, limit: number, signal?: AbortSignal): Promise<FoundAll> {
  try {
    const all = await api.getAll<{ items: { thread: string; title?: string; found: Results }[]; searched: number; more?: boolean }>("/v1/search", { q, limit }, signal);
    return { items: all.items.map((i) => foundIn(i.thread, i.found, i.title)), searched: all.searched, more: all.more ?? false, failed: "" };
  } catch (err) {
    signal?.throwIfAborted();
    return { items: [], searched: 0, more: false, failed: inWords(err) };
  }
}

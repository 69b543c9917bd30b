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
  /** So many of the best hits were held against what stands in quotes; 0: nothing does. */
  held: number;
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
  return { thread, ...(title && { title }), hits: marks, places, forms: formsOf(r.words ?? [], marks), capped: r.capped ?? 0, held: 0, failed: "" };
}

/** What stands in quotes in a query, as it is compared: it must be there letter for letter, but for capitals. */
export const quoted = (q: string): string[] => [...q.matchAll(/"([^"]+)"|“([^”]+)”|„([^“”]+)[“”]/g)].map((m) => plain(m[1] ?? m[2] ?? m[3] ?? "")).filter(Boolean);

const plain = (text: string): string => text.normalize("NFC").replace(/\s+/g, " ").trim().toLocaleLowerCase();

/** The most hits that a server gives. */
const mostHits = 100;

/** Messages are read so many at once. */
const atOnce = 6;

/** Keeps the hits whose messages hold all of the exact texts. */
async function exactly(thread: string, r: Results, texts: readonly string[], limit: number, signal?: AbortSignal): Promise<Results> {
  const holds = (text: string) => texts.every((t) => plain(text).includes(t));
  const keep = new Map<Hit, boolean>(r.hits.map((h) => [h, holds(h.text)]));
  const unsure = r.hits.filter((h) => !keep.get(h) && h.marks?.length);
  const next = async (): Promise<void> => {
    for (let h = unsure.shift(); h; h = unsure.shift()) {
      signal?.throwIfAborted();
      const e = await api.entry(thread, h.seq);
      keep.set(h, holds((e.message?.parts ?? []).map((p) => p.text ?? "").join("\n")));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
  return { ...r, hits: r.hits.filter((h) => keep.get(h)).slice(0, limit) };
}

const nothing = (thread: string, err: unknown): Found => ({ thread, hits: [], places: [], forms: [], capped: 0, held: 0, failed: inWords(err) });

/** Searches a thread. A failure is told in the answer; one that was called off is thrown. */
export async function searchThread(thread: string, q: string, limit: number, o: { around?: number; inactive?: boolean; signal?: AbortSignal } = {}): Promise<Found> {
  try {
    const around = o.around ? { before: o.around, after: o.around } : {};
    const texts = quoted(q);
    const r = await api.get<Results>(thread, "/search", { q, limit: texts.length ? mostHits : limit, ...around, ...(o.inactive && { inactive: true }) }, o.signal);
    if (!texts.length) return foundIn(thread, r);
    return { ...foundIn(thread, await exactly(thread, r, texts, limit, o.signal)), held: r.hits.length };
  } catch (err) {
    o.signal?.throwIfAborted();
    return nothing(thread, err);
  }
}

/** Searches the threads that were used last. */
export async function searchAll(q: string, limit: number, signal?: AbortSignal): Promise<FoundAll> {
  try {
    const all = await api.getAll<{ items: { thread: string; title?: string; found: Results }[]; searched: number; more?: boolean }>("/v1/search", { q, limit: quoted(q).length ? mostHits : limit }, signal);
    const texts = quoted(q);
    const held = await Promise.all(all.items.map(async (i) => ({ ...i, found: texts.length ? await exactly(i.thread, i.found, texts, limit, signal) : i.found })));
    return { items: held.filter((i) => i.found.hits.length).map((i) => foundIn(i.thread, i.found, i.title)), searched: all.searched, more: all.more ?? false, failed: "" };
  } catch (err) {
    signal?.throwIfAborted();
    return { items: [], searched: 0, more: false, failed: inWords(err) };
  }
}

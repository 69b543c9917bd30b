import { html, type TemplateResult } from "lit";

// Where words that were looked for stand in a text.

export interface Range {
  start: number;
  end: number;
}

export interface Piece {
  text: string;
  hit: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Cuts a text at ranges that are counted in UTF-8 bytes. What makes no sense is passed over. */
export function atBytes(text: string, ranges: readonly Range[]): Piece[] {
  const bytes = encoder.encode(text);
  const out: Piece[] = [];
  let at = 0;
  const put = (end: number, hit: boolean) => {
    if (end > at) out.push({ text: decoder.decode(bytes.subarray(at, end)), hit });
    at = Math.max(at, end);
  };
  for (const r of [...ranges].sort((a, b) => a.start - b.start)) {
    if (r.end <= r.start || r.start < at || r.end > bytes.length) continue;
    put(r.start, false);
    put(r.end, true);
  }
  put(bytes.length, false);
  return out;
}

const lead = 80;

/** Leaves out what stands before the first mark, but for who said it and a few words, where it is long. */
export function shortened(pieces: Piece[]): Piece[] {
  const [first, ...rest] = pieces;
  if (!first || first.hit || !rest.length || first.text.length <= lead) return pieces;
  const who = /^[^:\n]{1,60}: /.exec(first.text)?.[0] ?? "";
  const near = first.text.slice(-lead / 2).replace(/^\S*\s+/, "");
  return [{ text: `${who}… ${near}`, hit: false }, ...rest];
}

/** Letters alone, small, without their marks, as words are looked for. */
export const folded = (word: string): string => word.normalize("NFKD").replace(/\p{M}/gu, "").toLocaleLowerCase();

/**
 * The beginnings by which words are known in other texts than that of a hit: the terms
 * that were looked for, and what was marked in the hits.
 */
export function formsOf(terms: readonly string[], hits: readonly { text: string; marks: readonly Range[] }[]): string[] {
  const forms = new Set(terms.map(folded));
  for (const h of hits) for (const p of atBytes(h.text, h.marks)) if (p.hit) forms.add(folded(p.text));
  forms.delete("");
  return [...forms];
}

const word = /[\p{L}\p{N}\p{M}]+/gu;

/** Cuts a text at the words that begin with one of the forms; a form of one or two letters must be the whole word. */
export function atWords(text: string, forms: readonly string[]): Piece[] {
  if (!forms.length) return [{ text, hit: false }];
  const out: Piece[] = [];
  let at = 0;
  for (const m of text.matchAll(word)) {
    const f = folded(m[0]);
    if (!forms.some((form) => f === form || (form.length > 2 && f.startsWith(form)))) continue;
    if (m.index > at) out.push({ text: text.slice(at, m.index), hit: false });
    out.push({ text: m[0], hit: true });
    at = m.index + m[0].length;
  }
  if (at < text.length) out.push({ text: text.slice(at), hit: false });
  return out;
}

export const drawn = (pieces: readonly Piece[]): (TemplateResult | string)[] => pieces.map((p) => (p.hit ? html`<mark>${p.text}</mark>` : p.text));

/** A text with the words marked. */
export const marked = (text: string, forms: readonly string[]): (TemplateResult | string)[] => drawn(atWords(text, forms));

import { type Frame, levels, onScreen, rowOf, type Span, spanText, xOf } from "./geometry.ts";
import type { Node } from "./nodes.ts";

// The icicle on its canvas. Only what is on the screen is walked through; lines too
// narrow to be told apart are one band.

export const inks = ["ink", "ink-2", "line", "line-2", "paper", "sunk", "accent", "accent-soft", "focus", "p-new", "p-read", "warn", "warn-soft"] as const;
export type Inks = Record<(typeof inks)[number], string>;

/** What of the thread is in the prompt. */
export interface InPrompt {
  /** Its lines, by their names. */
  lines: ReadonlyMap<string, Span>;
  /** The first message that is whole. */
  whole: number;
}

export interface Picture {
  frame: Frame;
  line: (s: Span) => Node | null | undefined;
  prompt: InPrompt;
  /** Messages that were found, ascending. */
  hits: readonly number[];
  hover: Span | undefined;
  focus: Span | undefined;
}

/** The height of the strip below the tree, which shows the prompt alone. */
export const strip = 20;
export const gap = 6;

export const heightOf = (f: Frame): number => levels(f.length) * f.row + gap + strip;

/** Lines narrower than this are drawn as one band. */
const apart = 4;

export function draw(ctx: CanvasRenderingContext2D, p: Picture, ink: Inks, font: string): void {
  const f = p.frame;
  ctx.clearRect(0, 0, f.width, heightOf(f));
  ctx.font = font;
  ctx.textBaseline = "middle";
  for (let level = levels(f.length) - 1; level >= 0; level--) drawLevel(ctx, p, ink, level);
  drawHits(ctx, p, ink);
  drawStrip(ctx, p, ink);
  if (p.hover) outline(ctx, f, p.hover, ink["ink-2"], 1.5);
  if (p.focus) outline(ctx, f, p.focus, ink.focus, 2.5);
}

function drawLevel(ctx: CanvasRenderingContext2D, p: Picture, ink: Inks, level: number): void {
  const f = p.frame;
  const n = 2 ** level;
  const y = rowOf(f, level) * f.row;
  const [first, end] = onScreen(f, level);
  if (end <= first) return;
  const wide = (n * f.width) / (f.to - f.from);
  if (wide < apart) {
    const [x, right] = [Math.max(0, xOf(f, first * n)), Math.min(f.width, xOf(f, end * n))];
    ctx.fillStyle = ink.line;
    ctx.fillRect(x, y, right - x, f.row - 1);
    if (level === 0) tail(ctx, p, ink, y, f.row - 1);
    for (const s of p.prompt.lines.values()) if (s.n === n) box(ctx, f, s, y, ink["p-new"], 2);
    return;
  }
  for (let i = first; i < end; i++) {
    const s = { id: i * n, n };
    const inPrompt = p.prompt.lines.has(spanText(s));
    const isWhole = level === 0 && s.id >= p.prompt.whole;
    const found = holds(p.hits, s);
    const line = p.line(s);
    ctx.fillStyle = inPrompt ? ink["p-new"] : isWhole ? ink["p-read"] : found ? ink["warn-soft"] : line === null ? ink.sunk : ink.line;
    const x = xOf(f, s.id);
    ctx.fillRect(x + 0.5, y, wide - 1, f.row - 1);
    if (line && wide > 36) words(ctx, f, line.text, x, wide, y, inPrompt || isWhole ? ink.paper : ink.ink);
  }
}

/** As much of a line as there is room for, from where it is on the screen. */
function words(ctx: CanvasRenderingContext2D, f: Frame, text: string, x: number, wide: number, y: number, ink: string): void {
  const left = Math.max(x, 0) + 5;
  const room = Math.min(x + wide, f.width) - left - 4;
  if (room < 22) return;
  const one = text.slice(0, Math.ceil(room / 3.2)).replace(/\s*\n\s*/g, " ");
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, y, room, f.row);
  ctx.clip();
  ctx.fillStyle = ink;
  ctx.fillText(one, left, y + f.row / 2);
  ctx.restore();
}

function box(ctx: CanvasRenderingContext2D, f: Frame, s: Span, y: number, ink: string, least: number): void {
  const x = xOf(f, s.id);
  const wide = Math.max(least, (s.n * f.width) / (f.to - f.from));
  if (x > f.width || x + wide < 0) return;
  ctx.fillStyle = ink;
  ctx.fillRect(Math.max(0, x), y, Math.min(f.width, x + wide) - Math.max(0, x), f.row - 1);
}

function tail(ctx: CanvasRenderingContext2D, p: Picture, ink: Inks, y: number, high: number): void {
  const f = p.frame;
  const x = Math.min(xOf(f, p.prompt.whole), xOf(f, f.length) - 2);
  if (p.prompt.whole >= f.length || x > f.width) return;
  ctx.fillStyle = ink["p-read"];
  ctx.fillRect(Math.max(0, x), y, Math.min(f.width, xOf(f, f.length)) - Math.max(0, x), high);
}

/** Found messages light up all lines above them. */
function drawHits(ctx: CanvasRenderingContext2D, p: Picture, ink: Inks): void {
  const f = p.frame;
  const each = f.width / (f.to - f.from);
  ctx.fillStyle = ink.warn;
  for (const at of p.hits) {
    const x = xOf(f, at);
    if (x + each < 0 || x > f.width) continue;
    for (let level = levels(f.length) - 1; level >= 0; level--) {
      const n = 2 ** level;
      const wide = n * each;
      const s = { id: at - (at % n), n };
      if (s.id + n > f.length) continue;
      const y = rowOf(f, level) * f.row;
      if (wide < apart) ctx.fillRect(x - 1, y, 3, f.row - 1);
      else ctx.fillRect(Math.max(0, xOf(f, s.id)) + 0.5, y + f.row - 4, Math.min(f.width, xOf(f, s.id) + wide) - Math.max(0, xOf(f, s.id)) - 1, 3);
    }
  }
}

/** The prompt alone: which part of the thread each of its lines stands for, and the messages it holds whole. */
function drawStrip(ctx: CanvasRenderingContext2D, p: Picture, ink: Inks): void {
  const f = p.frame;
  const y = levels(f.length) * f.row + gap;
  const right = Math.min(f.width, xOf(f, f.length));
  ctx.fillStyle = ink.sunk;
  ctx.fillRect(0, y, right, strip);
  for (const s of p.prompt.lines.values()) {
    const [x, end] = [xOf(f, s.id), xOf(f, s.id + s.n)];
    if (x > f.width || end < 0) continue;
    ctx.fillStyle = ink["p-new"];
    ctx.fillRect(Math.max(0, x), y, Math.max(1, Math.min(f.width, end) - Math.max(0, x) - 1), strip);
  }
  tail(ctx, p, ink, y, strip);
}

function outline(ctx: CanvasRenderingContext2D, f: Frame, s: Span, ink: string, thick: number): void {
  const x = Math.max(1.5, xOf(f, s.id));
  const right = Math.min(f.width - 1.5, xOf(f, s.id + s.n));
  ctx.strokeStyle = ink;
  ctx.lineWidth = thick;
  ctx.strokeRect(x, rowOf(f, Math.round(Math.log2(s.n))) * f.row + 0.5, Math.max(2, right - x), f.row - 2);
}

/** Says whether a message that was found lies in a line; hits ascend. */
export function holds(hits: readonly number[], s: Span): boolean {
  let [low, high] = [0, hits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hits[middle]! < s.id) low = middle + 1;
    else high = middle;
  }
  return low < hits.length && hits[low]! < s.id + s.n;
}

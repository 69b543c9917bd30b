// The picture of the outline as plain numbers. The tree is known by arithmetic: the
// line of level k and number i stands for the messages from i·2^k to (i+1)·2^k - 1,
// and is there once all of them are. So a thread of a million messages needs no more
// here than its length.

/** A line: n messages, a power of two, from id on. */
export interface Span {
  id: number;
  n: number;
}

/** What of the thread is on the screen: messages [from, to) over so many pixels, a row for each level. */
export interface Frame {
  length: number;
  from: number;
  to: number;
  width: number;
  row: number;
}

export const spanText = (s: Span): string => `${s.id}+${s.n}`;

export function parseSpan(text: string | null | undefined): Span | undefined {
  const [, id, n] = /^(\d{1,15})\+(\d{1,15})$/.exec(text ?? "") ?? [];
  const s = { id: Number(id), n: Number(n) };
  return n && Number.isInteger(Math.log2(s.n)) && s.id % s.n === 0 ? s : undefined;
}

export const levelOf = (s: Span): number => Math.round(Math.log2(s.n));

/** How many rows a thread of that length has. */
export const levels = (length: number): number => (length < 1 ? 0 : Math.floor(Math.log2(length)) + 1);

export const exists = (s: Span, length: number): boolean => s.id >= 0 && s.id + s.n <= length;

export const parent = (s: Span): Span => ({ id: s.id - (s.id % (2 * s.n)), n: 2 * s.n });

export const halves = (s: Span): [Span, Span] => [
  { id: s.id, n: s.n / 2 },
  { id: s.id + s.n / 2, n: s.n / 2 },
];

/** The widest line above a message that is there, then narrower ones down to the span itself. */
export function pathTo(s: Span, length: number): Span[] {
  const out: Span[] = [];
  for (let at = s; exists(at, length); at = parent(at)) out.unshift(at);
  return out;
}

/** The lines that together stand for the whole thread: each the widest that begins where the one before ends. */
export function roots(length: number): Span[] {
  const out: Span[] = [];
  let id = 0;
  for (let level = levels(length) - 1; level >= 0; level--) {
    const n = 2 ** level;
    if (id + n <= length) {
      out.push({ id, n });
      id += n;
    }
  }
  return out;
}

export const whole = (f: Frame): Frame => ({ ...f, from: 0, to: Math.max(1, f.length) });

/** At least four messages are on the screen, at most all, and nothing beside the thread. */
export function clamped(f: Frame): Frame {
  const most = Math.max(1, f.length);
  const wide = Math.min(most, Math.max(Math.min(4, most), f.to - f.from));
  const from = Math.max(0, Math.min(most - wide, f.from));
  return { ...f, from, to: from + wide };
}

export const xOf = (f: Frame, message: number): number => ((message - f.from) * f.width) / (f.to - f.from);

export const messageAt = (f: Frame, x: number): number => f.from + (x * (f.to - f.from)) / f.width;

/** Zooms so that what lies at x stays there; a factor over 1 shows less. */
export function zoomed(f: Frame, x: number, factor: number): Frame {
  const at = messageAt(f, x);
  const wide = (f.to - f.from) / factor;
  const from = at - (x / f.width) * wide;
  const next = clamped({ ...f, from, to: from + wide });
  return next.to - next.from === f.to - f.from ? f : next;
}

export function panned(f: Frame, pixels: number): Frame {
  const by = (pixels * (f.to - f.from)) / f.width;
  return clamped({ ...f, from: f.from + by, to: f.to + by });
}

/** Shows a line over most of the width. */
export const fitted = (f: Frame, s: Span): Frame => clamped({ ...f, from: s.id - s.n * 0.08, to: s.id + s.n * 1.08 });

/** Moves as little as it takes to have a line on the screen, and wide enough to be seen. */
export function shown(f: Frame, s: Span): Frame {
  const wide = f.to - f.from;
  if ((s.n * f.width) / wide < 24) return fitted(f, s);
  if (s.id >= f.from && s.id + s.n <= f.to) return f;
  if (s.n >= wide) return s.id <= f.from && s.id + s.n >= f.to ? f : clamped({ ...f, from: s.id, to: s.id + wide });
  const from = s.id < f.from ? s.id - wide * 0.05 : s.id + s.n - wide * 0.95;
  return clamped({ ...f, from, to: from + wide });
}

/** The row of a level, counted from the top: the widest lines stand above. */
export const rowOf = (f: Frame, level: number): number => levels(f.length) - 1 - level;

/** The line at a point; undefined where none is. */
export function lineAt(f: Frame, x: number, y: number): Span | undefined {
  const level = levels(f.length) - 1 - Math.floor(y / f.row);
  if (level < 0 || level >= levels(f.length) || x < 0 || x >= f.width) return undefined;
  const n = 2 ** level;
  const s = { id: Math.floor(messageAt(f, x) / n) * n, n };
  return exists(s, f.length) ? s : undefined;
}

/** The lines of a level that are on the screen: the first, and one past the last. */
export function onScreen(f: Frame, level: number): [number, number] {
  const n = 2 ** level;
  return [Math.floor(f.from / n), Math.min(Math.ceil(f.to / n), Math.floor(f.length / n))];
}

/** The line beside another on its level, on the way that a key goes. */
export function beside(s: Span, key: string, length: number): Span | undefined {
  const to: Record<string, () => Span> = {
    ArrowLeft: () => ({ id: s.id - s.n, n: s.n }),
    ArrowRight: () => ({ id: s.id + s.n, n: s.n }),
    ArrowUp: () => parent(s),
    ArrowDown: () => (s.n > 1 ? halves(s)[0] : s),
  };
  const next = to[key]?.();
  return next && exists(next, length) ? next : undefined;
}

/** A run of lines of one level that is fetched at once. */
export interface Run {
  level: number;
  number: number;
}

/** Lines in a run. */
export const runSize = 64;

/** Lines narrower than this are not fetched: there is no room for a word in them. */
const legible = 36;

/** The runs whose lines are wide enough to be read, those nearest to the middle first. */
export function runs(f: Frame): Run[] {
  const out: (Run & { far: number })[] = [];
  const middle = (f.from + f.to) / 2;
  for (let level = levels(f.length) - 1; level >= 0; level--) {
    const n = 2 ** level;
    if ((n * f.width) / (f.to - f.from) < legible) break;
    const [first, end] = onScreen(f, level);
    for (let k = Math.floor(first / runSize); k * runSize < end; k++) {
      out.push({ level, number: k, far: Math.abs((k + 0.5) * runSize * n - middle) / (runSize * n) });
    }
  }
  return out.sort((a, b) => a.far - b.far || b.level - a.level).map(({ level, number }) => ({ level, number }));
}

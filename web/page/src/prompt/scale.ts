// The scales of the chart, as pure functions.

/** About so many round numbers from 0 up to max. */
export function ticks(max: number, about: number): number[] {
  if (!(max > 0)) return [0];
  const raw = max / Math.max(1, about);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) ?? raw;
  const out: number[] = [];
  for (let i = 0; i * step <= max * 1.0001; i++) out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** Tokens on an axis. */
export const short = (n: number): string => (n >= 1e6 ? `${n / 1e6}M` : n >= 1000 ? `${n / 1000}k` : String(n));

/** The room of a chart: places [from, to) over the pixels [left, right). */
export interface Room {
  from: number;
  to: number;
  left: number;
  right: number;
}

/** The pixel at which a place begins. */
export const pixel = (r: Room, place: number): number => r.left + ((place - r.from) * (r.right - r.left)) / Math.max(1, r.to - r.from);

/** The place at a pixel; undefined beside the chart. */
export function placeAt(r: Room, x: number): number | undefined {
  if (x < r.left || x >= r.right || r.to <= r.from) return undefined;
  return Math.min(r.to - 1, r.from + Math.floor(((x - r.left) * (r.to - r.from)) / (r.right - r.left)));
}

/** What is dragged over, as places; undefined where it is too little to be meant. */
export function dragged(r: Room, a: number, b: number): [number, number] | undefined {
  const [x, y] = [Math.max(r.left, Math.min(a, b)), Math.min(r.right - 1, Math.max(a, b))];
  const [from, last] = [placeAt(r, x), placeAt(r, y)];
  return from === undefined || last === undefined || y - x < 6 || last - from < 1 ? undefined : [from, last + 1];
}

const minute = 60_000;
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const number = new Intl.NumberFormat();

/** When something was, as short as it is clear. */
export function when(time: string | undefined, now = Date.now()): string {
  const t = time ? Date.parse(time) : NaN;
  if (Number.isNaN(t)) return "";
  const ago = now - t;
  if (ago < minute) return "now";
  if (ago < 60 * minute) return relative.format(-Math.round(ago / minute), "minute");
  return onDay(time, now);
}

/** The day of something, as short as it is clear; today, its time. */
export function onDay(time: string | undefined, now = Date.now()): string {
  const t = time ? Date.parse(time) : NaN;
  if (Number.isNaN(t)) return "";
  const [then, today] = [new Date(t), new Date(now)];
  if (then.toDateString() === today.toDateString()) return clock.format(t);
  return (then.getFullYear() === today.getFullYear() ? day : dayOfYear).format(t);
}

/** The time on the clock, with the day where it was another. */
export function atClock(time: string | undefined, now = Date.now()): string {
  const t = time ? Date.parse(time) : NaN;
  if (Number.isNaN(t)) return "";
  const at = clock.format(t);
  const on = onDay(time, now);
  return on === at ? at : `${on}, ${at}`;
}

export const exactly = (time: string | undefined): string => (time && !Number.isNaN(Date.parse(time)) ? whole.format(Date.parse(time)) : "");

export const count = (n: number): string => number.format(n);

export const plural = (n: number, one: string, many: string): string => `${count(n)} ${n === 1 ? one : many}`;

/** A size in bytes for people. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let n = bytes / 1000;
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

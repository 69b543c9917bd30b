/** So long, in milliseconds, no other letter came before one that changes something, and none after. */
const before = 1_000;
const after = 300;

let last = -Infinity;
let since = 0;
let pending: ReturnType<typeof setTimeout> | undefined;

/** Hears every key, wherever it is typed. */
export function hear(e: KeyboardEvent): void {
  clearTimeout(pending);
  if (e.key === "Shift") return;
  since = e.timeStamp - last;
  if (e.key.length > 1) last = -Infinity; // Escape, Tab and Enter end a word
  else if (e.key !== "j" && e.key !== "k") last = e.timeStamp; // these two walk
}

/** Does what the letter that was just heard stands for, unless it is one of a word. */
export function alone(act: () => void): void {
  if (since >= before) pending = setTimeout(act, after);
}

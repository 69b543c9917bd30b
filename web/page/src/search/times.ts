import { api } from "../api/api.ts";
import type { Hit } from "./ask.ts";

// When what was found was said. A hit does not tell it, so it is asked for once a hit is
// on the screen, a few at once.

const atOnce = 4;
const kept = 1000;
const known = new Map<string, Promise<string>>();
const waiting: (() => void)[] = [];
let running = 0;

/** When the message of a hit was said; empty where that cannot be known. */
export function timeOf(thread: string, hit: Pick<Hit, "id" | "seq">): Promise<string> {
  const key = `${thread}/${hit.seq}`;
  const had = known.get(key);
  if (had) return had;
  const asked = inTurn(() => ask(thread, hit)).catch(() => {
    known.delete(key);
    return "";
  });
  known.set(key, asked);
  if (known.size > kept) known.delete(known.keys().next().value!);
  return asked;
}

/** The line of a message has its time and is small; one that is not written yet, or was undone, is read itself. */
async function ask(thread: string, { id, seq }: Pick<Hit, "id" | "seq">): Promise<string> {
  if (id >= 0) {
    const { items } = await api.get<{ items: { span: string; time: string }[] }>(thread, "/nodes", { level: 0, from: id, count: 1 });
    const time = items.find((n) => n.span === `${id}+1`)?.time;
    if (time) return time;
  }
  return (await api.entry(thread, seq)).time ?? "";
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running === atOnce) await new Promise<void>((go) => waiting.push(go));
  running++;
  try {
    return await work();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

import { Link } from "../link/link.ts";
import { Drafts } from "./drafts.ts";
import { keysOf, read, storage, write } from "./storage.ts";
import { ThreadStore } from "./thread.ts";
import { threads } from "./threads.ts";

// What there is once per tab: its link, its drafts, the thread that is open.

export const kept = storage("localStorage");

export const link = new Link();

/** Tabs are known by locks that end with them; where there are none, by a time that they write. */
const named = "skein.tab.";
const silent = 10_000;

async function living(): Promise<ReadonlySet<string>> {
  if (navigator.locks) {
    const { held = [] } = await navigator.locks.query();
    return new Set(held.map((l) => l.name ?? "").filter((n) => n.startsWith(named)).map((n) => n.slice(named.length)));
  }
  const alive = keysOf(kept, named).filter((key) => Date.now() - (read<number>(kept, key) ?? 0) < silent);
  return new Set(alive.map((key) => key.slice(named.length)));
}

export const drafts = new Drafts("", kept, living);

/** Holds a name until the tab ends; false: another tab has it, as when a tab was copied. */
function hold(name: string): Promise<boolean> {
  if (!navigator.locks) {
    const beat = () => write(kept, named + name, Date.now());
    beat();
    setInterval(beat, 3_000);
    addEventListener("pagehide", () => kept.removeItem(named + name));
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    void navigator.locks.request(named + name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    });
  });
}

/** Gives the tab its name: the one it had before it was loaded again. */
export async function startSession(): Promise<void> {
  const own = storage("sessionStorage");
  const was = own.getItem("skein.tab");
  drafts.tab = was && (await hold(was)) ? was : Math.random().toString(36).slice(2);
  if (drafts.tab !== was) await hold(drafts.tab);
  own.setItem("skein.tab", drafts.tab);
  addEventListener("pagehide", () => threads.settle());
}

let open: ThreadStore | undefined;

/** The store of the open thread; opening another closes it. */
export function openThread(id: string | undefined): ThreadStore | undefined {
  if (open?.id === id) return open;
  open?.close();
  open = id === undefined ? undefined : new ThreadStore(id, link, kept);
  return open;
}

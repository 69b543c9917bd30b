import { Link } from "../link/link.ts";
import { Drafts } from "./drafts.ts";
import { storage } from "./storage.ts";
import { ThreadStore } from "./thread.ts";
import { threads } from "./threads.ts";

// What there is once per tab: its link, its drafts, the thread that is open.

export const kept = storage("localStorage");

export const link = new Link();

/** A tab's name lasts as long as the tab; a copy of a tab gets another. */
function tabName(): string {
  const own = storage("sessionStorage");
  const reloaded = performance.getEntriesByType?.("navigation").some((n) => (n as PerformanceNavigationTiming).type === "reload");
  const was = own.getItem("skein.tab");
  const name = was && reloaded ? was : Math.random().toString(36).slice(2);
  own.setItem("skein.tab", name);
  return name;
}

export const drafts = new Drafts(tabName(), kept);

export function startSession(): void {
  drafts.beat();
  setInterval(() => drafts.beat(), 3_000);
  addEventListener("pagehide", () => {
    drafts.end();
    threads.settle();
  });
  addEventListener("pageshow", () => drafts.beat());
}

let open: ThreadStore | undefined;

/** The store of the open thread; opening another closes it. */
export function openThread(id: string | undefined): ThreadStore | undefined {
  if (open?.id === id) return open;
  open?.close();
  open = id === undefined ? undefined : new ThreadStore(id, link, kept);
  return open;
}

// The views of the page besides the conversation. One is shown as a tab, and its
// route exists, only once it is registered here; its code is loaded when it is
// opened first.
//
// A view of a thread is an element that is given `store` (ThreadStore, see
// state/thread.ts) and `query` (URLSearchParams, what stands in the address). A view
// of all threads is given `query` alone. It changes its address with
// router.replace(format({thread, view, query})). It draws into light DOM (extend
// Piece of piece.ts) and takes its looks from style/tokens.css; a style sheet of its
// own is imported by its module.

import { type Scope, who } from "./state/who.ts";

export interface ViewSpec {
  /** What its tab says. */
  title: string;
  /** The last part of its path, in small letters: /t/{thread}/{route}, or /{route}. */
  route: string;
  of: "thread" | "all";
  /** The name of its element. */
  tag: string;
  /** The key that opens it, after "g". */
  key: string;
  /** What one must be allowed to do to have it; default: to read. */
  needs?: Scope;
  load: () => Promise<unknown>;
}

const known: ViewSpec[] = [];

export function register(view: ViewSpec): void {
  if (known.some((v) => v.route === view.route)) throw new Error(`the route ${view.route} is taken`);
  known.push(view);
}

/** The views that are offered to who is here, in the order in which they were registered. */
export const views = (of: ViewSpec["of"]): ViewSpec[] => known.filter((v) => v.of === of && who.may(v.needs ?? "read"));

export const viewAt = (of: ViewSpec["of"], route: string): ViewSpec | undefined =>
  known.find((v) => v.of === of && v.route === route);

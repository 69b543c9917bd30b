import { Observable } from "./state/observable.ts";

// Where the page is, by its path: "/", "/t/{thread}", "/t/{thread}/m/{index}",
// "/t/{thread}/{view}", "/search". What views keep of their own stands in the query.

export interface Route {
  thread?: string;
  /** A message of the thread to be shown and marked. */
  index?: number;
  /** The view that is open beside the thread, or in place of it. */
  view?: string;
  query: URLSearchParams;
}

const decoded = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

/** Reads a path with its query; undefined: it is none of the page's. */
export function parse(path: string): Route | undefined {
  const [before = "", search = ""] = path.split("#", 1)[0]!.split(/\?(.*)/s);
  const query = new URLSearchParams(search);
  const parts = before.split("/").slice(1);
  if (parts.at(-1) === "") parts.pop();
  if (parts.length === 0) return { query };
  if (parts[0] !== "t") return parts.length === 1 && /^[a-z]+$/.test(parts[0]!) ? { view: parts[0]!, query } : undefined;
  const thread = decoded(parts[1] ?? "");
  if (!thread) return undefined;
  if (parts.length === 2) return { thread, query };
  if (parts.length === 4 && parts[2] === "m" && /^\d{1,15}$/.test(parts[3]!)) return { thread, index: Number(parts[3]), query };
  if (parts.length === 3 && /^[a-z]+$/.test(parts[2]!)) return { thread, view: parts[2]!, query };
  return undefined;
}

/** Writes the path that {@link parse} reads. */
export function format(to: { thread?: string; index?: number; view?: string; query?: URLSearchParams | Record<string, string> }): string {
  const text = new URLSearchParams(to.query).toString();
  const query = text ? `?${text}` : "";
  if (to.thread === undefined) return `/${to.view ?? ""}${query}`;
  const base = `/t/${encodeURIComponent(to.thread)}`;
  if (to.index !== undefined) return `${base}/m/${to.index}${query}`;
  return (to.view ? `${base}/${to.view}` : base) + query;
}

class Router extends Observable {
  route: Route | undefined = undefined;

  start(): void {
    const read = () => {
      this.route = parse(location.pathname + location.search);
      this.changed();
    };
    addEventListener("popstate", read);
    document.addEventListener("click", (e) => this.#clicked(e));
    read();
  }

  go(path: string): void {
    if (path !== location.pathname + location.search) history.pushState(null, "", path);
    this.#settle(path);
  }

  /** Changes where the page is without a step in the history. */
  replace(path: string): void {
    history.replaceState(null, "", path);
    this.#settle(path);
  }

  #settle(path: string): void {
    this.route = parse(path);
    this.changed();
  }

  /** Takes over plain clicks on links to the page's own routes. */
  #clicked(e: MouseEvent): void {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    const link = e.composedPath().find((n): n is HTMLAnchorElement => n instanceof HTMLAnchorElement);
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    const path = link.pathname + link.search;
    if (!parse(path) || path.startsWith("/v1")) return;
    e.preventDefault();
    this.go(path);
  }
}

export const router = new Router();

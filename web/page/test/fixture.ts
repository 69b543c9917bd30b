import { Client } from "../../client/index.js";
import type { Batch, Docs, Entry, Logged, Message, Op, Page, Thread, View } from "../src/api/types.ts";

// A server in memory, for tests of the page's stores: threads, messages, an answer
// that is made piece by piece, watches with windows, a link that can be cut. It goes
// by the public API; what it does not know is answered 404.

interface Held {
  thread: Thread;
  epoch: string;
  branch: number;
  entries: Entry[];
  tip: number;
  docs: Docs;
  head?: View["head"];
  /** What was undone or lies before a reset, in the order of the log. */
  inactive: Entry[];
  cuts: Map<number, Logged>;
}

interface Looking {
  thread: string;
  tail: number;
  n: number;
  window: Entry[];
  before: number;
}

const noUsage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

const emptyDocs = (): Docs => ({
  live: null,
  agent: { name: "north", model: "echo", tools: [], skills: [], waiting: [], backlog: 0, turn: 0 },
  inbox: [],
  provider: {},
  usage: { requests: 0, turns: noUsage, summary: noUsage, lines: noUsage, tokens: 0, cost: 0, cacheHit: 0 },
});

export class Fixture {
  readonly threads = new Map<string, Held>();
  /** Answers of paths that the fixture has none for: path (without /v1/threads/{id}) → JSON. */
  readonly more = new Map<string, unknown>();
  /** Requests seen, as "METHOD path". */
  readonly asked: string[] = [];
  /** While false, nothing answers. */
  up = true;
  #sockets = new Set<FixtureSocket>();
  #ids = 0;

  /** A client of this server. */
  client(): Client {
    const server = this;
    return new Client({
      url: "http://fixture",
      fetch: ((url: string, init?: RequestInit) => this.#fetch(url, init)) as typeof fetch,
      WebSocket: class {
        constructor() {
          return new FixtureSocket(server) as never;
        }
      } as never,
      pace: { min: 1, max: 5 },
    });
  }

  make(id = `t${++this.#ids}`, title = ""): Held {
    const now = new Date(1_700_000_000_000 + this.#ids * 1000).toISOString();
    const held: Held = { thread: { id, title, created: now, updated: now, length: 0 }, epoch: `e-${id}`, branch: 1, entries: [], tip: 0, docs: emptyDocs(), inactive: [], cuts: new Map() };
    this.threads.set(id, held);
    return held;
  }

  /** Appends a message and tells who watches. */
  say(id: string, message: Message, key?: string): Entry {
    const held = this.threads.get(id)!;
    const last = held.entries.at(-1);
    const entry: Entry = { seq: ++held.tip, id: `m${++this.#ids}`, prev: last?.seq ?? 0, index: held.entries.length, time: new Date(1_700_000_000_000 + this.#ids * 1000).toISOString(), ...(key && { key }), message };
    held.entries.push(entry);
    held.thread = { ...held.thread, length: held.entries.length };
    for (const s of this.#sockets) s.appended(id, entry);
    return entry;
  }

  /** Entries of other kinds take seqs too. */
  skipSeqs(id: string, n: number): void {
    this.threads.get(id)!.tip += n;
  }

  /** Changes a document and tells who watches. */
  set(id: string, doc: keyof Docs, value: unknown): void {
    const held = this.threads.get(id)!;
    held.docs = { ...held.docs, [doc]: value };
    for (const s of this.#sockets) s.ops(id, [["s", ["docs", doc], value]]);
  }

  /** Appends to the answer being made. */
  delta(id: string, text: string): void {
    const held = this.threads.get(id)!;
    const live = held.docs.live!;
    const offset = new TextEncoder().encode(live.text).length;
    held.docs = { ...held.docs, live: { ...live, text: live.text + text } };
    for (const s of this.#sockets) s.ops(id, [["a", ["docs", "live", "text"], offset, text]]);
  }

  /** Undoes every message after seq. */
  rewind(id: string, seq: number): void {
    const held = this.threads.get(id)!;
    held.inactive.push(...held.entries.filter((e) => e.seq > seq).map((e) => ({ ...e, undone: true })));
    held.entries = held.entries.filter((e) => e.seq <= seq);
    if (held.head && held.head.boundary >= held.entries.length) delete held.head; // the cut is undone too
    held.tip++;
    held.branch++;
    held.thread = { ...held.thread, length: held.entries.length };
    for (const s of this.#sockets) s.again(id);
  }

  /** Undoes everything, by a reset. */
  reset(id: string): void {
    const held = this.threads.get(id)!;
    held.inactive = [...held.inactive, ...held.entries].map((e) => ({ ...e, past: true }));
    held.entries = [];
    delete held.head;
    held.tip++;
    held.branch++;
    held.thread = { ...held.thread, length: 0 };
    for (const s of this.#sockets) s.again(id);
  }

  /** Makes a cut, and tells who watches. */
  makeCut(id: string, boundary: number): number {
    const held = this.threads.get(id)!;
    const [seq, number] = [++held.tip, held.cuts.size + 1];
    const time = new Date(1_700_000_000_000 + ++this.#ids * 1000).toISOString();
    held.cuts.set(seq, { seq, kind: "cut", time, cut: { number, strategy: "outline", boundary, ...(held.head && { prev: held.head.seq }), before: { outline: 100, tail: 900 }, after: { outline: 200, tail: 300 } } });
    held.head = { seq, number, strategy: "outline", boundary, lines: 3 };
    for (const s of this.#sockets) s.ops(id, [["s", ["head"], held.head]]);
    return seq;
  }

  /** Cuts every link; while `up` is false nobody comes back. */
  cut(): void {
    for (const s of [...this.#sockets]) s.close();
  }

  opened(s: FixtureSocket): void {
    if (this.up) this.#sockets.add(s);
  }

  closed(s: FixtureSocket): void {
    this.#sockets.delete(s);
  }

  view(held: Held, tail: number, from?: number, epoch?: string): View {
    const resumed = from !== undefined && epoch === held.epoch;
    const missed = resumed ? held.entries.filter((e) => e.seq >= from) : [];
    const entries = resumed && missed.length < 2 * tail ? missed : held.entries.slice(-tail);
    const before = held.entries.filter((e) => e.seq < (entries[0]?.seq ?? Infinity)).at(-1)?.seq ?? 0;
    return {
      thread: { id: held.thread.id, title: held.thread.title ?? "", epoch: held.epoch, branch: held.branch },
      ...(held.head && { head: held.head }),
      entries, from: entries[0]?.seq ?? held.tip + 1, before, earlier: before !== 0, length: held.entries.length,
      ...(from !== undefined && !resumed && { fresh: true }),
      docs: held.docs,
    };
  }

  async #fetch(url: string, init: RequestInit = {}): Promise<Response> {
    await Promise.resolve();
    if (!this.up) throw new TypeError("fetch failed");
    const { pathname, searchParams: q } = new URL(url);
    const method = init.method ?? "GET";
    this.asked.push(`${method} ${pathname}`);
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as Record<string, unknown>) : {};
    const json = (value: unknown, status = 200) => new Response(value === undefined ? null : JSON.stringify(value), { status });
    const no = (status: number, detail: string) => json({ status, detail, code: status === 404 ? "not-found" : "invalid" }, status);
    if (pathname === "/v1/threads") {
      if (method === "POST") return json(this.make(undefined, body["title"] as string).thread, 201);
      return json({ items: [...this.threads.values()].map((t) => t.thread).reverse() });
    }
    const [, id, rest] = /^\/v1\/threads\/([^/]+)\/?(.*)$/.exec(pathname) ?? [];
    const held = this.threads.get(decodeURIComponent(id ?? ""));
    if (this.more.has(rest || pathname)) return json(this.more.get(rest || pathname));
    if (!held) return no(404, "there is no such thread");
    switch (`${method} ${rest}`) {
      case "GET ":
        return json(held.thread);
      case "PATCH ":
        held.thread = { ...held.thread, title: String(body["title"]) };
        for (const s of this.#sockets) s.ops(held.thread.id, [["s", ["thread", "title"], held.thread.title]]);
        return json(held.thread);
      case "DELETE ":
        this.threads.delete(held.thread.id);
        return json(undefined, 204);
      case "POST messages": {
        const key = String(body["key"]);
        const had = held.entries.find((e) => e.key === key);
        const e = had ?? this.say(held.thread.id, { author: "user", role: "user", parts: [{ type: "text", text: String(body["text"]) }] }, key);
        return json({ id: e.id, seq: e.seq, index: e.index }, 202);
      }
      case "POST rewind":
        this.rewind(held.thread.id, Number(body["seq"]));
        return json(held.thread);
      case "GET read":
        return json({ messages: held.entries.slice(Number(q.get("id")), Number(q.get("id")) + 1).map((e) => ({ seq: e.seq })) });
      case "GET entries":
        return json(this.#page(held, q));
      default: {
        const seq = /^entries\/(\d+)$/.exec(rest ?? "")?.[1];
        const e = held.cuts.get(Number(seq)) ?? held.entries.find((e) => e.seq === Number(seq));
        return e ? json(e) : no(404, `there is nothing at ${pathname}`);
      }
    }
  }

  #page(held: Held, q: URLSearchParams): Page {
    const cursor = q.get("cursor")?.split(" ").map(Number);
    const [before, after, limit] = [cursor?.[0] ?? Number(q.get("before") ?? Infinity), cursor?.[1] ?? Number(q.get("after") ?? 0), Number(q.get("limit") ?? 50)];
    const every = q.get("inactive") ? [...held.inactive, ...held.entries].sort((a, b) => a.seq - b.seq) : held.entries;
    const all = every.filter((e) => e.seq < before && e.seq > after);
    const ascends = q.get("order") === "asc";
    const items = ascends ? all.slice(0, limit) : all.slice(-limit).reverse();
    return { items, ...(!ascends && items.length < all.length && { next: `${items.at(-1)!.seq} ${after}` }), epoch: held.epoch, branch: held.branch };
  }
}

/** One end of a WebSocket. */
class FixtureSocket {
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((e: { data: string }) => void) | null = null;
  onclose: ((e: { reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  #watches = new Map<number, Looking>();

  constructor(readonly server: Fixture) {
    queueMicrotask(() => {
      if (!server.up) return this.close();
      this.readyState = 1;
      server.opened(this);
      this.onopen?.();
    });
  }

  send(text: string): void {
    const f = JSON.parse(text) as { watch?: number; unwatch?: number; call?: number; thread?: string; tail?: number; from?: number; epoch?: string };
    if (f.unwatch) this.#watches.delete(f.unwatch);
    else if (f.call) this.#give({ call: f.call, ok: {} });
    else if (f.watch) {
      const held = this.server.threads.get(f.thread!);
      if (!held) return this.#give({ end: f.watch, reason: "not-found" });
      const look: Looking = { thread: f.thread!, tail: f.tail ?? 50, n: 0, window: [], before: 0 };
      this.#watches.set(f.watch, look);
      this.#snapshot(f.watch, look, this.server.view(held, look.tail, f.from, f.epoch));
    }
  }

  close(): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.server.closed(this);
    queueMicrotask(() => this.onclose?.({ reason: "" }));
  }

  ops(thread: string, ops: Op[]): void {
    for (const [w, look] of this.#watches) if (look.thread === thread) this.#batch(w, look, ops);
  }

  again(thread: string): void {
    const held = this.server.threads.get(thread)!;
    for (const [w, look] of this.#watches) if (look.thread === thread) this.#snapshot(w, look, this.server.view(held, look.tail));
  }

  appended(thread: string, entry: Entry): void {
    for (const [w, look] of this.#watches) {
      if (look.thread !== thread) continue;
      const ops: Op[] = [["p", ["entries"], look.window.length, 0, [entry]], ["s", ["length"], entry.index + 1]];
      look.window.push(entry);
      if (look.window.length >= 2 * look.tail) {
        const gone = look.window.splice(0, look.tail);
        look.before = gone.at(-1)!.seq;
        ops.push(["p", ["entries"], 0, look.tail, []], ["s", ["before"], look.before], ["s", ["earlier"], true], ["s", ["from"], look.window[0]!.seq]);
      }
      this.#batch(w, look, ops);
    }
  }

  #snapshot(w: number, look: Looking, view: View): void {
    look.window = [...view.entries];
    look.before = view.before;
    this.#batch(w, look, [["r", view]]);
  }

  #batch(w: number, look: Looking, ops: Op[]): void {
    const batch: Batch = { n: ++look.n, ops };
    this.#give({ w, ...batch });
  }

  #give(frame: unknown): void {
    const data = JSON.stringify(frame);
    queueMicrotask(() => this.readyState === 1 && this.onmessage?.({ data }));
  }
}

/** Waits until it holds. */
export async function until(what: () => boolean, within = 30_000): Promise<void> {
  const end = Date.now() + within;
  while (!what()) {
    if (Date.now() > end) throw new Error(`it did not come true: ${what}`);
    await new Promise((r) => setTimeout(r, 1));
  }
}

export const user = (text: string): Message => ({ author: "ana", role: "user", parts: [{ type: "text", text }] });
export const north = (text: string): Message => ({ author: "north", role: "assistant", parts: [{ type: "text", text }], stop: "end" });

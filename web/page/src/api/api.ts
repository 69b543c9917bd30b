import { Client, Fault, SkeinError } from "../../../client/index.js";
import type { AgentName, Entry, Logged, Page, Part, Thread } from "./types.ts";

// Every request of the page goes through this file and the client it uses: nothing
// else fetches.

export { Fault, SkeinError };

let client: Client | undefined;

/** A deletion is finished even where the page is left meanwhile. */
const lasting: typeof fetch = (url, init) => fetch(url, { ...init, keepalive: init?.method === "DELETE" });

/** The client of the page's server. */
export const theClient = (): Client => (client ??= new Client({ fetch: lasting }));

/** Has all that follows go to another server; for tests. */
export function useClient(other: Client): void {
  client = other;
}

let reached: (ok: boolean) => void = () => {};

/** Has fn told after each request whether the server could be reached. */
export function onReach(fn: (ok: boolean) => void): void {
  reached = fn;
}

/** No answer came: the link or the server is down. What was asked may be asked again. */
export const isUnreachable = (err: unknown): boolean => err instanceof SkeinError && err.status === 0;

/** Says whether asking again later may help. */
export const mayRetry = (err: unknown): boolean => isUnreachable(err) || (err instanceof SkeinError && [429, 502, 503, 504].includes(err.status));

/** An error in words for people. */
export function inWords(err: unknown): string {
  if (isUnreachable(err)) return "the server cannot be reached";
  if (err instanceof SkeinError && err.hint) return `${err.message} (${err.hint})`;
  return err instanceof Error ? err.message : String(err);
}

type Query = Record<string, string | number | boolean | undefined>;

async function ask<T>(method: string, path: string, options: { query?: Query; body?: unknown; raw?: BodyInit; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<T> {
  try {
    const answer = (await theClient().call(method, path, options as never)) as T;
    reached(true);
    return answer;
  } catch (err) {
    if (!options.signal?.aborted) reached(!isUnreachable(err));
    throw err;
  }
}

const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> => ask("GET", path, { ...(query && { query }), ...(signal && { signal }) });

const send = <T>(method: string, path: string, body?: unknown): Promise<T> => ask(method, path, { body });

const of = (thread: string, rest = ""): string => `/v1/threads/${encodeURIComponent(thread)}${rest}`;

/** Where a blob of a thread lies, for links and images. */
export const blobURL = (thread: string, hash: string): string => of(thread, `/blobs/${encodeURIComponent(hash)}`);

export interface Saying {
  text: string;
  key: string;
  when?: "now" | "next";
  blobs?: { hash: string; name: string }[];
}

export interface Said {
  id: string;
  seq: number;
  index?: number;
}

export interface PageQuery {
  before?: number;
  after?: number;
  limit?: number;
  order?: "asc";
  cursor?: string;
  inactive?: boolean;
}

/** Who is asking, and what they may do. */
export interface Session {
  name: string;
  scopes: string[];
  threads?: string[];
  token: boolean;
}

export interface List {
  items: Thread[];
  next?: string;
}

export type Decision = { decision: "allow"; scope: "once" | "thread" } | { decision: "deny"; reason: string };

export const api = {
  threads: (query: { cursor?: string; limit?: number } = {}, signal?: AbortSignal) => get<List>("/v1/threads", query, signal),
  thread: (id: string) => get<Thread>(of(id)),
  create: (title?: string) => send<Thread>("POST", "/v1/threads", title ? { title } : {}),
  rename: (id: string, title: string) => send<void>("PATCH", of(id), { title }),
  remove: (id: string) => send<void>("DELETE", of(id)),
  fork: (id: string, seq?: number, title?: string) => send<Thread>("POST", of(id, "/fork"), { ...(seq !== undefined && { seq }), ...(title && { title }) }),
  say: (id: string, what: Saying) => send<Said>("POST", of(id, "/messages"), what),
  reply: (id: string) => send<void>("POST", of(id, "/reply")),
  stop: (id: string) => send<void>("POST", of(id, "/stop")),
  rewind: (id: string, seq: number) => send<void>("POST", of(id, "/rewind"), { seq }),
  reset: (id: string) => send<void>("POST", of(id, "/reset")),
  decide: (id: string, call: string, d: Decision) => send<void>("POST", of(id, `/approvals/${encodeURIComponent(call)}`), d),
  entries: (id: string, query: PageQuery, signal?: AbortSignal) => get<Page>(of(id, "/entries"), { ...query }, signal),
  entry: (id: string, seq: number) => get<Entry>(of(id, `/entries/${seq}`)),
  /** An entry of any kind. */
  logged: (id: string, seq: number) => get<Logged>(of(id, `/entries/${seq}`)),
  agents: () => get<{ items: AgentName[] }>("/v1/agents"),
  /** Has that agent answer in the thread from now on. */
  setAgent: (id: string, agent: string) => send<void>("PATCH", of(id), { settings: { agent } }),
  /** The seq of the active message at an index; undefined where there is none. */
  seqAt: async (id: string, index: number): Promise<number | undefined> => {
    try {
      const found = await get<{ messages: { seq: number }[] }>(of(id, "/read"), { id: index, count: 1 });
      return found.messages[0]?.seq;
    } catch (err) {
      if (err instanceof SkeinError && err.status === 404) return undefined;
      throw err;
    }
  },
  session: () => get<Session>("/v1/session"),
  signOut: () => send<void>("DELETE", "/v1/session"),
  signIn: (token: string) => send<Session>("POST", "/v1/session", { token }),
  putBlob: (id: string, hash: string, data: Blob) =>
    ask<void>("PUT", blobURL(id, hash), { raw: data, headers: { "content-type": data.type || "application/octet-stream" } }),
  /** For views: GET of a path below a thread, or below /v1, as JSON. */
  get: <T>(id: string, rest: string, query?: Query, signal?: AbortSignal) => get<T>(of(id, rest), query, signal),
  getAll: <T>(path: string, query?: Query, signal?: AbortSignal) => get<T>(path, query, signal),
};

/** The parts of a message that are text, joined as the model gets them. */
export const plainText = (parts: Part[]): string =>
  parts.filter((p) => p.type === "text").map((p) => p.text ?? "").join("\n");

// The types of skein-client. Times are RFC 3339 texts, sizes bytes, money US dollars.

export type Seq = number;

/** What a client holds of a thread. */
export interface View {
  thread: { id: string; title: string; epoch: string; branch: number };
  /** The newest cut: where the model's whole messages start. */
  head?: { seq: Seq; number: number; strategy: string; boundary: number; lines?: number; summary?: string };
  /** The window: active messages with seq >= from, ascending. */
  entries: Entry[];
  from: Seq;
  /** The active message before the window; 0: there is none. */
  before: Seq;
  earlier: boolean;
  /** Active messages of the thread. */
  length: number;
  /** Nothing that the client held goes on here. */
  fresh?: boolean;
  docs: { live: Live | null; agent: Agent; inbox: Queued[]; provider: Record<string, Cached>; usage: ThreadUsage };
}

/**
 * One message. seq, id, prev and index are always there; of a message that the
 * viewer may not see, and of one that was erased, nothing else is.
 */
export interface Entry {
  seq: Seq;
  id: string;
  /** The active message before it, 0: it is the first. */
  prev: Seq;
  index: number;
  time?: string;
  key?: string;
  message?: Message;
  /** Long parts were cut: ask for the entry for the whole. */
  more?: boolean;
  /** On pages that ask for undone messages: it is one. */
  undone?: boolean;
  /** On pages: it lies before a reset. */
  past?: boolean;
}

export interface Message {
  author: string;
  to?: string[];
  audience?: string[];
  role: "user" | "assistant" | "tool";
  parts: Part[];
  turn?: Seq;
  queued?: Seq;
  meta?: unknown;
  contexts?: { name: string; text: string; same?: string }[];
  weight?: number;
  model?: string;
  stop?: Stop;
  usage?: Usage;
  request?: Request;
}

export type Part =
  | { type: "text"; text: string }
  | { type: "thinking"; text?: string; signature?: string; redacted?: boolean; provider?: string; model?: string }
  | { type: "toolCall"; id: string; name: string; input: unknown }
  | { type: "toolResult"; call: string; name: string; parts?: Part[]; isError?: boolean }
  | { type: "blob"; name?: string; hash: string; mediaType: string; size: number }
  | { type: "raw"; raw: unknown };

export type Stop = "end" | "toolCalls" | "length" | "refusal" | "error" | "limit" | "aborted" | "interrupted";

export interface Usage {
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  reasoning?: number;
  cost?: number;
}

export interface Request {
  number: number;
  cut?: number;
  length: number;
  definition?: string;
  time: string;
  hash: string;
  tokens: number;
  same: number;
  cause?: string;
  block?: string;
}

/** The answer being made. It changes between commits; the commit of the answer clears it. */
export interface Live {
  /** The entry that the answer will have; empty: none has begun. */
  id: string;
  author: string;
  turn: Seq;
  text: string;
  thinking: string;
  /** Calls that run, with the tail of what they have put out. */
  tools: { call: string; name: string; input?: unknown; output: string }[];
  retries?: number;
  retry?: string;
  compact?: string;
}

export interface Agent {
  name: string;
  model: string;
  tools: string[];
  skills: string[];
  /** Calls that wait for an approval. */
  waiting: { call: string; agent: string; tool: string; input?: unknown; question: string; reason?: string }[];
  /** Lines that are due and not built. */
  backlog: number;
  /** The open turn's first entry; 0: none is open. */
  turn: Seq;
  parked?: boolean;
  error?: Problem;
}

/** Something said while a turn runs, not placed yet. */
export interface Queued {
  seq: Seq;
  id: string;
  time?: string;
  key?: string;
  when?: "now" | "next";
  message?: Message;
  more?: boolean;
}

export interface Cached {
  number: number;
  cut?: number;
  definition?: string;
  hash: string;
  tokens: number;
  same: number;
}

export interface ThreadUsage {
  requests: number;
  turns: Usage;
  summary: Usage;
  lines: Usage;
  tokens: number;
  cost: number;
  /** The part of the input that came from a cache, 0 to 1. */
  cacheHit: number;
}

export interface Page {
  items: Entry[];
  next?: string;
  epoch: string;
  branch: number;
}

export type Path = string[];
export type Op =
  | ["r", View]
  | ["p", ["entries"], number, number, Entry[]]
  | ["s", Path, unknown]
  | ["d", Path]
  | ["a", Path, number, string];
export interface Batch {
  n: number;
  ops: Op[];
}

/** A run of messages that follow each other. */
export interface Range {
  /** The active message before the first; 0: there is none. */
  before: Seq;
  entries: Entry[];
}

/** Messages with after < seq < before are missing. */
export interface Hole {
  after: Seq;
  before: Seq;
}

export type FaultCode = "gap" | "index" | "offset" | "operation" | "path" | "value" | "broken" | "stale";

/** A batch that cannot be applied, or a page that does not belong to the view. */
export class Fault extends Error {
  constructor(code: FaultCode, reason: string);
  readonly code: FaultCode;
}

/** A window and the ranges around it, without any input or output. */
export class Replica {
  /** The view as of the last batch. It stays what it is. */
  readonly view: View | null;
  readonly n: number;
  /** Changes the replica; on a {@link Fault} it is as it was: call resume and watch again. */
  apply(batch: Batch): void;
  /** What to watch again with. The next batch must begin with a snapshot. */
  resume(): { from: Seq; epoch: string } | undefined;
  /** Adds a page. Throws a {@link Fault} "stale" where the page is of another branch than the view. */
  fetched(page: Page): void;
  /** All that is held, the oldest first; the window is, or ends, the last. */
  readonly ranges: Range[];
  readonly holes: Hole[];
  /** The active message before all that is held, 0 where there is none. */
  readonly earlier: Seq;
}

export type ErrorCode =
  | "invalid" | "configuration" | "provider" | "quota" | "limit" | "response" | "timeout"
  | "aborted" | "conflict" | "not-found" | "permission" | "storage";

export interface Problem {
  /** "aborted" too where no answer came. */
  code: ErrorCode;
  message: string;
  op?: string;
  thread?: string;
  hint?: string;
  details?: unknown;
}

/** What a call fails with. */
export class SkeinError extends Error implements Problem {
  constructor(what: Partial<Problem> & { message: string; status?: number; cause?: unknown });
  readonly code: ErrorCode;
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly op?: string;
  readonly thread?: string;
  readonly hint?: string;
  readonly details?: unknown;
}

export type State = "live" | "catching up" | "offline" | "gone";

export interface WatchOptions {
  /** How many of the newest messages the window begins with; default 50. */
  tail?: number;
  /** Begin at this message instead. */
  from?: Seq;
  /** Something changed; the batch that did it, none for a page. */
  onChange?(watch: Watch, batch?: Batch): void;
  /** The link stands differently. "gone" is for good; else it comes back by itself. */
  onState?(state: State, reason: string, watch: Watch): void;
}

/** A thread that is followed until it is closed. */
export class Watch {
  private constructor();
  readonly thread: string;
  readonly state: State;
  readonly reason: string;
  readonly replica: Replica;
  /** The view as of the last batch, null before the first. */
  readonly view: View | null;
  readonly ranges: Range[];
  readonly holes: Hole[];
  readonly held: boolean;
  /** Asks the server to send nothing; let go on, one snapshot brings what was missed. */
  hold(on: boolean): void;
  /** Fetches a page before the window and what joins it, or before a seq. Says whether there is more. */
  fetchEarlier(what?: { before?: Seq; limit?: number; signal?: AbortSignal }): Promise<boolean>;
  close(): void;
}

/** The times of a link, in milliseconds. */
export interface Pace {
  /** The wait before the first attempt to come back; it doubles up to max. Default 250, 15,000. */
  min: number;
  max: number;
  /** A link that was up this long begins anew with min. Default 60,000. */
  health: number;
  /** Between two looks at whether a link is alive, and how long it may take to answer. Default 20,000, 10,000. */
  ping: number;
  patience: number;
  /** How long a snapshot may be on its way over a WebSocket. Default 60,000. */
  snapshot: number;
}

export interface ClientOptions {
  /** Such as http://127.0.0.1:8417; in a browser the default is the page's origin. */
  url?: string;
  /** An access token, or what gives one. A page of the server's own has a session cookie instead. */
  token?: string | (() => string | Promise<string>);
  /** Where one-use tickets for WebSockets come from; the default asks the server, with the token. */
  ticket?: () => string | Promise<string>;
  fetch?: typeof fetch;
  /** The WebSocket to use; null: server-sent events. The default is the platform's, where it has one. */
  WebSocket?: (new (url: string) => WebSocket) | null;
  pace?: Partial<Pace>;
}

export interface RequestOptions {
  query?: Record<string, unknown>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A thread's state. */
export interface Thread {
  id: string;
  root: string;
  space?: string;
  title?: string;
  meta?: unknown;
  created: string;
  updated: string;
  epoch: string;
  /** The seq of the last entry, and of the newest active message. */
  tip: Seq;
  last: Seq;
  /** Active messages. */
  length: number;
  branch: number;
  /** The seq of the cut in force, 0: none. */
  cut: Seq;
  cuts: number;
  /** The open turn's first entry, 0: none. */
  turn: Seq;
  parked?: boolean;
  inbox?: Seq[];
  backlog: number;
  indexed: number;
}

export interface Settings {
  agent?: string;
  model?: string;
  strategy?: string;
  /** An IANA name; absent: UTC. */
  zone?: string;
  [more: string]: unknown;
}

/** What is said. Only text, or a blob, is required. */
export interface NewMessage {
  text?: string;
  /** Where no token is needed; else it is the token's name. */
  author?: string;
  to?: string[];
  audience?: string[];
  /** Files that were put before. */
  blobs?: { hash: string; name?: string }[];
  /** Makes a retry safe: the same key and content again says nothing. */
  key?: string;
  meta?: unknown;
  when?: "now" | "next";
  /** false: it is only stored, and nobody answers. */
  reply?: boolean;
}

/** Where a message stands; index is absent while it waits for the turn that runs. */
export interface Said {
  id: string;
  seq: Seq;
  index?: number;
}

/** An entry of the log, of whatever kind, whole. */
export interface LogEntry extends Omit<Entry, "index"> {
  kind: "message" | "cut" | "queued" | "approval" | "turn" | "rewind" | "reset" | "title" | "erase";
  index?: number;
  [body: string]: unknown;
}

/** A line: span is id+n, the n messages from index id on. */
export interface Line {
  span: string;
  text: string;
  missing?: boolean;
}

export interface Node {
  span: string;
  seq: Seq;
  text: string;
  by: string;
  version?: number;
  time: string;
  usage?: Usage;
}

/** A page, from 1, of a message. */
export interface Reading {
  id: number;
  seq: Seq;
  author?: string;
  to?: string[];
  role?: string;
  time: string;
  text: string;
  page: number;
  pages: number;
}

export interface Outline {
  thread: string;
  messages: number;
  /** The index of the first message that the model gets whole. */
  boundary: number;
  cut: number;
  lines: { id: number; n: number; text: string }[];
  tail: { from: number; weight: number; low: number; high: number };
  backlog: number;
  error?: string;
  strategy?: string;
}

export interface Results {
  words: string[];
  /** The best first. An id of -1 is of a message that was undone; marks are bytes of the text. */
  hits: { id: number; seq: Seq; text: string; marks: { start: number; end: number }[]; score: number; before?: Line[]; after?: Line[] }[];
  capped?: number;
}

export interface Prompt {
  sections: { name: string; tokens: number; messages: unknown[] }[];
  tokens: number;
  marks: unknown[];
  ledger: unknown;
}

/** An answer's request, of the ledger. */
export interface LedgerRow {
  seq: Seq;
  time: string;
  agent: string;
  model?: string;
  stop?: Stop;
  undone?: boolean;
  usage?: Usage;
  request: Request;
}

export interface UsageReport {
  requests: number;
  turns: Usage;
  lines: Usage;
  summary: Usage;
  tokens: number;
  same: number;
  agents?: Record<string, Usage>;
  last?: Record<string, Request>;
}

/** Which messages a page holds: before > seq > after, the newest first. */
export interface PageQuery {
  before?: Seq;
  after?: Seq;
  /** 50; at most 200. */
  limit?: number;
  order?: "asc" | "desc";
  /** The next of the page before. */
  cursor?: string;
  inactive?: boolean;
  signal?: AbortSignal;
}

/** A Skein server. Every call fails with a {@link SkeinError}. */
export class Client {
  constructor(options?: ClientOptions);
  readonly url: string;

  threads(query?: { limit?: number; cursor?: string }): Promise<{ items: Thread[]; next?: string }>;
  create(thread?: { id?: string; title?: string; meta?: unknown; settings?: Settings }): Promise<Thread>;
  thread(id: string): Promise<Thread>;
  change(id: string, what: { title?: string; meta?: unknown; settings?: Settings }): Promise<Thread>;
  /** It can be brought back within seven days. */
  delete(id: string): Promise<void>;

  /** Once it is answered the message is durable; the answer comes by the watches. */
  say(id: string, message: string | NewMessage): Promise<Said>;
  reply(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  approve(id: string, call: string, how?: { scope?: "once" | "thread" }): Promise<void>;
  deny(id: string, call: string, reason?: string): Promise<void>;
  /** Undoes every message after the one at seq. */
  rewind(id: string, seq: Seq): Promise<Thread>;
  fork(id: string, how?: { seq?: Seq; id?: string; title?: string }): Promise<Thread>;
  reset(id: string): Promise<Thread>;

  page(id: string, query?: PageQuery): Promise<Page>;
  entry(id: string, seq: Seq): Promise<LogEntry>;
  prompt(id: string, query?: { agent?: string; at?: Seq }): Promise<Prompt>;
  requests(id: string, query?: { limit?: number; before?: Seq }): Promise<{ items: LedgerRow[]; next?: Seq }>;
  outline(id: string): Promise<Outline>;
  nodes(id: string, query?: { level?: number; from?: number; count?: number }): Promise<{ items: Node[] }>;
  zoom(id: string, query: { id: number; n?: number; page?: number }): Promise<{ span: string; lines?: Line[]; message?: Reading }>;
  read(id: string, query: { id: number; count?: number }): Promise<{ messages: Reading[]; next?: number }>;
  /** Searches a thread. */
  search(q: string, query: { thread: string; limit?: number; before?: number; after?: number; inactive?: boolean }): Promise<Results>;
  /** Searches the threads that were updated last. */
  search(q: string, query?: { limit?: number }): Promise<{ items: { thread: string; title?: string; found: Results }[]; searched: number; more?: boolean }>;
  usage(id: string): Promise<UsageReport>;
  agents(): Promise<{ items: { name: string; default?: boolean }[] }>;

  /** Keeps bytes beside a thread, under their SHA-256 in lower-case hex. */
  putBlob(id: string, sha256: string, bytes: BodyInit, what?: { name?: string; mediaType?: string }): Promise<Part>;
  /** Fetches bytes that a message holds; with its seq they are found sooner. */
  blob(id: string, sha256: string, query?: { seq?: Seq }): Promise<Blob>;

  /** Follows a thread until the watch is closed. All watches share one WebSocket. */
  watch(thread: string, options?: WatchOptions): Watch;
  /** Ends all watches. */
  close(): void;

  /** Asks for a path and reads the JSON of the answer. */
  call(method: string, path: string, options?: RequestOptions): Promise<any>;
  /** Sends a request and gives the response, whatever it is. */
  send(method: string, path: string, options?: RequestOptions): Promise<Response>;
}

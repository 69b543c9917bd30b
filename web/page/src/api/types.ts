// What the server says, as it says it. Field for field these are the values of
// the packages thread and view.

export interface Part {
  type: "text" | "thinking" | "toolCall" | "toolResult" | "blob" | "raw" | (string & {});
  text?: string;
  redacted?: boolean;
  id?: string;
  name?: string;
  input?: unknown;
  call?: string;
  parts?: Part[];
  isError?: boolean;
  hash?: string;
  mediaType?: string;
  size?: number;
  raw?: unknown;
}

export interface TokenUsage {
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
  time: string;
  tokens: number;
  same: number;
  cause?: string;
  block?: string;
}

export interface Message {
  author: string;
  to?: string[];
  audience?: string[];
  role: "user" | "assistant" | "tool";
  parts: Part[];
  turn?: number;
  queued?: number;
  meta?: unknown;
  weight?: number;
  model?: string;
  stop?: string;
  usage?: TokenUsage;
  request?: Request;
}

/** One message of a thread. Without `message` it is one that may not be seen, or was erased. */
export interface Entry {
  seq: number;
  id: string;
  prev: number;
  index: number;
  time?: string;
  key?: string;
  message?: Message;
  /** Long parts were cut: read it by seq for the whole. */
  more?: boolean;
  undone?: boolean;
  past?: boolean;
}

/** An entry of the log, of any kind; of the kinds besides messages only cuts are read. */
export interface Logged {
  seq: number;
  kind: string;
  time?: string;
  undone?: boolean;
  cut?: { number: number; strategy: string; boundary: number; prev?: number; before?: CutWeight; after?: CutWeight };
}

export interface CutWeight {
  outline: number;
  tail: number;
}

/** An agent that may answer. */
export interface AgentName {
  name: string;
  default?: boolean;
}

export interface Head {
  seq: number;
  number: number;
  strategy: string;
  /** Index of the first message that the model gets whole. */
  boundary: number;
  lines?: number;
  summary?: string;
}

export interface Running {
  call: string;
  name: string;
  input?: unknown;
  output: string;
}

export interface Live {
  id: string;
  author: string;
  turn: number;
  text: string;
  thinking: string;
  tools: Running[];
  retries?: number;
  retry?: string;
  compact?: string;
}

export interface Asked {
  id: string; // of the question, and of no other
  seq: number;
  call: string;
  agent: string;
  tool: string;
  input?: unknown;
  question: string;
  reason?: string;
}

export interface Failure {
  code: string;
  op?: string;
  message?: string;
  hint?: string;
}

export interface AgentDoc {
  name: string;
  model: string;
  tools: string[] | null;
  skills: string[] | null;
  waiting: Asked[] | null;
  backlog: number;
  turn: number;
  parked?: boolean;
  error?: Failure;
}

export interface Queued {
  seq: number;
  id: string;
  time?: string;
  key?: string;
  when?: "now" | "next" | "";
  message?: Message;
  more?: boolean;
}

export interface UsageDoc {
  requests: number;
  turns: TokenUsage;
  summary: TokenUsage;
  lines: TokenUsage;
  tokens: number;
  cost: number;
  cacheHit: number;
}

export interface Docs {
  live: Live | null;
  agent: AgentDoc;
  inbox: Queued[] | null;
  provider: Record<string, unknown> | null;
  usage: UsageDoc;
}

export interface View {
  thread: { id: string; title: string; epoch: string; branch: number };
  head?: Head;
  entries: Entry[];
  from: number;
  before: number;
  earlier: boolean;
  length: number;
  fresh?: boolean;
  docs: Docs;
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
  | ["p", Path, number, number, Entry[]]
  | ["s", Path, unknown]
  | ["d", Path]
  | ["a", Path, number, string];

export interface Batch {
  n: number;
  ops: Op[];
}

/** A thread as the list shows it. */
export interface Thread {
  id: string;
  title?: string;
  root?: string;
  created: string;
  updated: string;
  deleted?: string;
  length: number;
  turn?: number;
  parked?: boolean;
}

/** A blob that is part of a message. */
export interface Blob {
  hash: string;
  name: string;
  mediaType: string;
  size: number;
}

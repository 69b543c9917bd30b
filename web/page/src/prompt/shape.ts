import type { Part } from "../api/types.ts";

// What a prompt is made of, as pure functions: where each message stands in it, in
// tokens; what of it is the same as last time; where its marks are.

export interface PromptMessage {
  role: string;
  parts: Part[];
}

export interface Section {
  name: string;
  tokens: number;
  messages: PromptMessage[];
}

export interface Mark {
  name: string;
  /** Index among the messages that are sent; -1: the end of the instructions. */
  message: number;
  part: number;
}

export interface Prompt {
  sections: Section[];
  tokens: number;
  marks: Mark[];
  ledger: { tokens: number; same: number; block?: string; cause?: string };
}

export type Known = "same" | "partly" | "new";

/** One message of the prompt with where it begins. Tokens are an estimate that adds up to its section's. */
export interface Placed {
  message: PromptMessage;
  tokens: number;
  at: number;
  /** Index among the messages that are sent; -1 for tools and instructions, which stand beside them. */
  index: number;
  known: Known;
}

export type GroupName = "tools" | "instructions" | "contexts" | "outline" | "messages" | "turn";

/** What of a prompt is shown under one heading. */
export interface Group {
  name: GroupName;
  tokens: number;
  at: number;
  messages: Placed[];
}

const isLine = /^\d+\+\d+\|/;

/** Says whether a message is the one that holds the outline. */
export const holdsLines = (m: PromptMessage): boolean => m.parts.length > 2 && isLine.test(m.parts[1]!.text ?? "");

const encoder = new TextEncoder();

/** What a part weighs beside others: the texts in it, in bytes, and a little for its frame. */
export function weigh(p: Part): number {
  let n = 8;
  if (p.text) n += encoder.encode(p.text).length;
  if (p.input !== undefined) n += JSON.stringify(p.input).length;
  for (const q of p.parts ?? []) n += weigh(q);
  if (p.type === "blob") n += p.mediaType?.startsWith("image/") ? 6400 : (p.size ?? 0);
  return n;
}

const weighAll = (m: PromptMessage): number => m.parts.reduce((n, p) => n + weigh(p), 0);

/** The sections as they are shown: the outline by itself, the whole messages by themselves. */
export function groups(p: Prompt): Group[] {
  const out: Group[] = [];
  let at = 0;
  let index = 0;
  const end = p.marks.find((m) => m.name === "previous")?.message;
  for (const s of p.sections) {
    const beside = s.name === "tools" || s.name === "instructions";
    const weights = s.messages.map(weighAll);
    const sum = weights.reduce((a, b) => a + b, 0) || 1;
    const placed = s.messages.map((message, i): Placed => {
      const tokens = (s.tokens * weights[i]!) / sum;
      const one: Placed = { message, tokens, at, index: beside ? -1 : index++, known: "new" };
      at += tokens;
      one.known = known(one, p, end);
      return one;
    });
    for (const one of placed) {
      const name = s.name !== "history" ? (s.name as GroupName) : holdsLines(one.message) ? "outline" : "messages";
      const last = out.at(-1);
      if (last?.name === name) {
        last.messages.push(one);
        last.tokens += one.tokens;
      } else out.push({ name, tokens: one.tokens, at: one.at, messages: [one] });
    }
  }
  return out;
}

/**
 * Where the request before ended is known by its message, where there is such a mark;
 * else by tokens, which are an estimate, so an edge close to a message's is taken for it.
 */
function known(one: Placed, p: Prompt, end: number | undefined): Known {
  if (end !== undefined) return one.index <= end ? "same" : "new";
  const slack = Math.max(4, one.tokens * 0.02);
  if (one.at + one.tokens <= p.ledger.same + slack) return "same";
  return one.at >= p.ledger.same - slack ? "new" : "partly";
}

const markWords: Record<string, string> = {
  instructions: "the end of the instructions",
  outline: "the outline's last whole block",
  previous: "where the request before ended",
  end: "the end",
};

/** Up to where the provider is asked to cache, in tokens from the start. */
export function marks(p: Prompt, all: readonly Group[]): { name: string; words: string; at: number }[] {
  const placed = all.flatMap((g) => g.messages);
  const rooms = placed.filter((m) => m.index < 0);
  return p.marks.map((m) => {
    const words = markWords[m.name] ?? m.name;
    if (m.message < 0) return { name: m.name, words, at: rooms.reduce((n, r) => n + r.tokens, 0) };
    const one = placed.find((q) => q.index === m.message);
    if (!one) return { name: m.name, words, at: p.tokens };
    const upTo = one.message.parts.slice(0, m.part + 1).reduce((n, q) => n + weigh(q), 0);
    return { name: m.name, words, at: one.at + (one.tokens * upTo) / (weighAll(one.message) || 1) };
  });
}

const causes: Record<string, string> = {
  model: "another model, or another effort of thinking",
  tools: "the tools changed",
  instructions: "the instructions changed",
  contexts: "the contexts changed",
  cut: "a cut: older messages became lines",
  age: "messages were let go by age",
  images: "images became references",
  history: "the messages themselves changed: some were undone or repaired",
};

/** Why a prompt does not begin with the one before, in words. */
export const causeWords = (cause: string): string => causes[cause] ?? cause;

/** How much is the same as last time, in a sentence. */
export function sameness({ ledger: g }: Prompt, count: (n: number) => string): string {
  if (g.same >= g.tokens && g.tokens > 0) return "All of it is the same as in the request before.";
  if (g.cause) return `${count(g.same)} tokens are the same as in the request before. Why not more: ${causeWords(g.cause)}.`;
  if (g.same === 0) return "There is nothing before it that it could share.";
  return `${count(g.same)} tokens are the same as in the request before; ${count(g.tokens - g.same)} are new.`;
}

export interface Line {
  id: number;
  n: number;
  text: string;
}

/** The lines in a part of the outline; undefined: it is no such part. */
export function linesOf(text: string): Line[] | undefined {
  if (!isLine.test(text)) return undefined;
  return text.replace(/\n$/, "").split("\n").map((line) => {
    const [, id, n, rest] = /^(\d+)\+(\d+)\|(.*)$/s.exec(line) ?? [];
    return { id: Number(id ?? -1), n: Number(n ?? 0), text: rest ?? line };
  });
}

/** A part as text, as it is sent or, where it is none, as what it is. */
export function textOf(p: Part): string {
  switch (p.type) {
    case "text":
      return p.text ?? "";
    case "thinking":
      return p.redacted ? "[thinking, redacted]" : `[thinking] ${p.text ?? ""}`;
    case "toolCall":
      return `→ ${p.name}: ${JSON.stringify(p.input)}`;
    case "toolResult":
      return `${p.name ?? "result"}: ${p.isError ? "error: " : ""}${(p.parts ?? []).map(textOf).join(" ")}`;
    case "blob":
      return `[${p.mediaType} ${p.name ?? ""}]`;
    default:
      return JSON.stringify(p.raw ?? p);
  }
}

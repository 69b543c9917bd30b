import { api, inWords, mayRetry, plainText } from "../api/api.ts";
import type { Entry, Page, Part } from "../api/types.ts";
import { notices } from "../state/notices.ts";
import { inputText } from "./parts.ts";

// A thread as a file: what the API tells of each message, or a text for people.

/** How a thread is written down: the file's ending and type, and what of each message. */
export interface Form {
  ending: string;
  type: string;
  /** What was undone is in it. */
  inactive: boolean;
  begin: (title: string) => string;
  write: (e: Entry) => string;
}

export const forms: Record<"lines" | "markdown", Form> = {
  lines: { ending: "jsonl", type: "application/x-ndjson", inactive: true, begin: () => "", write: (e) => `${JSON.stringify(e)}\n` },
  markdown: { ending: "md", type: "text/markdown", inactive: false, begin: (title) => `# ${title}\n`, write: asMarkdown },
};

/** A fence that is longer than any in the text. */
const fenced = (text: string, language = ""): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
};

const parts: Record<string, (p: Part) => string> = {
  text: (p) => p.text ?? "",
  toolCall: (p) => `Calls \`${p.name}\`:\n\n${fenced(inputText(p.input))}`,
  toolResult: (p) => `Result of \`${p.name}\`${p.isError ? ", which failed" : ""}:\n\n${fenced(plainText(p.parts ?? []))}`,
  blob: (p) => `Attached: ${p.name || "a file"} (${p.mediaType}, ${p.size} bytes)`,
};

function asMarkdown(e: Entry): string {
  const m = e.message;
  if (!m) return `\n## Message ${e.index}\n\nNot visible, or erased.\n`;
  const texts = m.parts.map((p) => parts[p.type]?.(p) ?? "").filter((t) => t.trim());
  return `\n## ${m.author} · #${e.index}${e.time ? ` · ${e.time}` : ""}\n\n${texts.join("\n\n")}\n`;
}

/** Tries again, a few times, what a server may do later. */
async function insisting<T>(work: () => Promise<T>, pause = 1000): Promise<T> {
  for (let n = 1; ; n++) {
    try {
      return await work();
    } catch (err) {
      if (n === 6 || !mayRetry(err)) throw err;
      await new Promise((r) => setTimeout(r, n * pause));
    }
  }
}

/** All messages of a thread, the oldest first, each whole. */
export async function* everything(thread: string, inactive: boolean): AsyncGenerator<Entry> {
  let cursor: string | undefined;
  do {
    const page: Page = await insisting(() => api.entries(thread, { order: "asc", limit: 200, ...(inactive && { inactive }), ...(cursor && { cursor }) }));
    for (const e of page.items) yield e.more ? whole(e, await insisting(() => api.entry(thread, e.seq))) : e;
    cursor = page.next;
  } while (cursor);
}

/** What is said of the entry, with its message as the log has it. */
function whole({ more: _, ...e }: Entry, read: Entry): Entry {
  return read.message ? { ...e, message: read.message } : e;
}

/** Gathers a thread in that form. */
export async function gather(thread: string, title: string, form: Form): Promise<Blob> {
  const pieces: Blob[] = [];
  let text = form.begin(title);
  for await (const e of everything(thread, form.inactive)) {
    if (!form.inactive && e.past) continue;
    text += form.write(e);
    if (text.length < 1 << 20) continue;
    pieces.push(new Blob([text]));
    text = "";
  }
  return new Blob([...pieces, text], { type: form.type });
}

/** Has a thread saved as a file. */
export async function save(thread: string, title: string, form: Form): Promise<void> {
  notices.say("The thread is being gathered…");
  try {
    const url = URL.createObjectURL(await gather(thread, title, form));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${thread}.${form.ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    notices.say(`It is saved as ${link.download}.`);
  } catch (err) {
    notices.trouble(`It could not be saved: ${inWords(err)}`);
  }
}

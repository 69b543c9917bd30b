import type { Asked } from "../api/types.ts";
import { plural } from "../shell/time.ts";

// What a call that waits would do, as lines for whoever decides.

/** One text of a call's input, under a title. */
export interface Piece {
  kind: "file" | "removed" | "added" | "command" | "input";
  title: string;
  text: string;
}

type Input = Record<string, unknown>;

/** The fields of a tool's input that are texts of many lines, and what is shown of them. */
const tools: Record<string, { fields: string[]; draw: (...texts: string[]) => Piece[] }> = {
  write_file: { fields: ["content"], draw: (content) => [lined("file", "The file's content", content!)] },
  edit_file: { fields: ["old", "new"], draw: (old, now) => [lined("removed", "Removed", old!, "- "), lined("added", "Added", now!, "+ ")] },
  shell: { fields: ["command"], draw: (command) => [{ kind: "command", title: "Command", text: plainly(command!) }] },
};

/** All of a call's input: what is told in lines as lines, the rest as indented JSON. */
export function piecesOf(a: Asked): Piece[] {
  const input = objectOf(a.input);
  const told = input && Object.hasOwn(tools, a.tool) ? tools[a.tool]! : undefined;
  if (!input || !told || !told.fields.every((f) => typeof input[f] === "string")) return json("Input", a.input);
  const rest = Object.entries(input).filter(([k, v]) => !told.fields.includes(k) && !(k === "path" && typeof v === "string" && a.question === `${a.tool}: ${v}`));
  return [...(rest.length ? json("With", Object.fromEntries(rest)) : []), ...told.draw(...told.fields.map((f) => input[f] as string))];
}

/** Whether the question is the tool and its input again, which the pieces show whole. */
export const saysNoMore = (a: Asked): boolean =>
  a.question.startsWith(`${a.tool}: {`) || (a.tool === "shell" && a.question === `shell: ${objectOf(a.input)?.command}`);

const objectOf = (v: unknown): Input | undefined => (typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Input) : undefined);

function json(title: string, v: unknown): Piece[] {
  if (v === undefined || v === null || Object.keys(objectOf(v) ?? { some: 1 }).length === 0) return [];
  return [{ kind: "input", title, text: plainly(JSON.stringify(v, null, 2)) }];
}

/** A text by its lines, each behind a mark; a last line that does not end is one too. */
function lined(kind: Piece["kind"], title: string, text: string, mark = ""): Piece {
  if (text === "") return { kind, title: `${title}: nothing`, text: "" };
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
  return { kind, title: `${title}: ${plural(lines.length, "line", "lines")}`, text: lines.map((l) => mark + plainly(l)).join("\n") };
}

/** Writes out the characters that an eye could be deceived by: those that turn or hide what is beside them. */
const plainly = (text: string): string => text.replace(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);

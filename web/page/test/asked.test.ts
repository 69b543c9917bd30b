import { describe, expect, it } from "vitest";
import type { Asked } from "../src/api/types.ts";
import { piecesOf, saysNoMore } from "../src/talk/asked.ts";

const asked = (tool: string, input: unknown, question = `${tool}: ${JSON.stringify(input)}`): Asked => ({ id: "q", seq: 1, call: "c", agent: "north", tool, input, question });

describe("what a call that waits would do", () => {
  it("is the lines of the file that write_file writes", () => {
    expect(piecesOf(asked("write_file", { path: "a.txt", content: "one\n\n  two\n" }, "write_file: a.txt"))).toEqual([{ kind: "file", title: "The file's content: 3 lines", text: "one\n\n  two" }]);
  });

  it("is the lines that edit_file takes and puts, marked as such", () => {
    const edit = asked("edit_file", { path: "a.txt", old: "one\r\ntwo", new: "three" }, "edit_file: a.txt");
    expect(saysNoMore(edit)).toBe(false);
    expect(piecesOf(edit)).toEqual([
      { kind: "removed", title: "Removed: 2 lines", text: "- one\n- two" },
      { kind: "added", title: "Added: 1 line", text: "+ three" },
    ]);
    expect(piecesOf(asked("edit_file", { path: "a.txt", old: "one", new: "" }, "edit_file: a.txt"))[1]).toEqual({ kind: "added", title: "Added: nothing", text: "" });
  });

  it("is shell's command as it is, and what else it is given", () => {
    const long = `echo ${"x".repeat(2000)}`;
    expect(piecesOf(asked("shell", { command: `cd a\n${long}`, timeout: 5 }))).toEqual([
      { kind: "input", title: "With", text: '{\n  "timeout": 5\n}' },
      { kind: "command", title: "Command", text: `cd a\n${long}` },
    ]);
    expect(saysNoMore(asked("shell", { command: "ls" }, "shell: ls"))).toBe(true);
    expect(saysNoMore(asked("shell", { command: "ls" }, "shell: ls (/tmp)"))).toBe(false);
  });

  it("is all else as indented JSON, also where a tool's input is not as it should be", () => {
    expect(piecesOf(asked("deploy", { what: "one", to: ["a"] }))).toEqual([{ kind: "input", title: "Input", text: '{\n  "what": "one",\n  "to": [\n    "a"\n  ]\n}' }]);
    expect(piecesOf(asked("edit_file", { path: "a", old: 3 }))[0]!.text).toBe('{\n  "path": "a",\n  "old": 3\n}');
    expect(piecesOf(asked("constructor", { a: 1 }))).toHaveLength(1);
    for (const nothing of [undefined, null, {}]) expect(piecesOf(asked("now", nothing))).toEqual([]);
  });

  it("names the path where the question does not", () => {
    expect(piecesOf(asked("write_file", { path: "a.txt", content: "x" }))[0]!.text).toContain('"path": "a.txt"');
  });

  it("shows characters that would deceive the eye as what they are", () => {
    expect(piecesOf(asked("shell", { command: "rm \u202Etxt.a\u200B\tb\u0007" }))[0]!.text).toBe("rm \\u{202e}txt.a\\u{200b}\tb\\u{7}");
  });
});

import { expect, test } from "vitest";
import { firstWords } from "../src/state/threads.ts";

test("a title is one line of the first words", () => {
  expect(firstWords("  Write the plan\n down ")).toBe("Write the plan down");
  const long = firstWords("word ".repeat(40));
  expect(long).toBe(`${"word ".repeat(11).trim()}…`);
  expect([...firstWords("𝄞".repeat(200))]).toHaveLength(60);
  expect(firstWords("a".repeat(60))).toBe("a".repeat(60));
  expect(firstWords(" \n")).toBe("");
});

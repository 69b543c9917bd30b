import { describe, expect, it } from "vitest";
import { format, parse } from "../src/route.ts";

const plain = (path: string) => {
  const r = parse(path);
  return r && { ...r, query: r.query.toString() };
};

describe("routes", () => {
  it.each([
    ["/", { query: "" }],
    ["/search?q=a%20b", { view: "search", query: "q=a+b" }],
    ["/t/launch", { thread: "launch", query: "" }],
    ["/t/launch/", { thread: "launch", query: "" }],
    ["/t/a%2Fb/m/12", { thread: "a/b", index: 12, query: "" }],
    ["/t/launch/prompt?at=7", { thread: "launch", view: "prompt", query: "at=7" }],
  ])("reads %s", (path, want) => expect(plain(path)).toEqual(want));

  it.each(["/t", "/t/", "/t/%E0%A4%A", "/t/a/m/x", "/t/a/m/1/2", "/t/a/Prompt", "/v1/threads", "/t/a/m/1234567890123456"])("knows nothing of %s", (path) =>
    expect(parse(path)).toBeUndefined(),
  );

  it("reads what it writes", () => {
    for (const thread of ["launch", "a/b", "é 日本 ?#&", "..", "%2e"]) {
      for (const to of [{ thread }, { thread, index: 0 }, { thread, view: "wire" }, { thread, view: "prompt", query: { at: "a&b=c#d" } }]) {
        const { query, ...rest } = parse(format(to))!;
        expect({ ...rest, ...(query.size && { query: Object.fromEntries(query) }) }).toEqual(to);
      }
    }
  });
});

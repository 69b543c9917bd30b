import { describe, expect, it } from "vitest";
import type { Made } from "../src/prompt/ledger.ts";
import { columns, cuts, cutsEver, inSentence, joined, money, sums, took } from "../src/prompt/ledger.ts";
import { LedgerReader } from "../src/prompt/reader.ts";
import { dragged, pixel, placeAt, ticks } from "../src/prompt/scale.ts";
import { groups, linesOf, marks, type Prompt, sameness, textOf } from "../src/prompt/shape.ts";

const said = (role: string, ...texts: string[]) => ({ role, parts: texts.map((text) => ({ type: "text" as const, text })) });

const prompt = (change: Partial<Prompt> = {}): Prompt => ({
  sections: [
    { name: "tools", tokens: 100, messages: [said("system", "zoom: opens a line")] },
    { name: "instructions", tokens: 50, messages: [said("system", "You are north.")] },
    { name: "contexts", tokens: 0, messages: [] },
    { name: "history", tokens: 350, messages: [said("user", "Between the tags", "0+2|ana: hello\n2+1|north: hi\n", "3+1|ana: so\n", "</conversation>"), said("assistant", "a".repeat(64)), said("user", "b".repeat(64))] },
    { name: "turn", tokens: 0, messages: [] },
  ],
  tokens: 500,
  marks: [{ name: "instructions", message: -1, part: 0 }, { name: "outline", message: 0, part: 1 }, { name: "previous", message: 1, part: 0 }, { name: "end", message: 2, part: 0 }],
  ledger: { tokens: 500, same: 430 },
  ...change,
});

describe("the parts of a prompt", () => {
  it("are in the order in which they are sent, the outline by itself, and add up", () => {
    const all = groups(prompt());
    expect(all.map((g) => g.name)).toEqual(["tools", "instructions", "outline", "messages"]);
    expect(all.reduce((n, g) => n + g.tokens, 0)).toBeCloseTo(500);
    let at = 0;
    for (const m of all.flatMap((g) => g.messages)) {
      expect(m.at).toBeCloseTo(at);
      at += m.tokens;
    }
  });

  it("number the messages that are sent, and not the tools and instructions beside them", () => {
    expect(groups(prompt()).flatMap((g) => g.messages.map((m) => m.index))).toEqual([-1, -1, 0, 1, 2]);
  });

  it("are the same as last time up to the message that the request before ended with", () => {
    expect(groups(prompt()).flatMap((g) => g.messages.map((m) => m.known))).toEqual(["same", "same", "same", "same", "new"]);
  });

  it("are told apart by tokens where the request before ends in the middle of one", () => {
    const p = prompt({ marks: [], ledger: { tokens: 500, same: 180, cause: "cut", block: "lines from 0+2" } });
    expect(groups(p).flatMap((g) => g.messages.map((m) => m.known))).toEqual(["same", "same", "partly", "new", "new"]);
    expect(sameness(p, String)).toBe("180 tokens are the same as in the request before. Why not more: a cut: older messages became lines.");
    expect(sameness(prompt(), String)).toContain("430 tokens are the same");
    expect(sameness(prompt({ ledger: { tokens: 9, same: 9 } }), String)).toContain("All of it");
    expect(sameness(prompt({ ledger: { tokens: 9, same: 0 } }), String)).toContain("nothing before it");
  });

  it("have their marks where they stand", () => {
    const p = prompt();
    const at = marks(p, groups(p));
    expect(at.map((m) => m.name)).toEqual(["instructions", "outline", "previous", "end"]);
    expect(at[0]!.at).toBeCloseTo(150);
    expect(at[1]!.at).toBeGreaterThan(150);
    expect(at[2]!.at).toBeGreaterThan(at[1]!.at);
    expect(at[3]!.at).toBeCloseTo(500);
    const unknown = prompt({ marks: [{ name: "odd", message: 77, part: 3 }] });
    expect(marks(unknown, groups(unknown))).toEqual([{ name: "odd", words: "odd", at: 500 }]);
  });

  it("take apart the lines of an outline and no other text", () => {
    expect(linesOf("0+2|ana: a|b\n2+1|x\n")).toEqual([{ id: 0, n: 2, text: "ana: a|b" }, { id: 2, n: 1, text: "x" }]);
    expect(linesOf("Between the tags stands 0+2|x")).toBeUndefined();
    expect(linesOf("")).toBeUndefined();
  });

  it("are shown as what they are where they are no text", () => {
    expect(textOf({ type: "toolCall", name: "read", input: { id: 3 } })).toBe('→ read: {"id":3}');
    expect(textOf({ type: "toolResult", name: "read", isError: true, parts: [{ type: "text", text: "no" }] })).toBe("read: error: no");
    expect(textOf({ type: "thinking", redacted: true })).toBe("[thinking, redacted]");
    expect(textOf({ type: "raw", raw: { a: 1 } })).toBe('{"a":1}');
  });
});

const made = (number: number, o: { cut?: number; tokens?: number; same?: number; usage?: Partial<Made["usage"]> } = {}): Made => ({
  seq: 10 * number, time: "2026-01-01T00:00:00Z", agent: "north",
  ...(o.usage && { usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, ...o.usage } }),
  request: { number, length: number, time: "2026-01-01T00:00:00Z", tokens: o.tokens ?? 100, same: o.same ?? 60, ...(o.cut && { cut: o.cut }) },
});

describe("the ledger", () => {
  it("sums what a model tells of its cache, and else what prompts have in common", () => {
    const told = [made(1, { usage: { input: 10, cacheWrite: 90, output: 5, cost: 0.01 } }), made(2, { usage: { input: 10, cacheRead: 90, output: 5, cost: 0.002 } })];
    expect(sums(told)).toMatchObject({ requests: 2, read: 90, written: 90, fresh: 20, output: 10, hit: 0.45, estimated: false });
    expect(sums(told).cost).toBeCloseTo(0.012);
    expect(sums([made(1, { usage: { input: 100, output: 7 } })])).toMatchObject({ read: 60, written: 0, fresh: 40, output: 7, hit: 0.6, estimated: true });
    expect(sums([])).toMatchObject({ requests: 0, hit: 0 });
    expect(took(made(1, { tokens: 5, same: 9 }), false).fresh).toBe(0);
  });

  it("has columns that hold every request once, however many there are", () => {
    const all = [...Array(10_000).keys()].map((i) => made(i + 1, { tokens: 100 + (i % 7), same: 50 }));
    for (const [from, to, most] of [[0, 10_000, 180], [0, 10_000, 10_000], [37, 9_991, 97], [5, 6, 10], [100, 117, 4]] as const) {
      const c = columns(all, from, to, most);
      expect(c.length).toBeLessThanOrEqual(most + 1);
      expect(c[0]!.first).toBe(from);
      expect(c.at(-1)!.last).toBe(to - 1);
      for (let i = 1; i < c.length; i++) expect(c[i]!.first).toBe(c[i - 1]!.last + 1);
      const sum = c.reduce((n, one) => n + (one.read + one.fresh) * (one.last - one.first + 1), 0);
      expect(sum).toBeCloseTo(all.slice(from, to).reduce((n, m) => n + m.request.tokens, 0));
    }
    expect(columns([], 0, 0, 10)).toEqual([]);
  });

  it("names the cuts by the first request after them", () => {
    const all = [made(1), made(2), made(3, { cut: 1, tokens: 40 }), made(4, { cut: 1 }), made(5, { cut: 3, tokens: 30 })];
    const told = (newest?: number, known: readonly Made[] = all) => cuts(known, newest).map((c) => [c.at, c.first, c.number, c.before, c.after]);
    expect(told()).toEqual([[2, 1, 1, 100, 40], [4, 2, 3, 100, 30]]);
    expect(told(5)).toEqual([[2, 1, 1, 100, 40], [4, 2, 3, 100, 30], [5, 4, 5, 30, 0]]); // two since the last request
    expect(told(35, [])).toEqual([[0, 1, 35, 0, 0]]); // read in, and never answered
    expect(told(35, [made(1, { cut: 35 }), made(2, { cut: 35 })])).toEqual([[0, 1, 35, 0, 100]]); // read in before the first request
    expect(told(4, [made(7, { cut: 3 }), made(8, { cut: 4 })])).toEqual([[1, 4, 4, 100, 100]]); // what is before the first that is known is not known
    expect(told(1, [made(1, { cut: 2 }), made(2, { cut: 1 }), made(3, { cut: 3 })])).toEqual([[0, 1, 2, 0, 100], [2, 3, 3, 100, 100]]); // an answer was undone between
  });

  it("counts as many cuts as the newest's number says", () => {
    expect([cutsEver([]), cutsEver([], 35), cutsEver([made(1, { cut: 4 }), made(2, { cut: 2 })], 2), cutsEver([made(1)], 35)]).toEqual([0, 35, 4, 35]);
  });

  it("joins pages in whatever order they come", () => {
    const all = [made(1), made(2), made(3), made(4)];
    expect(joined(joined([], [all[3]!, all[2]!]), [all[2]!, all[1]!, all[0]!])).toEqual(all);
  });

  it("says money with figures that count", () => {
    expect([0, 12.3456, 0.1, 0.0021564, 0.00000123].map(money)).toEqual(["$0", "$12.35", "$0.10", "$0.0022", "$0.0000012"]);
  });

  it("says a request in a sentence", () => {
    expect(inSentence(made(7, { usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, cost: 0.5 } }), true, String)).toBe("Request 7: 2 read from the cache, 3 written to it, 1 new, 4 answered, $0.50.");
    const after = made(8, { cut: 3 });
    expect(inSentence({ ...after, request: { ...after.request, cause: "cut" } }, false, String)).toBe("Request 8, the first after cut 3: 60 the same as before, 40 new, 0 answered.");
    expect(inSentence({ ...after, request: { ...after.request, cause: "tools" } }, false, String)).toContain("Request 8 (the tools changed): 60");
    expect(inSentence({ ...made(7), undone: true }, false, String)).toBe("Request 7: 60 the same as before, 40 new, 0 answered, undone since.");
  });
});

describe("reading the ledger", () => {
  const server = (count: number, bare = 0) => {
    const asked: (number | undefined)[] = [];
    const fetch = async (before: number | undefined, limit: number) => {
      asked.push(before);
      const all = [...Array(count).keys()].map((i) => made(i + 1)).reverse().filter((m) => before === undefined || m.seq < before).slice(0, limit);
      const last = all.at(-1)?.seq ?? before ?? 1e9;
      return { items: bare && asked.length <= bare ? [] : all, ...(last > 1 && { next: bare && asked.length <= bare ? 1e9 - asked.length : last }) };
    };
    return { fetch, asked };
  };

  it("ends with the first request that was ever made, and asks for nothing before it", async () => {
    const { fetch, asked } = server(450);
    const r = new LedgerReader("t", fetch);
    await r.read();
    expect(r.all.map((m) => m.request.number)).toEqual([...Array(450).keys()].map((i) => i + 1));
    expect([r.more, asked.length]).toEqual([false, 3]);
  });

  it("reads no more than its bounds by itself, and goes on when asked", async () => {
    const { fetch } = server(1000);
    const r = new LedgerReader("t", fetch);
    await r.read(400);
    expect([r.all.length, r.more]).toEqual([400, true]);
    await r.read();
    expect([r.all.length, r.more]).toEqual([1000, false]);
  });

  it("asks before it reads on through a past without requests", async () => {
    const { fetch, asked } = server(10, 5);
    const r = new LedgerReader("t", fetch);
    await r.read();
    expect([r.all.length, r.more, asked.length]).toEqual([0, true, 3]);
    await r.read();
    expect(r.all.length).toBe(10);
  });

  it("fetches what is new, however much that is", async () => {
    let count = 30;
    const r = new LedgerReader("t", (before, limit) => server(count).fetch(before, limit));
    await r.read();
    count = 95;
    await r.renew();
    expect(r.all.map((m) => m.request.number)).toEqual([...Array(95).keys()].map((i) => i + 1));
  });

  it("begins with the first request, where there was none before", async () => {
    let count = 0;
    const r = new LedgerReader("t", async (before, limit) => (count ? server(count).fetch(before, limit) : { items: [] }));
    await r.read();
    expect([r.all.length, r.more]).toEqual([0, false]);
    count = 1;
    await r.renew();
    expect(r.all.map((m) => m.request.number)).toEqual([1]);
  });

  it("keeps what it has where a page fails, and can go on", async () => {
    let fails = true;
    const good = server(450);
    const r = new LedgerReader("t", async (before, limit) => {
      if (before !== undefined && fails) throw new Error("down");
      return good.fetch(before, limit);
    });
    await r.read();
    expect([r.all.length, String(r.failed)]).toEqual([200, "Error: down"]);
    fails = false;
    await r.read();
    expect([r.all.length, r.failed]).toEqual([450, undefined]);
  });
});

describe("the chart's scales", () => {
  it("have round numbers that fill the axis", () => {
    expect(ticks(5800, 4)).toEqual([0, 2000, 4000]);
    expect(ticks(0.0034, 4)).toEqual([0, 0.001, 0.002, 0.003]);
    expect(ticks(0, 4)).toEqual([0]);
    for (let max = 0.0001; max < 1e9; max *= 3.7) {
      const t = ticks(max, 5);
      expect(t.length, String(max)).toBeGreaterThan(1);
      expect(t.length, String(max)).toBeLessThan(8);
      expect(t.at(-1)).toBeLessThanOrEqual(max * 1.001);
    }
  });

  it("find the place at a pixel that a place is drawn at", () => {
    const r = { from: 30, to: 190, left: 42, right: 642 };
    for (let i = r.from; i < r.to; i++) expect(placeAt(r, pixel(r, i + 0.5))).toBe(i);
    expect([placeAt(r, 41), placeAt(r, 642), placeAt({ ...r, to: 30 }, 100)]).toEqual([undefined, undefined, undefined]);
  });

  it("take a drag in any direction for what it went over, and a twitch for nothing", () => {
    const r = { from: 0, to: 100, left: 0, right: 1000 };
    expect(dragged(r, 105, 405)).toEqual([10, 41]);
    expect(dragged(r, 405, 105)).toEqual([10, 41]);
    expect(dragged(r, -50, 5000)).toEqual([0, 100]);
    expect([dragged(r, 100, 104), dragged(r, 101, 109)]).toEqual([undefined, undefined]);
  });
});

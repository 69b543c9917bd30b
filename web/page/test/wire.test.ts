import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Batch, Entry, Op, View } from "../src/api/types.ts";
import { lanes, opBytes, sentence, utf8, WireLog } from "../src/wire/log.ts";
import { isDemo } from "../src/state/demo.ts";
import { Tap } from "../src/wire/tap.ts";
import { until } from "./fixture.ts";

const entry = (index: number): Entry => ({ seq: index + 1, id: `m${index}`, prev: index, index, message: { author: "ana", role: "user", parts: [{ type: "text", text: `say ${index}` }] } });

const view = (from: number, length: number, o: Partial<View> = {}): View =>
  ({ thread: { id: "t", title: "", epoch: "e", branch: 1 }, entries: [...Array(length - from).keys()].map((i) => entry(from + i)), from: from + 1, before: from, earlier: from > 0, length, docs: { live: null } as View["docs"], ...o });

const batch = (n: number, ...ops: Op[]): Batch => ({ n, ops });

describe("the log of the wire", () => {
  it("shares out the bytes of a frame among its operations", () => {
    const b = batch(4, ["p", ["entries"], 4, 0, [entry(4)]], ["s", ["length"], 5]);
    const frame = utf8(JSON.stringify({ w: 1, ...b }));
    const bytes = opBytes(b, frame);
    expect(bytes).toEqual(b.ops.map((op) => utf8(JSON.stringify(op))));
    expect(bytes.reduce((x, y) => x + y)).toBeLessThan(frame);
    expect(opBytes(batch(1, ["r", view(0, 2)]), 1234)).toEqual([1234]);
    expect(utf8("héllo 🙂")).toBe(11);
  });

  it("keeps the newest operations, within bounds, and counts them all", () => {
    const log = new WireLog(50);
    log.add(batch(1, ["r", view(0, 2)]), 900, 1);
    for (let n = 2; n <= 100; n++) log.add(batch(n, ["p", ["entries"], n, 0, [entry(n)]], ["s", ["length"], n]), 100, n);
    expect([log.rows.length, log.operations, log.batches, log.bytes]).toEqual([50, 199, 100, 900 + 9900]);
    expect(log.rows[0]).toMatchObject({ n: 100, kind: "s", what: "set", where: "length", text: "100" });
    expect(log.rows[1]).toMatchObject({ n: 100, kind: "p", what: "append", text: "ana: say 100" });
    expect(log.snapshot).toMatchObject({ bytes: 900, messages: 2, since: 198 });
    expect(new Set(log.rows.map((r) => r.id)).size).toBe(50);
  });

  it("says what each step did", () => {
    const append: Op = ["p", ["entries"], 4, 0, [entry(4)]];
    const steps: [View | null, View, Batch, string][] = [
      [null, view(8, 12), batch(1, ["r", view(8, 12)]), "A snapshot: the last 4 messages of 12"],
      [view(0, 4), view(0, 5), batch(2, append), "One message came at the end, and the window holds 5 of at most 7"],
      [view(0, 7), view(4, 8), batch(3, append, ["p", ["entries"], 0, 4, []]), "its oldest 4 left in one splice"],
      [view(0, 7), view(0, 5), batch(3, ["p", ["entries"], 5, 2, []]), "2 messages left the end in one splice, since they were undone"],
      [view(0, 4), view(0, 4), batch(3, ["a", ["docs", "live", "text"], 3, "x"]), "only what is new of it was sent"],
      [view(0, 4), view(0, 4, { docs: { live: { text: "" } } as never }), batch(3, ["s", ["docs", "live"], {}]), "An answer is being made"],
      [view(0, 4), view(0, 4), batch(3, ["s", ["docs", "live"], null]), "The answer is made and kept"],
      [view(0, 4), view(0, 4), batch(3, ["s", ["docs", "usage"], {}], ["s", ["docs", "agent"], {}]), "changed: usage, agent"],
      [view(0, 4), view(4, 6), batch(3, ["r", view(4, 6)]), "holds just what was missed, 2 messages, and joins"],
      [view(0, 4), view(4, 4), batch(3, ["r", view(4, 4)]), "nothing was missed"],
      [view(0, 4), view(20, 24), batch(3, ["r", view(20, 24)]), "there is a hole that can be fetched"],
      [view(0, 4), view(1, 5), batch(3, ["r", view(1, 5)]), "One snapshot of the last 4 messages brings the one message that was missed, and leaves no hole"],
      [view(0, 4), view(0, 1), batch(3, ["r", view(0, 1)]), "were undone"],
      [view(0, 4), view(0, 4, { fresh: true }), batch(3, ["r", view(0, 4)]), "another log"],
    ];
    for (const [was, now, b, words] of steps) {
      expect(sentence(was, now, b, 4)).toContain(words);
      expect(sentence(was, now, b, 4), "one sentence").toMatch(/^[A-Z0-9][^.]*\.$/);
    }
  });
});

describe("store and window side by side", () => {
  const range = (from: number, to: number) => ({ entries: [...Array(to - from).keys()].map((i) => entry(from + i)) });

  it("say of each message where it is", () => {
    const l = lanes(12, view(8, 12), [range(2, 4), range(6, 12)], 10);
    expect(l.before).toBe(2);
    expect(l.blocks.map((b) => b.place[0]).join("")).toBe("hhnnhhwwww");
    expect([l.window, l.holes]).toEqual([[6, 10], 2]);
  });

  it("show what the store has and a window that was cut off does not", () => {
    const l = lanes(15, view(8, 12), [range(8, 12)], 8);
    expect(l.blocks.map((b) => `${b.index}${b.stored ? "" : "!"}${b.place[0]}`)).toEqual(["7n", "8w", "9w", "10w", "11w", "12n", "13n", "14n"]);
  });

  it("show what was undone and the window does not know of yet", () => {
    const l = lanes(9, view(8, 12), [range(8, 12)], 5);
    expect(l.blocks.map((b) => `${b.index}${b.stored ? "" : "!"}`)).toEqual(["7", "8", "9!", "10!", "11!"]);
    expect(lanes(12, view(5, 12), [range(5, 12)], 4).window).toEqual([0, 4]);
    expect(lanes(0, null, [], 5)).toMatchObject({ blocks: [], before: 0, window: [0, 0], holes: 0 });
  });
});

describe("only a demonstration is written to", () => {
  it("is known by its name", () => {
    expect(["demo-abc123x", "demo-000000"].map(isDemo)).toEqual([true, true]);
    expect(["demo", "demo-", "demo-ABC123", "my-demo-abc123", "ledger", "demo-abc123/../x"].map(isDemo)).toEqual([false, false, false, false, false, false]);
  });
});

/** A socket that a test holds the other end of. */
class Wire extends EventTarget {
  static all: Wire[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((e: MessageEvent) => void) | null = null;
  onclose: ((e: { reason: string }) => void) | null = null;
  sent: { watch?: number; from?: number }[] = [];

  constructor() {
    super();
    Wire.all.push(this);
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as { watch?: number });
  }

  close(): void {
    this.readyState = 3;
    this.onclose?.({ reason: "" });
  }

  give(frame: object): string {
    const data = JSON.stringify(frame);
    const e = new MessageEvent("message", { data });
    this.dispatchEvent(e);
    this.onmessage?.(e);
    return data;
  }
}

describe("the tapped link", () => {
  let tap: Tap;
  beforeEach(() => {
    Wire.all = [];
    tap = new Tap({ WebSocket: Wire as never, url: "http://here", fetch: (() => Promise.reject(new TypeError("down"))) as never });
  });
  afterEach(() => tap.close());

  it("knows the bytes of a frame before whoever is told of its batch", async () => {
    let told = 0;
    tap.client.watch("t", { tail: 4, onChange: () => (told = tap.frame) });
    await until(() => Wire.all[0]?.sent.length === 1);
    const data = Wire.all[0]!.give({ w: Wire.all[0]!.sent[0]!.watch, n: 1, ops: [["r", view(0, 4)]] });
    expect(told).toBe(utf8(data));
  });

  it("comes back with what it saw last once it is mended, and not before", async () => {
    const w = tap.client.watch("t", { tail: 4 });
    await until(() => Wire.all[0]?.sent.length === 1);
    Wire.all[0]!.give({ w: Wire.all[0]!.sent[0]!.watch, n: 1, ops: [["r", view(0, 4)]] });
    tap.sever();
    await until(() => w.state === "offline");
    await new Promise((r) => setTimeout(r, 700));
    expect([Wire.all.length, w.state]).toEqual([1, "offline"]);
    tap.mend();
    await until(() => Wire.all[1]?.sent.length === 1);
    expect(Wire.all[1]!.sent[0]).toMatchObject({ from: 5 });
  });
});

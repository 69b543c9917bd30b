import { describe, expect, it } from "vitest";
import { holds } from "../src/outline/draw.ts";
import { beside, clamped, exists, fitted, type Frame, halves, levelOf, levels, lineAt, messageAt, onScreen, panned, parent, parseSpan, pathTo, roots, rowOf, runs, runSize, shown, spanText, whole, xOf, zoomed } from "../src/outline/geometry.ts";
import { type Node, Nodes } from "../src/outline/nodes.ts";
import { until } from "./fixture.ts";

const frame = (length: number, o: Partial<Frame> = {}): Frame => whole({ length, from: 0, to: 1, width: 800, row: 24, ...o });

/** Numbers from a seed, the same each time. */
function* random(seed: number): Generator<number, never> {
  for (let s = seed; ; ) {
    s = (s * 1103515245 + 12345) % 2147483648;
    yield s / 2147483648;
  }
}

describe("the tree of lines", () => {
  it("has a level for each power of two that fits", () => {
    expect([0, 1, 2, 3, 4, 1023, 1024, 1_000_000].map(levels)).toEqual([0, 1, 2, 2, 3, 10, 11, 20]);
  });

  it("covers a thread of any length once with its widest lines", () => {
    for (const length of [1, 2, 3, 7, 64, 1000, 10_000, 999_999, 1_000_000]) {
      let at = 0;
      for (const s of roots(length)) {
        expect(s.id).toBe(at);
        expect(exists(s, length)).toBe(true);
        expect(exists(parent(s), length)).toBe(false);
        at += s.n;
      }
      expect(at).toBe(length);
    }
  });

  it("goes from the widest line down to a message without a gap", () => {
    const path = pathTo({ id: 777_777, n: 1 }, 1_000_000);
    expect(path.at(-1)).toEqual({ id: 777_777, n: 1 });
    expect(path[0]).toEqual({ id: 524_288, n: 262_144 });
    for (let i = 1; i < path.length; i++) expect(halves(path[i - 1]!).map(spanText)).toContain(spanText(path[i]!));
  });

  it("reads the names of lines that can be, and no others", () => {
    expect(parseSpan("1024+64")).toEqual({ id: 1024, n: 64 });
    for (const bad of [null, undefined, "", "3", "3+2", "4+3", "-4+4", "4+0", "x+1", "4+4 ", "1e3+1"]) expect(parseSpan(bad), String(bad)).toBeUndefined();
  });

  it("is walked by keys, and ends where the thread does", () => {
    const s = { id: 8, n: 4 };
    expect(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].map((k) => beside(s, k, 16))).toEqual([{ id: 4, n: 4 }, { id: 12, n: 4 }, { id: 8, n: 8 }, { id: 8, n: 2 }]);
    expect(beside({ id: 0, n: 4 }, "ArrowLeft", 16)).toBeUndefined();
    expect(beside({ id: 12, n: 4 }, "ArrowRight", 18)).toBeUndefined();
    expect(beside({ id: 0, n: 16 }, "ArrowUp", 18)).toBeUndefined();
    expect(beside({ id: 3, n: 1 }, "ArrowDown", 18)).toEqual({ id: 3, n: 1 });
    expect(beside(s, "a", 16)).toBeUndefined();
  });
});

describe("the frame", () => {
  it("never leaves the thread, whatever is done with it", () => {
    const r = random(7);
    for (const length of [1, 2, 5, 1000, 1_000_000]) {
      let f = frame(length);
      for (let i = 0; i < 400; i++) {
        const [what, x, by] = [r.next().value, r.next().value * f.width, r.next().value];
        f = what < 0.5 ? zoomed(f, x, 0.2 + by * 5) : what < 0.8 ? panned(f, (by - 0.5) * 5000) : fitted(f, { id: Math.floor(by * length), n: 1 });
        expect(f.from).toBeGreaterThanOrEqual(0);
        expect(f.to).toBeLessThanOrEqual(length + 1e-6);
        expect(f.to - f.from).toBeGreaterThanOrEqual(Math.min(4, length) - 1e-6);
      }
    }
  });

  it("keeps what is under the pointer there while it zooms", () => {
    const f = frame(1_000_000);
    const at = messageAt(f, 300);
    let near = f;
    for (let i = 0; i < 12; i++) near = zoomed(near, 300, 2);
    expect(messageAt(near, 300)).toBeCloseTo(at, 3);
    expect(near.to - near.from).toBeLessThan(300);
  });

  it("finds at a point the line that is drawn there", () => {
    const f = clamped({ ...frame(10_000), from: 4000, to: 4600 });
    for (let level = 0; level < levels(f.length); level++) {
      const [first, end] = onScreen(f, level);
      for (let i = first; i < end; i++) {
        const s = { id: i * 2 ** level, n: 2 ** level };
        const x = Math.min(f.width - 1, Math.max(0, (xOf(f, s.id) + xOf(f, s.id + s.n)) / 2));
        if (xOf(f, s.id) > x || xOf(f, s.id + s.n) <= x) continue;
        expect(lineAt(f, x, rowOf(f, level) * f.row + 5)).toEqual(s);
      }
    }
    expect(lineAt(f, -1, 5)).toBeUndefined();
    expect(lineAt(f, 5, 100_000)).toBeUndefined();
    expect(lineAt(frame(1_000_000), 799, 5)).toBeUndefined(); // there is no line that wide at the end
  });

  it("moves only as far as it takes to show a line", () => {
    const f = clamped({ ...frame(10_000), from: 1000, to: 1100 });
    expect(shown(f, { id: 1032, n: 8 })).toBe(f);
    const right = shown(f, { id: 1104, n: 8 });
    expect([right.to - right.from, right.from > f.from, right.from <= 1104, right.to >= 1112]).toEqual([100, true, true, true]);
    expect(shown(f, { id: 0, n: 8192 })).toBe(f);
    const small = shown(frame(1_000_000), { id: 5000, n: 1 });
    expect(small.to - small.from).toBeLessThan(100);
  });

  it("wants little however long the thread is: only lines that can be read, on the screen", () => {
    for (const length of [100, 10_000, 1_000_000, 50_000_000]) {
      let f = frame(length, { width: 1600 });
      for (let i = 0; i < 30; i++) {
        const all = runs(f);
        expect(all.length).toBeLessThan(80);
        for (const { level, number } of all) {
          const [first, end] = onScreen(f, level);
          expect(number * runSize).toBeLessThan(end);
          expect((number + 1) * runSize).toBeGreaterThan(first);
        }
        f = zoomed(f, 1234, 2);
      }
    }
  });
});

const node = (level: number, id: number): Node => ({ span: `${id}+${2 ** level}`, seq: id, text: `line ${id}`, by: "joined", time: "" });

/** A server of lines for a thread of that length. */
function lines(length: number) {
  const state = { length, asked: 0, running: 0, most: 0, down: false, wait: Promise.resolve() };
  const fetch = async (level: number, from: number, count: number, signal: AbortSignal): Promise<Node[]> => {
    state.asked++;
    state.most = Math.max(state.most, ++state.running);
    try {
      await state.wait;
      signal.throwIfAborted();
      if (state.down) throw new Error("down");
      const n = 2 ** level;
      return [...Array(count).keys()].map((i) => from + i * n).filter((id) => id + n <= state.length).map((id) => node(level, id));
    } finally {
      state.running--;
    }
  };
  return { state, fetch };
}

const settled = async (n: Nodes): Promise<void> => {
  for (let i = 0; i < 200 && (i < 3 || n.running); i++) await new Promise((r) => setTimeout(r, 0));
};

describe("the lines that are fetched", () => {
  it("are each fetched once, a few requests at a time", async () => {
    const { state, fetch } = lines(1000);
    const n = new Nodes(fetch, () => {});
    const wanted = [...Array(16).keys()].map((number) => ({ level: 0, number }));
    n.want(wanted, 1000);
    n.want(wanted, 1000);
    await settled(n);
    expect([state.asked, state.most]).toEqual([16, 4]);
    expect(n.get({ id: 999, n: 1 })?.text).toBe("line 999");
    n.want(wanted, 1000);
    await settled(n);
    expect(state.asked).toBe(16);
    expect([n.get({ id: 0, n: 2 }), n.get({ id: 1001, n: 1 })]).toEqual([undefined, null]);
  });

  it("that are no longer on the screen are given up", async () => {
    const { state, fetch } = lines(100_000);
    let go = () => {};
    state.wait = new Promise((r) => (go = r));
    const n = new Nodes(fetch, () => {});
    n.want([...Array(50).keys()].map((number) => ({ level: 0, number })), 100_000);
    n.want([{ level: 5, number: 0 }], 100_000);
    go();
    await settled(n);
    expect(state.asked).toBeLessThanOrEqual(5);
    expect(n.get({ id: 0, n: 32 })?.text).toBe("line 0");
    expect(n.get({ id: 0, n: 1 })).toBeUndefined();
  });

  it("are fetched again at the thread's end once it has grown, and nowhere else", async () => {
    const { state, fetch } = lines(100);
    const n = new Nodes(fetch, () => {});
    const wanted = [{ level: 0, number: 0 }, { level: 0, number: 1 }];
    n.want(wanted, 100);
    await settled(n);
    expect(n.get({ id: 100, n: 1 })).toBeNull();
    state.length = 110;
    n.want(wanted, 110);
    await settled(n);
    expect(state.asked).toBe(3);
    expect(n.get({ id: 100, n: 1 })?.text).toBe("line 100");
  });

  it("that are kept are bounded: those that were looked at longest ago go", async () => {
    const { fetch } = lines(1_000_000);
    const n = new Nodes(fetch, () => {}, { atOnce: 4, kept: 10, pause: 1 });
    for (let k = 0; k < 40; k++) {
      n.want([{ level: 8, number: 0 }, { level: 0, number: k }], 1_000_000);
      await settled(n);
    }
    expect(n.kept).toBe(10);
    expect(n.get({ id: 0, n: 256 })?.text).toBe("line 0");
    expect(n.get({ id: 0, n: 1 })).toBeUndefined();
  });

  it("are asked for again after a failure, after a rest", async () => {
    const { state, fetch } = lines(100);
    state.down = true;
    const n = new Nodes(fetch, () => {}, { atOnce: 2, kept: 10, pause: 5 });
    n.want([{ level: 0, number: 0 }], 100);
    await until(() => n.failed !== undefined);
    expect(String(n.failed)).toBe("Error: down");
    const asked = state.asked;
    await until(() => state.asked > asked);
    state.down = false;
    await until(() => n.get({ id: 1, n: 1 })?.text === "line 1");
    expect(n.failed).toBeUndefined();
  });

  it("are forgotten when the thread goes back", async () => {
    const { fetch } = lines(100);
    const n = new Nodes(fetch, () => {});
    n.want([{ level: 0, number: 0 }], 100);
    await settled(n);
    n.clear();
    expect([n.get({ id: 1, n: 1 }), n.kept]).toEqual([undefined, 0]);
  });
});

describe("what was found", () => {
  it("lies in the lines above it and in no others", () => {
    const hits = [3, 17, 64, 900];
    for (let level = 0; level < 10; level++) {
      for (let i = 0; i * 2 ** level < 1024; i++) {
        const s = { id: i * 2 ** level, n: 2 ** level };
        expect(holds(hits, s)).toBe(hits.some((h) => h >= s.id && h < s.id + s.n));
      }
    }
    expect(holds([], { id: 0, n: 1024 })).toBe(false);
    expect(levelOf({ id: 0, n: 1024 })).toBe(10);
  });
});

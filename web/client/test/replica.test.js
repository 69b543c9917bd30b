import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Fault, Replica } from "../index.js";
import { Model, randomness } from "../testing/model.js";

const seqs = (entries) => entries.map((e) => e.seq);
const held = (replica) => replica.ranges.map((r) => seqs(r.entries));
const faults = (code) => (err) => err instanceof Fault && err.code === code;

/** A model of n messages, and a replica that watches it. */
function watched({ said = 0, tail = 4, from } = {}) {
  const model = new Model({ tail });
  for (let i = 0; i < said; i++) model.say();
  const replica = new Replica();
  const watch = model.watch({ from }, (batch) => replica.apply(batch));
  return { model, replica, watch };
}

/** Loses the link, lets things happen, and watches again. */
function away({ model, watch, replica }, happens) {
  watch.close();
  happens();
  return model.watch(replica.resume(), (batch) => replica.apply(batch));
}

test("the worked cases", (t) => {
  const folder = process.env.SKEIN_VECTORS ?? (process.env.SKEIN_SHARED ? `${process.env.SKEIN_SHARED}/vectors` : fileURLToPath(new URL("../../../../shared/vectors", import.meta.url)));
  const file = `${folder}/window.json`;
  if (!existsSync(file)) {
    assert.notEqual(process.env.SKEIN_REQUIRE, "all", `${file} is missing`);
    return t.skip(`${file} is missing`);
  }
  const cases = JSON.parse(readFileSync(file, "utf8"));
  assert.ok(cases.length > 0);
  for (const c of cases) {
    const active = [...c.active];
    const entry = (seq) => ({ seq, id: `${seq}`, prev: active[active.indexOf(seq) - 1] ?? 0, index: active.indexOf(seq) });
    const replica = new Replica();
    replica.apply({
      n: 1,
      ops: [["r", { thread: { id: "t", epoch: "e", branch: 1 }, ...c.snapshot, from: c.from ?? c.snapshot.entries[0], entries: c.snapshot.entries.map(entry), docs: {} }]],
    });
    let n = 1;
    for (const a of c.appends) {
      active.push(a.seq);
      const before = active[active.indexOf(a.entries[0]) - 1] ?? 0;
      const ops = a.ops.map(([code, path, index, remove, items]) => [code, [path], index, remove, items.map(entry)]);
      replica.apply({ n: ++n, ops: [...ops, ["s", ["from"], a.entries[0]], ["s", ["before"], before], ["s", ["earlier"], before !== 0], ["s", ["length"], active.length]] });
      assert.deepEqual(seqs(replica.view.entries), a.entries, `${c.name}: after ${a.seq}`);
    }
  }
});

test("a batch that does not fit is a fault and changes nothing", () => {
  const { model, replica } = watched({ said: 3 });
  model.piece("Grüße 👋");
  const before = replica.view;
  const next = replica.n + 1;
  const bad = {
    gap: [{ n: next + 1, ops: [["d", ["head"]]] }, { n: next - 1, ops: [["r", before]] }],
    index: [{ n: next, ops: [["p", ["entries"], 4, 0, []]] }, { n: next, ops: [["p", ["entries"], 0, 4, []]] }, { n: next, ops: [["p", ["entries"], -1, 0, []]] }],
    offset: [{ n: next, ops: [["a", ["docs", "live", "text"], 8, "!"]] }],
    operation: [{ n: next, ops: [["z"]] }, { n: next, ops: [null] }, { n: next }, null, { n: next, ops: [["s", ["length"]]] }, { n: next, ops: [["s", [], 1]] }, { n: next, ops: [["p", ["entries"], 0, 0]] }],
    path: [{ n: next, ops: [["a", ["docs", "live", "tools", "0", "output"], 0, "x"]] }, { n: next, ops: [["p", ["docs", "inbox"], 0, 0, []]] }, { n: next, ops: [["a", ["docs", "agent"], 0, "x"]] }],
    value: [{ n: next, ops: [["r", null]] }, { n: next, ops: [["r", { entries: [] }]] }],
    broken: [
      { n: next, ops: [["s", ["length"], 9]] },
      { n: next, ops: [["s", ["before"], 1]] },
      { n: next, ops: [["p", ["entries"], 3, 0, [{ seq: 9, prev: 8, index: 3 }]], ["s", ["length"], 4]] },
      { n: next, ops: [["p", ["entries"], 1, 1, []], ["s", ["length"], 2]] },
      { n: next, ops: [["s", ["from"], 2]] },
    ],
  };
  for (const [code, batches] of Object.entries(bad)) {
    for (const batch of batches) {
      assert.throws(() => replica.apply(batch), faults(code), `${code}: ${JSON.stringify(batch)}`);
      assert.equal(replica.view, before);
    }
  }
  model.piece("!");
  assert.equal(replica.view.docs.live.text, "Grüße 👋!");
});

test("offsets count bytes of UTF-8", () => {
  const { model, replica } = watched({ said: 1 });
  const pieces = ["é", "漢字", "👩‍👩‍👧", " ", "plain", "🙂"];
  for (const p of pieces) model.piece(p);
  assert.equal(replica.view.docs.live.text, pieces.join(""));
  const at = new TextEncoder().encode(pieces.join("")).length;
  assert.throws(() => replica.apply({ n: replica.n + 1, ops: [["a", ["docs", "live", "text"], pieces.join("").length, "x"]] }), faults("offset"));
  replica.apply({ n: replica.n + 1, ops: [["a", ["docs", "live", "text"], at, "x"]] });
  assert.equal(replica.view.docs.live.text, `${pieces.join("")}x`);
});

test("operations reach into lists, share what is beside them, and leave old views alone", () => {
  const { replica } = watched({ said: 2 });
  const go = (...ops) => replica.apply({ n: replica.n + 1, ops });
  go(["s", ["docs", "live"], { id: "x", text: "", tools: [{ call: "1", output: "ab" }, { call: "2", output: "" }] }]);
  const old = replica.view;
  go(["a", ["docs", "live", "tools", "0", "output"], 2, "c"], ["s", ["head"], { seq: 1 }]);
  assert.equal(replica.view.docs.live.tools[0].output, "abc");
  assert.equal(old.docs.live.tools[0].output, "ab");
  assert.equal(replica.view.docs.live.tools[1], old.docs.live.tools[1]);
  assert.equal(replica.view.entries, old.entries);
  go(["d", ["head"]], ["s", ["docs", "new", "deep"], 1], ["s", ["__proto__", "polluted"], 1], ["s", ["docs", "__proto__"], { polluted: 1 }]);
  assert.equal("head" in replica.view, false);
  assert.equal({}.polluted, undefined);
  assert.equal(replica.view.docs.polluted, undefined);
});

test("the commit of an answer clears what was live, in the same batch", () => {
  const { model, replica } = watched({ said: 2 });
  model.piece("He");
  model.piece("llo");
  assert.equal(replica.view.docs.live.text, "Hello");
  model.say({ text: "Hello" });
  assert.equal(replica.view.docs.live, null);
  assert.equal(replica.view.entries.at(-1).message.parts[0].text, "Hello");
});

test("a drop takes from the client what it holds nothing older next to, and nothing else", () => {
  const { model, replica } = watched({ said: 6 });
  assert.deepEqual(held(replica), [[3, 4, 5, 6]]);
  for (let i = 0; i < 4; i++) model.say();
  assert.deepEqual(held(replica), [[7, 8, 9, 10]]);
  replica.fetched(model.page({ before: 7, limit: 3 }));
  assert.deepEqual(held(replica), [[4, 5, 6, 7, 8, 9, 10]]);
  for (let i = 0; i < 4; i++) model.say();
  assert.deepEqual(held(replica), [[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]]);
  assert.equal(replica.earlier, 3);
  assert.deepEqual(replica.holes, []);
});

test("window, fetch earlier, four more messages: no hole without a mark", () => {
  const { model, replica } = watched({ said: 20 });
  const asked = replica.view.entries[0].seq; // the answer comes after the window has moved on
  for (let i = 0; i < 4; i++) model.say();
  replica.fetched(model.page({ before: asked, limit: 5 }));
  assert.deepEqual(held(replica), [[12, 13, 14, 15, 16], [21, 22, 23, 24]]);
  assert.deepEqual(replica.holes, [{ after: 16, before: 21 }]);
  replica.fetched(model.page({ before: 21, limit: 2 }));
  assert.deepEqual(replica.holes, [{ after: 16, before: 19 }]);
  replica.fetched(model.page({ before: 19, limit: 50 }));
  assert.deepEqual(replica.holes, []);
  assert.equal(replica.earlier, 0);
});

test("a reconnect's snapshot joins what was held where they touch", () => {
  const w = watched({ said: 10 });
  w.replica.fetched(w.model.page({ before: 7, limit: 2 }));
  away(w, () => { for (let i = 0; i < 5; i++) w.model.say(); });
  assert.deepEqual(seqs(w.replica.view.entries), [11, 12, 13, 14, 15]);
  assert.deepEqual(held(w.replica), [[5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]);
});

test("a reconnect's snapshot marks a hole where they do not touch", () => {
  const w = watched({ said: 10 });
  away(w, () => { for (let i = 0; i < 30; i++) w.model.say(); });
  assert.deepEqual(held(w.replica), [[7, 8, 9, 10], [37, 38, 39, 40]]);
  assert.deepEqual(w.replica.holes, [{ after: 10, before: 37 }]);
});

test("an overflow never shrinks what the client fetched", () => {
  const { model, replica, watch } = watched({ said: 20 });
  replica.fetched(model.page({ before: 17, limit: 10 }));
  const had = held(replica).flat();
  watch.overflow();
  assert.deepEqual(held(replica).flat(), had);
});

test("messages undone while away disappear", () => {
  const w = watched({ said: 10 });
  w.replica.fetched(w.model.page({ before: 7, limit: 4 }));
  away(w, () => { w.model.rewind(8); w.model.say(); });
  assert.deepEqual(held(w.replica), [[3, 4, 5, 6, 7, 8, 12]]);
  assert.deepEqual(w.replica.holes, []);
});

test("messages undone while away disappear when the hole is filled, where more was missed than a snapshot holds", () => {
  const w = watched({ said: 10 });
  away(w, () => { w.model.rewind(8); for (let i = 0; i < 12; i++) w.model.say(); });
  assert.deepEqual(w.replica.holes, [{ after: 10, before: 20 }]);
  w.replica.fetched(w.model.page({ before: 20 }));
  assert.deepEqual(held(w.replica).flat(), seqs(w.model.active));
});

test("a reset while away empties what was held", () => {
  const w = watched({ said: 10 });
  away(w, () => w.model.reset());
  assert.deepEqual(held(w.replica), []);
  assert.equal(w.replica.view.length, 0);
});

test("a rewind takes the undone messages off the end, and all that is older stays", () => {
  const { model, replica } = watched({ said: 10 });
  replica.fetched(model.page({ before: 7, limit: 2 }));
  model.rewind(8);
  assert.deepEqual(held(replica), [[5, 6, 7, 8]]);
  model.rewind(6); // to before the window: a snapshot
  assert.deepEqual(held(replica), [[3, 4, 5, 6]]);
});

test("a restored database empties the client's cache", () => {
  const w = watched({ said: 10 });
  w.replica.fetched(w.model.page({ before: 7, limit: 2 }));
  away(w, () => w.model.restore(9));
  assert.deepEqual(held(w.replica), [[6, 7, 8, 9]]);
  assert.equal(w.replica.view.fresh, true);
});

test("an older snapshot never overwrites a newer operation", () => {
  const { model, replica } = watched({ said: 4 });
  const old = { n: replica.n, ops: [["r", replica.view]] };
  model.say();
  assert.throws(() => replica.apply(old), faults("gap"));
  assert.deepEqual(seqs(replica.view.entries), [1, 2, 3, 4, 5]);
});

test("a page of before a rewind is refused, and of before a restoration too", () => {
  const { model, replica } = watched({ said: 20 });
  const page = model.page({ before: 17, limit: 5 });
  model.rewind(18);
  assert.throws(() => replica.fetched(page), faults("stale"));
  replica.fetched(model.page({ before: 17, limit: 5 }));
  assert.deepEqual(held(replica), [[12, 13, 14, 15, 16, 17, 18]]);
  assert.throws(() => replica.fetched({ ...page, branch: model.branch, epoch: "other" }), faults("stale"));
  assert.throws(() => new Replica().fetched(page), faults("stale"));
});

test("what is undone or before a reset on a page is passed over", () => {
  const { model, replica } = watched({ said: 12 });
  const page = model.page({ before: 9, limit: 4 });
  page.items[1] = { ...page.items[1], undone: true };
  page.items[3] = { ...page.items[3], past: true };
  replica.fetched(page);
  assert.deepEqual(held(replica), [[6], [8, 9, 10, 11, 12]]);
});

test("whatever happens, the view is the server's, and no hole is without a mark", () => {
  const runs = Number(process.env.SKEIN_RUNS ?? 300);
  for (let seed = 1; seed <= runs; seed++) {
    const r = randomness(seed * 7919);
    const w = watched({ said: r.below(15), tail: 1 + r.below(5) });
    const { model, replica } = w;
    const told = [];
    for (let step = 0; step < 60; step++) {
      told.push(act(w, r));
      const why = `seed ${seed}: ${told.join(", ")}`;
      assert.deepEqual(replica.view, w.watch.view(w.watch.fresh), why);
      const { ranges, holes } = replica;
      for (const { entries } of ranges) entries.forEach((e, i) => i > 0 && assert.equal(e.prev, entries[i - 1].seq, why));
      assert.equal(holes.length, Math.max(0, ranges.length - 1), why);
      const all = held(replica).flat();
      assert.deepEqual(all, [...new Set(all)].sort((a, b) => a - b), why);
      if (!holes.length) assert.deepEqual(all, seqs(model.active).slice(model.active.length - all.length), why);
    }
    for (;;) { // whoever fills every hole holds the thread
      const before = replica.holes.at(-1)?.before ?? (replica.earlier ? (held(replica).flat()[0] ?? Infinity) : 0);
      if (!before) break;
      replica.fetched(model.page({ before, limit: 7 }));
    }
    assert.deepEqual(held(replica).flat(), seqs(model.active), `seed ${seed}: ${told.join(", ")}`);
  }
});

function act(w, r) {
  const { model, replica } = w;
  const happen = () => {
    const x = r.next();
    if (x < 0.6) return `said ${model.say({ gap: r.below(3) }).seq}`;
    if (x < 0.8) return model.piece(["a", "é", "漢", "👋 hi"][r.below(4)]), "a piece";
    if (x < 0.93) return model.rewind(r.below(model.active.length + 1)), `rewound to ${model.last}`;
    if (x < 0.96) return model.reset(), "reset";
    return model.restore(r.below(model.active.length + 1)), `restored to ${model.last}`;
  };
  const x = r.next();
  if (x < 0.65) return happen();
  if (x < 0.7) return w.watch.overflow(), "overflow";
  if (x < 0.85) {
    const { ranges } = replica;
    const before = ranges.length ? (ranges[r.below(ranges.length)].entries[0]?.seq ?? Infinity) : Infinity;
    replica.fetched(model.page({ before, limit: 1 + r.below(6) }));
    return `fetched before ${before}`;
  }
  const did = [];
  w.watch = away(w, () => { for (let i = r.below(20); i > 0; i--) did.push(happen()); });
  return `away (${did.join(", ")})`;
}

import { describe, expect, it } from "vitest";
import { Replica } from "../../client/index.js";
import type { Entry, Message, View } from "../src/api/types.ts";
import { endOf, rowOf, rows } from "../src/state/rows.ts";
import { Fixture, north, user } from "./fixture.ts";
import { seeded } from "./seeded.ts";

const call = (id: string): Message => ({ author: "north", role: "assistant", parts: [{ type: "toolCall", id, name: "look", input: {} }] });
const result = (...ids: string[]): Message => ({ author: "north", role: "tool", parts: ids.map((id) => ({ type: "toolResult" as const, call: id, name: "look", parts: [] })) });

describe("rows", () => {
  it("tell a call that was denied from one that failed", () => {
    const ended = (isError: boolean, text: string) => endOf({ type: "toolResult", isError, parts: [{ type: "text", text }] });
    expect([ended(true, "Denied: not on a Friday."), ended(true, "no such file"), ended(false, "Denied: 3 requests in the log"), endOf({ type: "toolResult", isError: true })]).toEqual(["denied", "failed", "done", "failed"]);
  });

  it("draw a result with its call, and a result alone where its call is not there", () => {
    const server = new Fixture();
    const held = server.make("a");
    const all = [user("q"), call("x"), result("x"), north("done"), result("gone")].map((m) => server.say("a", m));
    const drawn = rows([{ before: 0, entries: all }], server.view(held, 50));
    expect(drawn.map((r) => (r.kind === "entry" ? [r.entry.index, r.outcomes.length, r.also] : r.kind))).toEqual([[0, 0, []], [1, 1, [2]], [3, 0, []], [4, 0, []]]);
    expect(rowOf(drawn, 2)?.entry.index).toBe(1);
  });

  it("name every message that is not drawn, once, and divide where the model's messages start", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = seeded(seed);
      const pick = (n: number) => Math.floor(random() * n);
      const server = new Fixture();
      const held = server.make("a");
      const replica = new Replica();
      let n = 0;
      const give = (view: View) => replica.apply({ n: ++n, ops: [["r", view as never]] });
      let open: string | undefined;
      const say = () => {
        if (random() < 0.3) server.skipSeqs("a", pick(3));
        if (open) {
          server.say("a", result(open));
          open = undefined;
        } else if (random() < 0.3) server.say("a", call((open = `c${held.tip}`)));
        else server.say("a", random() < 0.5 ? user("u") : north("n"));
      };
      for (let i = 0; i < 5 + pick(20); i++) say();
      give(server.view(held, 4));
      for (let step = 0; step < 30; step++) {
        const dice = pick(10);
        if (dice < 5) say();
        else if (dice < 6 && held.entries.length > 3) server.rewind("a", held.entries[pick(held.entries.length - 1)]!.seq);
        else if (dice < 8 && held.entries.length) {
          const at = held.entries[pick(held.entries.length)]!.seq;
          const items = held.entries.filter((e) => e.seq <= at).slice(-3);
          if (replica.view!.thread.branch === held.branch) replica.fetched({ items: items as never, epoch: held.epoch, branch: held.branch });
        } else if (dice < 9 && held.entries.length) {
          const legal = held.entries.filter((e) => e.message!.role !== "tool").map((e) => e.index);
          held.head = { seq: held.tip, number: 1, strategy: "outline", boundary: legal[pick(legal.length)]!, lines: 2 };
        }
        const at = replica.resume()!;
        n = 0;
        give(server.view(held, 4, random() < 0.5 ? at.from : undefined, at.epoch));
        check(replica, server.view(held, 1000), seed);
      }
    }
  });
});

/** Holds the rows against all messages of the thread: each is drawn, or lies in exactly one gap that counts it. */
function check(replica: Replica, all: View, seed: number): void {
  const view = replica.view as View;
  const drawn = rows(replica.ranges as { before: number; entries: Entry[] }[], view);
  const why = `seed ${seed}: ${JSON.stringify(drawn.map((r) => (r.kind === "entry" ? r.entry.index : [r.kind, "count" in r ? r.count : r.key])))} of ${all.length}`;
  let next = 0;
  const shown = new Set<number>();
  for (const r of drawn) {
    if (r.kind === "divider") {
      expect(r.boundary, why).toBe(view.head!.boundary);
      expect([...shown].every((i) => i < r.boundary), why).toBe(true);
      continue;
    }
    if (r.kind === "entry") {
      for (const i of [r.entry.index, ...r.also]) shown.add(i);
      expect(r.entry.index, why).toBeGreaterThanOrEqual(next);
      while (shown.has(next)) next++;
      continue;
    }
    if (r.kind === "cuts" || r.kind === "undone") continue;
    expect(r.count, why).toBeGreaterThan(0);
    for (let i = 0; i < r.count; i++) shown.add(next + i);
    next += r.count;
    while (shown.has(next)) next++;
  }
  expect(shown.size, why).toBe(all.length);
  expect(Math.max(-1, ...shown), why).toBe(all.length - 1);
}

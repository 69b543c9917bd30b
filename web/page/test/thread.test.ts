import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useClient } from "../src/api/api.ts";
import { Link } from "../src/link/link.ts";
import { Memory } from "../src/state/storage.ts";
import { ThreadStore } from "../src/state/thread.ts";
import { Fixture, north, until, user } from "./fixture.ts";

let server: Fixture;
let link: Link;
let open: ThreadStore[] = [];

beforeEach(() => {
  server = new Fixture();
  useClient(server.client());
  link = new Link();
});
afterEach(() => {
  for (const s of open) s.close();
  open = [];
});

const look = (id: string, storage = new Memory()): ThreadStore => {
  const s = new ThreadStore(id, link, storage);
  open.push(s);
  return s;
};

const texts = (s: ThreadStore): string[] =>
  s.rows.map((r) => (r.kind === "entry" ? (r.entry.message?.parts[0]?.text ?? "?") : r.kind === "divider" ? "———" : `${r.kind} ${r.kind === "undone" ? r.entries.length : r.kind === "cuts" ? r.cuts.map((c) => c.number) : r.count}`));

describe("an open thread", () => {
  it("shows the newest messages, and pages before them where they belong", async () => {
    server.make("a");
    for (let i = 0; i < 120; i++) server.say("a", user(`n${i}`));
    const s = look("a");
    await until(() => s.rows.length === 51);
    expect(texts(s)[0]).toBe("earlier 70");
    await s.earlier();
    expect(texts(s).slice(0, 2)).toEqual(["earlier 20", "n20"]);
    await s.earlier();
    expect(texts(s)).toEqual([...Array(120).keys()].map((i) => `n${i}`));
  });

  it("keeps on the screen what leaves the window while somebody reads there", async () => {
    server.make("a");
    for (let i = 0; i < 60; i++) server.say("a", user(`n${i}`));
    const s = look("a");
    await until(() => s.rows.length === 51);
    s.reading = true;
    for (let i = 60; i < 130; i++) server.say("a", user(`n${i}`));
    await until(() => texts(s).at(-1) === "n129");
    expect(texts(s)).toEqual(["earlier 10", ...[...Array(120).keys()].map((i) => `n${i + 10}`)]);
  });

  it("keeps little behind the newest while nobody reads there, however long it runs", async () => {
    server.make("a");
    for (let i = 0; i < 60; i++) server.say("a", user(`n${i}`));
    const s = look("a");
    await until(() => s.rows.length === 51);
    await s.earlier();
    for (let i = 60; i < 3000; i++) {
      server.say("a", user(`n${i}`));
      if (i % 20 === 0) await Promise.resolve();
    }
    await until(() => texts(s).at(-1) === "n2999");
    expect(s.rows.length).toBeLessThan(400);
  });

  it("says what is true of its link, and sends once what was said while it was down", async () => {
    server.make("a");
    const storage = new Memory();
    const s = look("a", storage);
    await until(() => s.standing === "live");
    server.up = false;
    server.cut();
    await until(() => s.standing === "offline");
    expect(link.standing).toBe("offline");
    s.outbox.add("while away", "next");
    await until(() => s.outbox.items.length === 1);
    s.close();
    const later = look("a", storage); // after a crash
    expect(later.outbox.items.map((o) => o.text)).toEqual(["while away"]);
    server.up = true;
    await until(() => texts(later).length === 1 && later.outbox.items.length === 0);
    expect(texts(later)).toEqual(["while away"]);
    expect(server.threads.get("a")!.entries.length).toBe(1);
  });

  it("has a hole where too much was missed, and fills it", async () => {
    server.make("a");
    for (let i = 0; i < 10; i++) server.say("a", user(`n${i}`));
    const s = look("a");
    await until(() => s.rows.length === 10);
    server.up = false;
    server.cut();
    await until(() => s.standing === "offline");
    for (let i = 10; i < 200; i++) server.say("a", user(`n${i}`));
    server.up = true;
    await until(() => texts(s).at(-1) === "n199");
    expect(texts(s)).toContain("hole 140");
    for (let hole = s.rows.find((r) => r.kind === "hole"); hole; hole = s.rows.find((r) => r.kind === "hole")) await s.fill(hole);
    expect(texts(s)).toEqual([...Array(200).keys()].map((i) => `n${i}`));
  });

  it("takes off what was undone, and marks where it was", async () => {
    server.make("a");
    const entries = [0, 1, 2, 3].map((i) => server.say("a", i % 2 ? north(`n${i}`) : user(`n${i}`)));
    const s = look("a");
    await until(() => s.rows.length === 4);
    server.rewind("a", entries[1]!.seq);
    await until(() => texts(s).at(-1) === "undone 2");
    expect(texts(s)).toEqual(["n0", "n1", "undone 2"]);
    const later = ["again", "so"].map((text) => server.say("a", user(text)));
    server.rewind("a", later[0]!.seq);
    await until(() => texts(s).at(-1) === "undone 1");
    expect(texts(s)).toEqual(["n0", "n1", "undone 2", "again", "undone 1"]);
    const [first] = s.rows.filter((r) => r.kind === "undone");
    expect(first!.entries.map((e) => e.message!.parts[0]!.text)).toEqual(["n2", "n3"]);
    server.reset("a");
    await until(() => texts(s).length === 1);
    expect([texts(s)[0], s.rows[0]!.kind === "undone" && s.rows[0]!.past]).toEqual(["undone 6", true]);
    server.say("a", user("anew"));
    await until(() => texts(s).length === 2);
    expect(texts(s)).toEqual(["undone 6", "anew"]);
  });

  it("looks for what was undone only where messages are held, and in long stretches on demand", async () => {
    server.make("a");
    for (let i = 0; i < 200; i++) server.say("a", user(`old ${i}`));
    server.rewind("a", 100);
    for (let i = 0; i < 1000; i++) server.say("a", user(`gone ${i}`));
    server.rewind("a", 100);
    for (let i = 0; i < 10; i++) server.say("a", user(`n${i}`));
    const s = look("a");
    await until(() => s.undone.rest.length > 0);
    const mark = () => s.rows.find((r) => r.kind === "undone");
    expect(mark()).toMatchObject({ more: true, past: false });
    expect(texts(s)[0]).toBe("earlier 60");
    s.undone.goOn();
    await until(() => mark()?.more === false);
    expect(mark()!.entries.length).toBe(1100);
    const asked = server.asked.length;
    server.say("a", user("more"));
    await until(() => texts(s).at(-1) === "more");
    expect(server.asked.length).toBe(asked);
  });

  it("marks each cut where it was made, with its time, as far as messages are held", async () => {
    server.make("a");
    for (let i = 0; i < 200; i++) {
      server.say("a", i % 2 ? north(`n${i}`) : user(`n${i}`));
      if (i % 20 === 19) server.makeCut("a", i - 5);
    }
    server.makeCut("a", 196);
    const s = look("a");
    await until(() => texts(s).filter((t) => t.startsWith("cuts")).length === 3);
    expect(texts(s).filter((t) => /cuts|———/.test(t))).toEqual(["cuts 8", "cuts 9", "———", "cuts 10,11"]);
    const last = s.rows.at(-1)!;
    expect(last.kind === "cuts" && last.cuts.map((c) => [c.from, c.to, c.before, c.after])).toEqual([[174, 194, 1000, 500], [194, 196, 1000, 500]]);
    expect(last.kind === "cuts" && last.cuts.every((c) => Date.parse(c.time) > 0)).toBe(true);
    const read = () => server.asked.filter((a) => /entries\/\d+$/.test(a)).length;
    expect(read()).toBe(5); // four, and the boundary before them
    for (let n = 0; n < 3; n++) await s.earlier();
    await until(() => texts(s).filter((t) => t.startsWith("cuts")).length === 10);
    expect(read()).toBe(11);
    const marks: number[] = [];
    const leave = s.listen(() => marks.push(texts(s).filter((t) => t.startsWith("cuts")).length));
    server.makeCut("a", 198);
    await until(() => texts(s).at(-1) === "cuts 10,11,12");
    leave();
    expect(Math.min(...marks)).toBe(10); // none goes while the new one is read
  });

  it("is gone, with a reason, where there is no such thread", async () => {
    const s = look("none");
    await until(() => s.standing === "gone");
    expect(s.reason).toBe("not-found");
  });
});

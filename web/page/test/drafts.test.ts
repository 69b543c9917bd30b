import { describe, expect, it } from "vitest";
import { Drafts } from "../src/state/drafts.ts";
import { Outbox } from "../src/state/outbox.ts";
import { Memory } from "../src/state/storage.ts";
import { SkeinError } from "../src/api/api.ts";
import { until } from "./fixture.ts";
import { seeded } from "./seeded.ts";

describe("drafts", () => {
  it("are each tab's own, and are found again by it", () => {
    const storage = new Memory();
    const [one, two] = ["one", "two"].map((n) => new Drafts(n, storage, async () => new Set(["one", "two"])));
    one!.keep("a", "of one");
    two!.keep("a", "of two");
    one!.keep("b", "elsewhere");
    expect(one!.own("a")?.text).toBe("of one");
    expect(two!.own("a")?.text).toBe("of two");
    one!.keep("a", "");
    expect(one!.own("a")).toBeUndefined();
  });

  it("of a tab that is no more go to whoever comes next, the newest first, and to nobody while it lives", async () => {
    const storage = new Memory();
    let living = new Set(["one", "two", "three"]);
    let now = 0;
    const tab = (name: string) => new Drafts(name, storage, async () => living, () => ++now);
    tab("one").keep("a", "older");
    tab("two").keep("a", "newer", [{ hash: "h", name: "n", mediaType: "t", size: 1 }]);
    tab("two").keep("a.b", "of a thread with a dot");
    const three = tab("three");
    expect(await three.adopt("a")).toBeUndefined();
    living = new Set(["three"]);
    expect(await three.adopt("a")).toMatchObject({ text: "newer", blobs: [{ name: "n" }] });
    expect(three.own("a")?.text).toBe("newer");
    expect(await three.adopt("a")).toBeUndefined(); // it has one now
    three.keep("a", "");
    expect((await three.adopt("a"))?.text).toBe("older");
  });

  it("says where there is no room", () => {
    const full = new Memory();
    full.setItem = () => {
      throw new Error("quota");
    };
    expect(new Drafts("one", full, async () => new Set()).keep("a", "text")).toBe(false);
  });
});

describe("the outbox", () => {
  it("says each thing once and in order, however often the link, the tab and the answers are lost", async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = seeded(seed);
      const storage = new Memory();
      const said = new Map<string, string>(); // by key: a server that knows keys
      const say = async (_: string, what: { text: string; key: string }) => {
        await Promise.resolve();
        if (random() < 0.3) throw new SkeinError({ message: "unreachable" });
        if (!said.has(what.key)) said.set(what.key, what.text);
        if (random() < 0.3) throw new SkeinError({ message: "the answer was lost" });
        return { seq: said.size };
      };
      let box = new Outbox("a", storage, say as never);
      const typed: string[] = [];
      for (let i = 0; i < 12; i++) {
        typed.push(`n${i}`);
        box.add(`n${i}`, "next");
        if (random() < 0.4) box = new Outbox("a", storage, say as never); // the tab is killed
        await box.pump();
      }
      for (let i = 0; i < 200 && box.items.some((o) => o.seq === undefined); i++) await box.pump();
      expect([...said.values()], `seed ${seed}`).toEqual(typed);
    }
  });

  it("keeps what was refused until somebody decides", async () => {
    const storage = new Memory();
    let fine = false;
    const box = new Outbox("a", storage, (async () => {
      if (!fine) throw new SkeinError({ message: "too long", status: 400 });
      return { seq: 7 };
    }) as never);
    box.add("text", "next");
    await until(() => box.items[0]?.refused === "too long");
    expect(new Outbox("a", storage).items[0]?.text).toBe("text");
    fine = true;
    box.again(box.items[0]!.key);
    await until(() => box.items[0]?.seq === 7);
    expect(box.takeBack(box.items[0]!.key)).toBeUndefined(); // it is said
    box.seen(new Set(), 7);
    expect(box.items).toEqual([]);
  });
});

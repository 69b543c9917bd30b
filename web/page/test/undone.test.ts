import { describe, expect, it } from "vitest";
import { joined, type Stretch, without } from "../src/state/undone.ts";
import { seeded } from "./seeded.ts";

describe("stretches of the log", () => {
  it("are taken from each other and joined as the seqs in them are", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const random = seeded(seed);
      const pick = (n: number) => Math.floor(random() * n);
      const some = (): Stretch => {
        const after = pick(20);
        return { after, before: after + 1 + pick(10) };
      };
      const seqs = (all: readonly Stretch[]) => [...Array(40).keys()].filter((n) => all.some((s) => n > s.after && n < s.before));
      const others = Array.from({ length: pick(5) }, some);
      const one = some();
      const left = without(one, others);
      const why = `seed ${seed}: ${JSON.stringify({ one, others, left })}`;
      expect(seqs(left), why).toEqual(seqs([one]).filter((n) => !seqs(others).includes(n)));
      const all = joined([one, ...others]);
      expect(seqs(all), why).toEqual(seqs([one, ...others]));
      for (const [i, s] of all.slice(1).entries()) expect(s.after, why).toBeGreaterThan(all[i]!.before - 1);
    }
  });
});

import { describe, expect, it } from "vitest";
import { foundIn } from "../src/search/ask.ts";
import { atBytes, atWords, folded, formsOf, shortened } from "../src/search/marks.ts";

const shown = (pieces: { text: string; hit: boolean }[]): string => pieces.map((p) => (p.hit ? `[${p.text}]` : p.text)).join("");

describe("marks", () => {
  it("stand where the server counts them, in bytes, whatever the script", () => {
    const text = "ana: Größe 🙂 und שלום dann";
    const bytes = new TextEncoder();
    const at = (word: string) => {
      const start = bytes.encode(text.slice(0, text.indexOf(word))).length;
      return { start, end: start + bytes.encode(word).length };
    };
    expect(shown(atBytes(text, [at("שלום"), at("Größe")]))).toBe("ana: [Größe] 🙂 und [שלום] dann");
  });

  it("that make no sense are passed over, and the text stays whole", () => {
    for (const marks of [[], [{ start: 5, end: 2 }], [{ start: 0, end: 99 }], [{ start: 1, end: 4 }, { start: 2, end: 5 }], [{ start: -3, end: 1 }]]) {
      expect(atBytes("hello", marks).map((p) => p.text).join("")).toBe("hello");
    }
  });

  it("are found again in other texts, by their beginnings and without accents", () => {
    const forms = formsOf(["deploy", "cafe"], [{ text: "We deployed at the café", marks: [{ start: 3, end: 11 }] }]);
    expect(forms.sort()).toEqual(["cafe", "deploy", "deployed"]);
    expect(shown(atWords("Deployments: CAFÉ, redeploy; deploying.", forms))).toBe("[Deployments]: [CAFÉ], redeploy; [deploying].");
    expect(shown(atWords("an it at ITs", ["it"]))).toBe("an [it] at ITs");
    expect(shown(atWords("nothing", []))).toBe("nothing");
    expect(folded("ÅNGSTRÖM")).toBe("angstrom");
  });

  it("are brought near the start of a line, after who said it", () => {
    const long = `ana → north: ${"one two three ".repeat(12)}`;
    const cut = shortened([{ text: long, hit: false }, { text: "found", hit: true }]);
    expect(cut[0]!.text).toMatch(/^ana → north: … .*three $/);
    expect(cut[0]!.text.length).toBeLessThan(70);
    const short = [{ text: "ana: ", hit: false }, { text: "found", hit: true }];
    expect(shortened(short)).toBe(short);
  });
});

describe("what was found", () => {
  it("has its places in order, each once, and none for what was undone or only stands beside", () => {
    const hit = (id: number, marks = [{ start: 0, end: 1 }]) => ({ id, seq: id + 9, text: "x", marks, score: 1 });
    expect(foundIn("t", { words: ["x"], hits: [hit(40), hit(7), hit(-1), hit(8, []), hit(40)] }).places).toEqual([7, 40]);
    expect(foundIn("t", { words: [], hits: [hit(1, null as never)] }).hits[0]!.marks).toEqual([]);
  });
});

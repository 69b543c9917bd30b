import { describe, expect, it } from "vitest";
import { Blocks } from "../src/text/blocks.ts";
import { highlight } from "../src/text/highlight.ts";
import { Sentences } from "../src/text/sentences.ts";
import { seeded } from "./seeded.ts";

const kinds = (code: string, language: string) => highlight(code, language).filter((p) => p.kind).map((p) => [p.kind, p.text]);

describe("colours of code", () => {
  it("tells words, texts, numbers, remarks and calls apart", () => {
    expect(kinds('func main() { // go\n\tx := f("a\\"b", 0x1F)\n}', "go")).toEqual([
      ["word", "func"], ["name", "main"], ["remark", "// go"], ["name", "f"], ["text", '"a\\"b"'], ["number", "0x1F"],
    ]);
    expect(kinds("SELECT count(*) FROM t -- all", "sql")).toEqual([["word", "SELECT"], ["name", "count"], ["word", "FROM"], ["remark", "-- all"]]);
    expect(kinds("+a\n-b\n c", "diff")).toEqual([["added", "+a\n"], ["removed", "-b\n"]]);
    expect(kinds("x = '''a\nb''' # c", "python")).toEqual([["text", "'''a\nb'''"], ["remark", "# c"]]);
  });

  it("loses nothing of any code, in any language", () => {
    const bits = ["\"", "'", "`", "\\", "\n", "//", "/*", "*/", "#", "--", "<!--", "-->", "if", "日本", "0x", "1e9", " ", "(", "$", '"""', "é"];
    for (let seed = 1; seed <= 400; seed++) {
      const random = seeded(seed);
      const code = [...Array(40)].map(() => bits[Math.floor(random() * bits.length)]).join("");
      for (const language of ["go", "ts", "python", "sh", "sql", "html", "diff", "json", "css", "none"]) {
        const joined = highlight(code, language).map((p) => p.text).join("");
        if (joined !== code) throw new Error(`seed ${seed}, ${language}: ${JSON.stringify(code)} became ${JSON.stringify(joined)}`);
      }
    }
  });
});

describe("a text that grows", () => {
  const all = (text: string) => {
    const blocks = new Blocks();
    const g = blocks.grow(text);
    return [...g.closed, g.open];
  };

  it("closes a block where the next begins", () => {
    expect(all("One.\n\nTwo.\n\nThr")).toEqual(["One.\n\n", "Two.\n\nThr"]);
    expect(all("One.\n\nTwo.\n\nThr\n")).toEqual(["One.\n\n", "Two.\n\n", "Thr\n"]);
    expect(all("- a\n\n- b\n\n  c\n\nEnd\n")).toEqual(["- a\n\n- b\n\n  c\n\n", "End\n"]);
    expect(all("Text\n```go\na\n\nb\n```\nMore\n")).toEqual(["Text\n", "```go\na\n\nb\n```\n", "More\n"]);
    expect(all("Text\n# Head\n")).toEqual(["Text\n", "# Head\n"]);
  });

  it("knows the code of an open fence", () => {
    const b = new Blocks();
    expect(b.grow("```ts\nlet").fence).toEqual({ language: "ts", code: "let" });
    expect(b.grow("```ts\nlet x\n``").fence).toEqual({ language: "ts", code: "let x\n``" });
    expect(b.grow("```ts\nlet x\n```\n").fence).toBeUndefined();
  });

  it("is the same text, and the same blocks, in whatever pieces it comes", () => {
    const bits = ["word ", "\n", "\n\n", "```", "```go\n", "- a\n", "  b\n", "1. c\n", "# h\n", "> q\n", "~~~\n", "日本\n", "    x\n"];
    for (let seed = 1; seed <= 500; seed++) {
      const random = seeded(seed);
      const text = [...Array(30)].map(() => bits[Math.floor(random() * bits.length)]).join("");
      const pieces = new Blocks();
      const closed: string[] = [];
      let open = "";
      for (let at = 0; at < text.length; ) {
        at = Math.min(text.length, at + 1 + Math.floor(random() * 9));
        const g = pieces.grow(text.slice(0, at));
        closed.push(...g.closed);
        open = g.open;
      }
      const whole = new Blocks().grow(text);
      expect(closed, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(whole.closed);
      expect(open).toBe(whole.open);
      expect((closed.join("") + open).replace(/\s+/g, "")).toBe(text.replace(/\s+/g, ""));
    }
  });

  it("keeps the open block small however long the text is", () => {
    const b = new Blocks();
    let text = "";
    for (let i = 0; i < 2000; i++) {
      text += `- item ${i} of a list without end\n`;
      expect(b.grow(text).open.length).toBeLessThan(4200);
    }
    expect(b.forced).toBe(true);
    const natural = new Blocks();
    natural.grow("One.\n\n# Two\n```\nthree\n```\nFour.\n");
    expect(natural.forced).toBe(false);
  });
});

describe("what is read aloud", () => {
  it("is each sentence once, when it is whole", () => {
    const s = new Sentences();
    expect(s.next("Ship on the")).toBe("");
    expect(s.next("Ship on the 12th. Then")).toBe("Ship on the 12th.");
    expect(s.next("Ship on the 12th. Then **rest**. And")).toBe("Then rest.");
    expect(s.next("Ship on the 12th. Then **rest**. And [so](https://x.y) on", true)).toBe("And so on");
    expect(s.next("Ship on the 12th. Then **rest**. And [so](https://x.y) on", true)).toBe("");
  });

  it("names code, and does not spell it", () => {
    const s = new Sentences();
    expect(s.next("Run this. \n```sh\nrm a. b. c\n")).toBe("Run this.");
    expect(s.next("Run this. \n```sh\nrm a. b. c\n```\nDone.", true)).toBe("(code) Done.");
  });
});

// A small tokenizer for code in messages: it tells words of a language, texts,
// numbers, remarks and names that are called apart, and knows no grammar. Whatever
// it is given, the pieces joined are the code again.

export type Kind = "word" | "text" | "number" | "name" | "remark" | "added" | "removed" | "";

export interface Piece {
  kind: Kind;
  text: string;
}

interface Language {
  words: Set<string>;
  line?: string[];
  block?: [string, string][];
  /** Quotes of texts; those in `long` may run over lines. */
  quotes: string;
  long?: string[];
  /** Words count whatever their case. */
  anyCase?: boolean;
}

const words = (list: string): Set<string> => new Set(list.split(" "));
const slashes = { line: ["//"], block: [["/*", "*/"]] as [string, string][] };

const script: Language = {
  ...slashes,
  words: words("abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in infer instanceof interface is keyof let namespace new null of private protected public readonly return satisfies set static super switch this throw true try type typeof undefined unknown var void while with yield never any boolean number string"),
  quotes: "\"'",
  long: ["`"],
};
const go: Language = {
  ...slashes,
  words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 append cap clear close copy delete len make max min new panic print println recover"),
  quotes: "\"'",
  long: ["`"],
};
const python: Language = {
  line: ["#"],
  words: words("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield"),
  quotes: "\"'",
  long: ['"""', "'''"],
};
const rust: Language = {
  ...slashes,
  words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while bool char f32 f64 i8 i16 i32 i64 isize str u8 u16 u32 u64 usize String Vec Option Some None Result Ok Err"),
  quotes: '"',
};
const c: Language = {
  ...slashes,
  words: words("abstract alignas auto base bool boolean break byte case catch char class const constexpr continue default delegate delete do double else enum event explicit extends extern false final finally float for foreach friend fun goto if implements import in inline instanceof int interface internal is let long namespace native new null nullptr object operator out override package private protected public readonly ref return sealed short signed sizeof static string struct super switch synchronized template this throw throws transient true try typedef typename union unsigned using val var virtual void volatile when while func guard protocol extension where nil self"),
  quotes: "\"'",
};
const shell: Language = {
  line: ["#"],
  words: words("case do done elif else esac export fi for function if in local read return set shift then unset until while cd echo exit printf source sudo test trap"),
  quotes: "\"'",
  long: ['"', "'"],
};
const sql: Language = {
  line: ["--"],
  block: [["/*", "*/"]],
  anyCase: true,
  words: words("add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists false foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then transaction true union unique update using values view when where with integer text blob real boolean timestamp"),
  quotes: "'\"",
};
const ruby: Language = { line: ["#"], words: words("alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo require rescue retry return self super then true undef unless until when while yield echo function public private protected foreach namespace use new"), quotes: "\"'" };
const data: Language = { line: ["#"], words: words("true false null yes no on off"), quotes: "\"'" };
const json: Language = { line: ["//"], words: words("true false null"), quotes: '"' };
const css: Language = { block: [["/*", "*/"]], words: words("important media supports layer import keyframes from to root not is where has hover focus"), quotes: "\"'" };
const markup: Language = { block: [["<!--", "-->"]], words: new Set(), quotes: "\"'" };

const names: [string, Language][] = [
  ["js javascript jsx ts typescript tsx mjs cjs", script],
  ["go golang", go],
  ["py python python3", python],
  ["rs rust", rust],
  ["c h cpp c++ cc hpp cs csharp java kotlin kt swift scala dart objc zig", c],
  ["sh bash shell zsh console fish", shell],
  ["sql sqlite postgres postgresql mysql", sql],
  ["rb ruby php perl pl elixir ex lua r", ruby],
  ["yaml yml toml ini conf env properties dockerfile makefile make hcl tf", data],
  ["json jsonc json5 jsonl ndjson", json],
  ["css scss less", css],
  ["html xml svg vue svelte", markup],
];
const languages = new Map(names.flatMap(([all, l]) => all.split(" ").map((n) => [n, l] as const)));

/** Longer code is shown as it is. */
const longest = 200_000;

export const knows = (language: string): boolean => language === "diff" || language === "patch" || languages.has(language);

/** Takes code apart. Code of a language that is not known is one piece. */
export function highlight(code: string, language: string): Piece[] {
  const name = language.toLowerCase();
  if (code.length > longest) return [{ kind: "", text: code }];
  if (name === "diff" || name === "patch") return diff(code);
  const l = languages.get(name);
  return l ? scan(code, l) : [{ kind: "", text: code }];
}

function diff(code: string): Piece[] {
  return code.split(/(?<=\n)/).map((text) => {
    const kind: Kind = /^(\+\+\+|---|@@|diff |index )/.test(text) ? "remark" : text.startsWith("+") ? "added" : text.startsWith("-") ? "removed" : "";
    return { kind, text };
  });
}

const wordAt = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const numberAt = /(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)[a-zA-Z%]*/y;

function scan(code: string, l: Language): Piece[] {
  const out: Piece[] = [];
  let plain = 0;
  let at = 0;
  const put = (kind: Kind, end: number) => {
    if (plain < at) out.push({ kind: "", text: code.slice(plain, at) });
    out.push({ kind, text: code.slice(at, end) });
    plain = at = end;
  };
  while (at < code.length) {
    const ch = code[at]!;
    const remark = remarkEnd(code, at, l);
    if (remark) {
      put("remark", remark);
      continue;
    }
    const text = textEnd(code, at, l);
    if (text) {
      put("text", text);
      continue;
    }
    wordAt.lastIndex = numberAt.lastIndex = at;
    const word = wordAt.exec(code)?.[0];
    if (word) {
      const end = at + word.length;
      if (l.words.has(l.anyCase ? word.toLowerCase() : word)) put("word", end);
      else if (code[end] === "(" || (l === markup && /[<\/]/.test(code[at - 1] ?? ""))) put("name", end);
      else at = end;
      continue;
    }
    const number = ch >= "0" && ch <= "9" ? numberAt.exec(code)?.[0] : undefined;
    if (number) put("number", at + number.length);
    else at++;
  }
  if (plain < at) out.push({ kind: "", text: code.slice(plain) });
  return out;
}

function remarkEnd(code: string, at: number, l: Language): number {
  for (const [open, close] of l.block ?? []) {
    if (!code.startsWith(open, at)) continue;
    const end = code.indexOf(close, at + open.length);
    return end < 0 ? code.length : end + close.length;
  }
  for (const open of l.line ?? []) {
    // A # within a word, as in $# or a URL's //, is none.
    if (!code.startsWith(open, at) || (at > 0 && /[:$\w&]/.test(code[at - 1]!))) continue;
    const end = code.indexOf("\n", at);
    return end < 0 ? code.length : end;
  }
  return 0;
}

function textEnd(code: string, at: number, l: Language): number {
  for (const quote of l.long ?? []) if (code.startsWith(quote, at)) return closing(code, at + quote.length, quote, false);
  const ch = code[at]!;
  return l.quotes.includes(ch) ? closing(code, at + 1, ch, true) : 0;
}

/** Where a text ends; one that is not closed on its line is none. */
function closing(code: string, from: number, quote: string, oneLine: boolean): number {
  for (let i = from; i < code.length; i++) {
    if (code[i] === "\\") i++;
    else if (oneLine && code[i] === "\n") return 0;
    else if (code.startsWith(quote, i)) return i + quote.length;
  }
  return oneLine ? 0 : code.length;
}

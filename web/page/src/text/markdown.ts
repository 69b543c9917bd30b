import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";
import { highlight, knows } from "./highlight.ts";

// What a message says, as elements. The way is: Markdown without HTML → a string of
// few tags → DOMPurify with a list of the same tags → what is added by the DOM alone
// (colours of code, hosts of links, buttons). No text becomes markup on another way.

const tags = ["p", "br", "strong", "em", "s", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "hr", "table", "thead", "tbody", "tr", "th", "td", "a", "span"];

/** Where links may lead. Anything else stays text. */
const leads = /^(?:https?:\/\/|mailto:)/i;

function parser(breaks: boolean) {
  const md = new MarkdownIt({ html: false, linkify: true, breaks });
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  md.validateLink = (url) => leads.test(url.trim());
  const align = (tokens: { attrs: [string, string][] | null }[], i: number, tag: string): string => {
    const style = tokens[i]!.attrs?.find(([name]) => name === "style")?.[1] ?? "";
    const side = /right|center/.exec(style)?.[0];
    return side ? `<${tag} class="${side}">` : `<${tag}>`;
  };
  md.renderer.rules["th_open"] = (tokens, i) => align(tokens as never, i, "th");
  md.renderer.rules["td_open"] = (tokens, i) => align(tokens as never, i, "td");
  // An image elsewhere is never loaded: it is a link to where it lies.
  md.renderer.rules["image"] = (tokens, i) => {
    const t = tokens[i]!;
    const [src, alt] = [String(t.attrGet("src") ?? ""), t.content || "image"];
    const text = `[${md.utils.escapeHtml(alt)}]`;
    return leads.test(src) ? `<a href="${md.utils.escapeHtml(src)}">${text}</a>` : `<span>${text}</span>`;
  };
  return md;
}

const prose = parser(false);
const typed = parser(true);

const config = { ALLOWED_TAGS: tags, ALLOWED_ATTR: ["href", "class", "start"], ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, RETURN_DOM_FRAGMENT: true as const };

/** How it is meant: what a person typed keeps its line breaks. */
export type Manner = "prose" | "typed";

/** The elements of a text. What it says cannot reach beyond them. */
export function render(text: string, manner: Manner = "prose"): DocumentFragment {
  const html = (manner === "typed" ? typed : prose).render(text);
  const fragment = DOMPurify.sanitize(html, config);
  tidyClasses(fragment);
  for (const a of fragment.querySelectorAll("a")) dressLink(a);
  for (const pre of fragment.querySelectorAll("pre")) dressCode(pre);
  for (const table of fragment.querySelectorAll("table")) dressTable(table);
  levelHeadings(fragment);
  for (const el of fragment.children) el.setAttribute("dir", "auto");
  for (const el of fragment.querySelectorAll("pre, .code")) el.setAttribute("dir", "ltr");
  return fragment;
}

function tidyClasses(fragment: DocumentFragment): void {
  for (const el of fragment.querySelectorAll("[class]")) {
    const fine = el.localName === "code" ? /^language-\S+$/.test(el.className) : /^(right|center)$/.test(el.className);
    if (!fine) el.removeAttribute("class");
  }
}

/** The host that a link leads to; empty where its text says it already. */
export function hostOf(href: string, text: string): string {
  if (!URL.canParse(href)) return "";
  const url = new URL(href);
  if (url.protocol === "mailto:") return text.includes(url.pathname) ? "" : url.pathname;
  const shown = text.trim();
  const same = URL.canParse(shown) && new URL(shown).host === url.host && !url.username;
  return same || shown === url.host ? "" : url.host;
}

function dressLink(a: HTMLAnchorElement): void {
  const href = a.getAttribute("href") ?? "";
  if (!leads.test(href)) {
    a.replaceWith(...a.childNodes);
    return;
  }
  a.target = "_blank";
  a.rel = "noopener noreferrer nofollow";
  const host = hostOf(href, a.textContent ?? "");
  if (!host) return;
  const word = document.createElement("span");
  word.className = "host";
  word.dir = "ltr";
  word.textContent = host;
  a.append(word);
}

/** Code with its language and a button to copy it. */
function dressCode(pre: HTMLPreElement): void {
  const code = pre.querySelector("code") ?? pre;
  const text = (code.textContent ?? "").replace(/\n$/, "");
  const language = /^language-(\S+)$/.exec(code.className)?.[1] ?? "";
  pre.replaceWith(codeBlock(text, language));
}

/** A block of code: coloured if its language is known, scrolled by keys, copied by a button. */
export function codeBlock(text: string, language: string): HTMLElement {
  const block = document.createElement("div");
  block.className = "code";
  block.dir = "ltr";
  const bar = document.createElement("div");
  bar.className = "bar";
  const name = document.createElement("span");
  name.textContent = language.slice(0, 40);
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "button quiet small";
  copy.textContent = "Copy";
  copy.dataset["copies"] = "code";
  bar.append(name, copy);
  const pre = document.createElement("pre");
  pre.tabIndex = 0;
  pre.setAttribute("role", "group");
  pre.setAttribute("aria-label", language ? `Code, ${language.slice(0, 40)}` : "Code");
  const code = document.createElement("code");
  paint(code, text, language);
  pre.append(code);
  block.append(bar, pre);
  return block;
}

/** Puts code into an element, in the colours of its language. */
export function paint(into: HTMLElement, text: string, language: string): void {
  if (!knows(language.toLowerCase())) {
    into.textContent = text;
    return;
  }
  into.replaceChildren(
    ...highlight(text, language).map((p) => {
      if (!p.kind) return document.createTextNode(p.text);
      const span = document.createElement("span");
      span.className = `c-${p.kind}`;
      span.textContent = p.text;
      return span;
    }),
  );
}

/** So many rows of a table are drawn at first, and as many more each time as this. */
const rowsAtOnce = 200;

/** A table that scrolls by itself, by keys as well. Of many rows some are drawn, and more on demand. */
function dressTable(table: HTMLTableElement): void {
  const frame = document.createElement("div");
  frame.className = "table";
  frame.tabIndex = 0;
  frame.setAttribute("role", "group");
  frame.setAttribute("aria-label", "Table");
  table.replaceWith(frame);
  frame.append(table);
  const body = table.tBodies[0];
  if (body && body.rows.length > rowsAtOnce) frame.after(restOf(body));
}

/** Takes the rows off that are too many at once; what it gives says how many there are, and brings more. */
function restOf(body: HTMLTableSectionElement): HTMLElement {
  const all = [...body.rows];
  body.replaceChildren(...all.slice(0, rowsAtOnce));
  const count = new Intl.NumberFormat();
  const foot = document.createElement("p");
  foot.className = "rows";
  const words = document.createElement("span");
  const more = document.createElement("button");
  more.type = "button";
  more.className = "button small";
  more.textContent = "Show more rows";
  const told = () => {
    const shown = body.rows.length;
    words.textContent = shown < all.length ? `${count.format(shown)} of ${count.format(all.length)} rows` : `${count.format(all.length)} rows`;
    more.hidden = shown === all.length;
  };
  more.addEventListener("click", () => {
    const shown = body.rows.length;
    body.append(...all.slice(shown, 2 * shown + rowsAtOnce));
    told();
  });
  told();
  foot.append(words, more);
  return foot;
}

/** Headings of a text stand below the one of its message, and none is skipped. What they were meant as stays in their class. */
export function levelHeadings(fragment: DocumentFragment): void {
  let last = 2;
  for (const h of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const meant = Number((/^h[1-6]$/.exec(h.className)?.[0] ?? h.localName)[1]);
    last = Math.min(6, meant + 2, last + 1);
    const real = document.createElement(`h${last}`);
    real.className = `h${meant}`;
    real.dir = "auto";
    real.append(...h.childNodes);
    h.replaceWith(real);
  }
}

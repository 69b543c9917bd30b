import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Part } from "../api/types.ts";
import { styled } from "../piece.ts";
import { format } from "../route.ts";
import { count, plural } from "../shell/time.ts";
import { type Group, type GroupName, groups, linesOf, marks, type Placed, type Prompt, sameness, textOf } from "./shape.ts";

// A prompt as it is shown: its tokens as a bar, then each section with all that is
// sent in it, letter for letter.

const titles: Record<GroupName, { title: string; about: string }> = {
  tools: { title: "Tools", about: "what the model may call" },
  instructions: { title: "Instructions", about: "who it is, and how it is to answer" },
  contexts: { title: "Contexts", about: "what stays the same for a while" },
  outline: { title: "Outline", about: "a line or less for each older message" },
  messages: { title: "Messages, whole", about: "the newest ones, word for word" },
  turn: { title: "This turn", about: "what is told now, and kept from then on" },
};

/** Texts longer than this are shown in part until they are asked for. */
const long = 2400;

export interface Shown {
  /** What of it was opened: whole texts, by their keys. */
  open: ReadonlySet<string>;
  toggle: (key: string) => void;
}

export function promptView(p: Prompt, thread: string, shown: Shown): TemplateResult {
  const all = groups(p);
  return html`
    ${bar(p, all)}
    <p class="sameness">${sameness(p, count)}</p>
    <div class="sections">
      ${repeat(all, (g, i) => `${i} ${g.name}`, (g) => section(g, thread, shown, p))}
    </div>`;
}

const share = (n: number, of: number): string => `${(100 * n) / Math.max(1, of)}%`;

function bar(p: Prompt, all: Group[]): TemplateResult {
  const at = marks(p, all);
  const same = Math.min(p.ledger.same, p.tokens);
  return html`<figure class="bar">
    <div class="marks" aria-hidden="true">${at.map((m) => html`<i title=${m.words} ${styled({ "--at": share(m.at, p.tokens) })}></i>`)}</div>
    <div class="pieces" aria-hidden="true">
      ${all.map((g) => html`<i data-of=${g.name} title=${`${titles[g.name].title}: ${plural(Math.round(g.tokens), "token", "tokens")}`} ${styled({ "flex-grow": String(Math.max(1, g.tokens)) })}></i>`)}
    </div>
    <div class="known" aria-hidden="true"><i ${styled({ width: share(same, p.tokens) })}></i></div>
    <figcaption>
      <ul>
        ${all.map((g) => html`<li><i data-of=${g.name}></i>${titles[g.name].title} <b>${count(Math.round(g.tokens))}</b></li>`)}
        <li><i class="key-same"></i>the same as last time</li>
        ${at.length ? html`<li><i class="key-mark"></i>to be cached up to ${at.map((m) => m.words).join(" · ")}</li>` : nothing}
      </ul>
    </figcaption>
  </figure>`;
}

function section(g: Group, thread: string, shown: Shown, p: Prompt): TemplateResult {
  const { title, about } = titles[g.name];
  const open = g.name !== "tools";
  return html`<details class="piece" ?open=${open} data-of=${g.name}>
    <summary>
      <i data-of=${g.name}></i><h2>${title}</h2><span class="about">${about}</span>
      <span class="tokens">${plural(Math.round(g.tokens), "token", "tokens")}</span>
    </summary>
    ${g.messages.map((m, i) => html`${message(m, g.messages[i - 1], `${g.name} ${i}`, thread, shown)}${marked(m, g, i, p)}`)}
  </details>`;
}

/** What is said after a message up to which, or into which, the provider is asked to cache. */
function marked(m: Placed, g: Group, i: number, p: Prompt) {
  const here = m.index >= 0 ? p.marks.filter((k) => k.message === m.index) : g.name === "instructions" && i === g.messages.length - 1 ? p.marks.filter((k) => k.message < 0) : [];
  return here.map((k) => html`<p class="mark">The provider is asked to cache up to here${k.name === "outline" ? ", but for the last lines, which still change" : ""}.</p>`);
}

const knownWords = { same: "the same as last time", partly: "in part the same", new: "new" } as const;

function message(m: Placed, before: Placed | undefined, key: string, thread: string, shown: Shown): TemplateResult {
  const turns = before && before.known === "same" && m.known !== "same";
  return html`${turns ? html`<p class="turns"><span>Up to here it is the same as last time</span></p>` : nothing}
    <article class="sent" data-known=${m.known}>
      <header><b>${m.message.role}</b><span>${plural(Math.round(m.tokens), "token", "tokens")}</span><span class="known">${knownWords[m.known]}</span></header>
      ${m.message.parts.map((p, i) => part(p, `${key} ${i}`, thread, shown))}
    </article>`;
}

function part(p: Part, key: string, thread: string, shown: Shown): TemplateResult {
  const text = textOf(p);
  const lines = p.type === "text" ? linesOf(text) : undefined;
  if (lines) {
    return html`<ol class="lines">${lines.map((l) => html`<li><a href=${format({ thread, view: "outline", query: { at: `${l.id}+${l.n}` } })} title="Open this line">${l.id}+${l.n}</a><span dir="auto">${l.text}</span></li>`)}</ol>`;
  }
  const cut = text.length > long && !shown.open.has(key);
  return html`<pre dir="auto">${cut ? text.slice(0, long) + "…" : text}</pre>
    ${text.length > long ? html`<button class="button small quiet" @click=${() => shown.toggle(key)}>${cut ? `Show all ${count(text.length)} characters` : "Show less"}</button>` : nothing}`;
}

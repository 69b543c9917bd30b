import { html, nothing, type TemplateResult } from "lit";
import { format } from "../route.ts";
import type { Found } from "../search/ask.ts";
import "../search/marks.css";
import { marked } from "../search/marks.ts";
import { count, exactly, plural, when } from "../shell/time.ts";
import { holds } from "./draw.ts";
import { parseSpan, pathTo, type Span, spanText } from "./geometry.ts";
import type { Opened } from "./opened.ts";

// What stands below the picture: the line that is open, with its way down to the
// message, or the lines of the prompt. All that the picture gives can be had here,
// as a list.

export interface Panel {
  opened: Opened;
  lines: { id: number; n: number; text: string }[];
  tail: number | undefined;
  length: number;
  found: Found | undefined;
  thread: string;
  open: (s: Span | undefined) => void;
  page: (n: number) => void;
}

export function panel(p: Panel): TemplateResult {
  return p.opened.span ? open(p, p.opened.span) : prompt(p);
}

const words = (p: Panel): readonly string[] => p.found?.forms ?? [];

const named = (s: Span): string => (s.n === 1 ? `Message ${count(s.id)}` : `${count(s.id)} – ${count(s.id + s.n - 1)}`);

function open(p: Panel, s: Span): TemplateResult {
  const o = p.opened;
  const path = pathTo(s, p.length);
  const near = path.length > 5 ? path.slice(-3) : path;
  return html`<section class="panel" aria-label="The line that is open">
    <nav class="path" aria-label="The lines above it">
      <button class="button small quiet" @click=${() => p.open(undefined)}>The prompt</button>
      ${near.length < path.length ? html`<span aria-hidden="true">›</span><button class="button small quiet" @click=${() => p.open(path[0])}>${named(path[0]!)}</button><span>› ${path.length - 4} between</span> ` : nothing}
      ${near.map((a) => html`<span aria-hidden="true">›</span><button class="button small quiet" aria-current=${a.id === s.id && a.n === s.n ? "location" : nothing} @click=${() => p.open(a)}>${named(a)}</button>`)}
    </nav>
    ${o.failed ? html`<p class="trouble" role="alert">It cannot be opened: ${o.failed} <button class="button small" @click=${() => p.page(1)}>Try again</button></p>` : nothing}
    ${s.n === 1 ? message(p, s) : html`
      <h2>${plural(s.n, "message", "messages")}, as a line</h2>
      <p class="line" dir="auto">${o.text === undefined ? (o.failed ? "" : "…") : marked(o.text, words(p))}</p>
      ${o.halves.length ? html`<h2>Made from</h2>
        <ol class="halves">${o.halves.map((h) => {
          const half = parseSpan(h.span)!;
          return html`<li><button data-found=${p.found && holds(p.found.places, half) ? "" : nothing} @click=${() => p.open(half)}><b>${named(half)}</b><span dir="auto">${h.missing ? "This line is not written yet." : marked(h.text, words(p))}</span></button></li>`;
        })}</ol>` : nothing}`}
  </section>`;
}

function message(p: Panel, s: Span): TemplateResult {
  const m = p.opened.message;
  if (!m) return html`<p class="quiet">…</p>`;
  const text = m.text.replace(/^.*\n/, "");
  return html`<article class="said">
    <header><b>${m.author ?? "Somebody"}</b>${m.to?.length ? html` to ${m.to.join(", ")}` : nothing} <time datetime=${m.time} title=${exactly(m.time)}>${when(m.time)}</time>
      <a href=${format({ thread: p.thread, index: s.id, ...(p.found && { query: { words: words(p).join(" ") } }) })}>Open in the conversation</a></header>
    <div class="text" dir="auto">${marked(text, words(p))}</div>
    ${m.pages > 1 ? html`<footer>
      <button class="button small" ?disabled=${m.page === 1} @click=${() => p.page(m.page - 1)}>Page before</button>
      <span>page ${m.page} of ${m.pages}</span>
      <button class="button small" ?disabled=${m.page === m.pages} @click=${() => p.page(m.page + 1)}>Next page</button></footer>` : nothing}
    <footer>
      <button class="button small" ?disabled=${s.id === 0} @click=${() => p.open({ id: s.id - 1, n: 1 })}>Message before</button>
      <button class="button small" ?disabled=${s.id + 1 >= p.length} @click=${() => p.open({ id: s.id + 1, n: 1 })}>Next message</button>
    </footer>
  </article>`;
}

function prompt(p: Panel): TemplateResult {
  if (!p.lines.length) return html`<section class="panel" aria-label="Lines"><p class="quiet">Choose a bar, or walk with the arrow keys; wheel, pinch, + and − zoom.</p></section>`;
  return html`<section class="panel" aria-label="The lines in the prompt">
    <p class="quiet">Choose a bar, or walk with the arrow keys; wheel, pinch, + and − zoom.</p>
    <h2>The lines in the prompt</h2>
    <ol class="halves">
      ${p.lines.map((l) => html`<li><button data-found=${p.found && holds(p.found.places, l) ? "" : nothing} @click=${() => p.open({ id: l.id, n: l.n })}><b title=${spanText(l)}>${named(l)}</b><span dir="auto">${marked(l.text, words(p))}</span></button></li>`)}
    </ol>
    ${p.tail !== undefined && p.tail < p.length ? html`<p class="quiet">Then messages ${count(p.tail)} to ${count(p.length - 1)}, whole. <a href=${format({ thread: p.thread, index: p.tail })}>Go to the first</a></p>` : nothing}
  </section>`;
}

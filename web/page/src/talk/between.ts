import { html, nothing, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Entry } from "../api/types.ts";
import { format } from "../route.ts";
import { atClock, count, exactly, plural } from "../shell/time.ts";
import { type Cut, cutWords } from "../state/cuts.ts";
import { drawn, type Row } from "../state/rows.ts";
import type { ThreadStore } from "../state/thread.ts";
import "./message.ts";

// What lies between messages: where cuts were made, and what was undone.

type Of<K extends Row["kind"]> = Row & { kind: K };

const clock = (time: string) => html`<time datetime=${time} title=${exactly(time)}>${atClock(time)}</time>`;

const sizes = (c: Cut): string => (c.before > c.after && c.after > 0 ? `, ${count(c.before)} tokens became ${count(c.after)}` : "");

const cutNumber = (thread: string, c: Cut) => html`<a href=${format({ thread, index: c.to })} title=${`To message #${c.to}, the first that stayed whole`}>Cut ${count(c.number)}</a>`;

/** The marks of cuts that were made between two messages. Many are told as one, and each on demand. */
export function cutMarks(thread: string, r: Of<"cuts">): TemplateResult {
  const [first, last] = [r.cuts[0]!, r.cuts.at(-1)!];
  if (first === last) return html`<p class="cut-made" data-cut=${first.number}>${cutNumber(thread, first)} · ${clock(first.time)} · <span>${cutWords(first)}${sizes(first)}</span></p>`;
  const same = atClock(first.time) === atClock(last.time);
  const all = r.cuts.every((c) => c.strategy === "outline");
  return html`<details class="cut-made" data-cut=${`${first.number} ${last.number}`}>
    <summary>Cuts ${count(first.number)} to ${count(last.number)} · ${clock(first.time)}${same ? nothing : html` to ${clock(last.time)}`} · <span>${all ? cutWords({ strategy: "outline", from: first.from, to: last.to }) : "what the model gets was made smaller"}</span></summary>
    <ol>${r.cuts.map((c) => html`<li>${cutNumber(thread, c)} · ${clock(c.time)} · ${cutWords(c)}${sizes(c)}</li>`)}</ol>
  </details>`;
}

/** What is told where messages were undone. */
function undoneWords(r: Of<"undone">): string {
  const n = r.entries.length;
  if (n === 0) return "Here more may have been undone";
  const some = r.more ? `${count(n)} messages or more` : plural(n, "message", "messages");
  return `${some} undone${r.past ? " by a reset" : ""}`;
}

/** Says whether the message begins another attempt than the one before it. */
const another = (all: readonly Entry[], i: number): boolean => i > 0 && all[i]!.index !== all[i - 1]!.index + 1;

/** A mark where messages were undone; they open in their place. */
export function undoneMark(store: ThreadStore, r: Of<"undone">, toggle: (e: Event) => void): TemplateResult {
  const open = store.opened.has(r.key);
  const go = r.entries.length === 0 || (open && r.more);
  const begins = new Set(r.entries.filter((_, i) => another(r.entries, i)).map((e) => e.id));
  return html`<section class="undone" aria-label=${undoneWords(r)} data-open=${open ? "" : nothing}>
    <p><span>${undoneWords(r)}</span>${r.entries.length ? html` · <button class="link" aria-expanded=${open} data-undone @click=${toggle}>${open ? "hide" : "show"}</button>` : nothing}
      ${go ? html` · <button class="link" @click=${() => store.undone.goOn()}>look further</button>` : nothing}</p>
    ${open ? html`<div>${repeat(drawn(r.entries), (d) => d.key, (d) => html`${begins.has(d.key) ? html`<hr aria-label="Another attempt" />` : nothing}<sk-message .row=${d} .store=${store} .undone=${true}></sk-message>`)}</div>` : nothing}
  </section>`;
}

/** What is said where the messages begin that the model gets whole. */
export function dividerWords(r: Of<"divider">): string {
  const before = r.boundary === 1 ? "the message before" : `the ${count(r.boundary)} messages before`;
  const since = `cut ${count(r.number)}${r.time ? `, ${atClock(r.time)}` : ""}`;
  if (r.strategy === "outline" || r.lines) return `From here on the model gets every message whole, since ${since}; of ${before}, ${plural(r.lines, "line", "lines")}`;
  return `From here on the model gets every message as it is, since ${since}; ${before} were made smaller (${r.strategy})`;
}

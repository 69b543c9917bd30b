import { html, nothing, type TemplateResult } from "lit";
import { guard } from "lit/directives/guard.js";
import { blobURL } from "../api/api.ts";
import type { Part } from "../api/types.ts";
import { icon } from "../shell/icons.ts";
import { plural, size } from "../shell/time.ts";
import { endOf, type Outcome } from "../state/rows.ts";
import { type Manner, render } from "../text/markdown.ts";
import { takeOver } from "./growing.ts";
import "./fold.ts";

// How each part of a message is drawn: one row of a table for each type.

export interface Around {
  thread: string;
  seq: number;
  manner: Manner;
  outcomes: readonly Outcome[];
  /** The ids of calls that wait for somebody to decide. */
  asking: string;
}

type Drawn = TemplateResult | typeof nothing;

const drawers: Record<string, (p: Part, a: Around) => Drawn> = {
  text: (p, a) => prose(p.text ?? "", a.manner),
  thinking: (p) => thinking(p),
  toolCall: (p, a) => call(p, a),
  toolResult: (p, a) => result(p, a),
  blob: (p, a) => blob(p, a),
};

export const drawPart = (p: Part, a: Around): Drawn => (drawers[p.type] ?? unknown)(p, a);

export const prose = (text: string, manner: Manner): Drawn =>
  text.trim() === "" ? nothing : html`<div class="prose">${guard([text, manner], () => (manner === "prose" ? takeOver(text) : undefined) ?? render(text, manner))}</div>`;

function thinking(p: Part): Drawn {
  if (p.redacted || !p.text) return html`<p class="aside">Thinking that its maker keeps to itself.</p>`;
  return html`<details class="thinking"><summary>Thinking <span class="aside">${plural(p.text.trim().split(/\s+/).length, "word", "words")}</span></summary>${prose(p.text, "prose")}</details>`;
}

/** A call's input in one line where it is short. */
export function inputText(input: unknown): string {
  if (input === undefined || input === null) return "";
  const values = typeof input === "object" && !Array.isArray(input) ? Object.values(input) : [];
  if (values.length === 0 && typeof input === "object") return "";
  if (values.length === 1 && typeof values[0] === "string") return values[0];
  const short = JSON.stringify(input);
  return short.length <= 80 ? short : JSON.stringify(input, null, 2);
}

function call(p: Part, a: Around): Drawn {
  const outcome = a.outcomes.find((o) => o.part.call === p.id)?.part;
  const state = !outcome ? (a.asking.split(" ").includes(p.id ?? "") ? "asking" : "open") : endOf(outcome);
  return callCard(p.name ?? "", p.input, state, outcome ? html`${(outcome.parts ?? []).map((r) => output(r, a))}` : nothing);
}

const stateWords = { open: "no result yet", done: "done", failed: "failed", denied: "denied", running: "running", asking: "waits for you" } as const;

export function callCard(name: string, input: unknown, state: keyof typeof stateWords, inside: unknown): TemplateResult {
  const text = inputText(input);
  const brief = text.length <= 80 && !text.includes("\n");
  return html`<div class="call" data-state=${state} role="group" aria-label=${`Call of ${name}`}>
    <p class="head"><span class="tool">${name}</span>${brief && text ? html`<code dir="ltr">${text}</code>` : nothing}<span class="state">${stateWords[state]}</span></p>
    ${brief ? nothing : html`<sk-fold .text=${text} .language=${text.startsWith("{") ? "json" : ""} .label=${"Input"}></sk-fold>`}
    ${inside}
  </div>`;
}

function output(p: Part, a: Around): Drawn {
  if (p.type !== "text") return drawPart(p, a);
  const text = (p.text ?? "").replace(/\n+$/, "");
  return text ? html`<sk-fold .text=${text} .label=${"Output"}></sk-fold>` : html`<p class="aside">No output.</p>`;
}

/** A result whose call is not on the screen. */
function result(p: Part, a: Around): Drawn {
  return callCard(p.name ?? "", undefined, endOf(p), html`${(p.parts ?? []).map((r) => output(r, a))}`);
}

const pictures = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function blob(p: Part, a: Around): Drawn {
  const name = p.name || "attachment";
  const url = `${blobURL(a.thread, p.hash ?? "")}${a.seq ? `?seq=${a.seq}` : ""}`;
  const about = `${p.mediaType ?? ""} ${size(p.size ?? 0)}`.trim();
  if (pictures.has(p.mediaType ?? "")) {
    return html`<a class="picture" href=${url} download=${name}><img src=${url} alt=${name} loading="lazy" decoding="async" /><span class="aside"><bdi>${name}</bdi> ${size(p.size ?? 0)}</span></a>`;
  }
  return html`<a class="file" href=${url} download=${name}>${icon("file")}<bdi>${name}</bdi><span class="aside">${about}</span></a>`;
}

function unknown(p: Part): Drawn {
  return html`<details class="thinking"><summary>A part of another program <span class="aside">${p.type}</span></summary><sk-fold .text=${JSON.stringify(p.raw ?? p, null, 2)} .language=${"json"} .label=${"Part"}></sk-fold></details>`;
}

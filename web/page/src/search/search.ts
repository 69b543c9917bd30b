import { html, nothing, type PropertyDeclarations } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { plural } from "../shell/time.ts";
import type { ThreadStore } from "../state/thread.ts";
import { titleOf } from "../state/threads.ts";
import { type Found, type FoundAll, type Hit, searchAll, searchThread } from "./ask.ts";
import "./hit.ts";
import "./search.css";

const first = 20;
const most = 100;

/** How long typing must rest before what was typed is looked for, in ms. */
const rest = 250;

/** How many hold the words, and how many only stand beside one that does. */
function counted(hits: readonly Hit[]): string {
  const beside = hits.filter((h) => h.marks.length === 0).length;
  if (!hits.length) return "Nothing was found.";
  return plural(hits.length - beside, "message", "messages") + (beside ? `, and ${beside} beside` : "");
}

/** A search: what is looked for stands in the address. */
abstract class Search extends Piece {
  static override properties: PropertyDeclarations = { store: { attribute: false }, query: { attribute: false }, busy: { state: true }, limit: { state: true } };
  declare store: ThreadStore | undefined;
  declare query: URLSearchParams;
  declare busy: boolean;
  declare limit: number;
  #asked = "";
  #end: AbortController | undefined;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.busy = false;
    this.limit = first;
  }

  /** What was looked for is nowhere: how to look is told again. */
  get #lost(): boolean {
    return !this.busy && this.none;
  }

  /** Nothing was found. */
  protected abstract readonly none: boolean;
  protected abstract readonly label: string;
  protected abstract find(q: string, limit: number, signal: AbortSignal): Promise<void>;
  protected abstract clear(): void;
  protected abstract results(): unknown;
  protected abstract options(): unknown;
  protected abstract where(query: Record<string, string>): string;

  get words(): string {
    return this.query?.get("q") ?? "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>("input[type=search]")?.focus());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#typing);
    this.#end?.abort();
  }

  protected override willUpdate(): void {
    const what = `${this.query} ${this.limit}`;
    if (what === this.#asked) return;
    this.#asked = what;
    this.#end?.abort();
    if (!this.words) {
      this.busy = false;
      this.clear();
      return;
    }
    const end = (this.#end = new AbortController());
    this.busy = true;
    this.find(this.words, this.limit, end.signal).then(
      () => !end.signal.aborted && (this.busy = false),
      () => {},
    );
  }

  override render() {
    return html`<h1 class="unseen">${this.label}</h1>
      <form role="search" @submit=${this.#submit}>
        <input class="field" type="search" aria-label=${this.label} aria-describedby="find-hint" placeholder="Words, or “an exact text”" autocomplete="off" .value=${this.words} @input=${this.#typed} @keydown=${this.#down} />
        ${this.options()}
      </form>
      ${this.busy ? html`<p class="quiet" role="status">Looking…</p>` : nothing}
      ${this.words ? this.results() : html`<p class="quiet">Everything that was ever said can be found, also what the model now sees as a line or not at all.</p>`}
      <ul class="hints" id="find-hint" ?hidden=${this.words !== "" && !this.#lost}>
        <li>A message may hold any of the words; the best come first.</li>
        <li>A word finds its other forms (<b>paint</b>: painting, painted), but the beginning of a word alone (<b>pai</b>) finds nothing.</li>
        <li>What stands in quotes must be there letter for letter: <b>"behind the zebra"</b>.</li>
      </ul>`;
  }

  #submit(e: Event): void {
    e.preventDefault();
    this.#go();
  }

  #typed(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#go(), rest);
  }

  #go(): void {
    clearTimeout(this.#typing);
    const q = this.querySelector<HTMLInputElement>("input[type=search]")!.value.trim();
    this.limit = first;
    this.search({ q });
  }

  /** Looks for something else, or in another way. */
  protected search(change: Record<string, string>): void {
    const all = { ...Object.fromEntries(this.query ?? []), ...change };
    router.replace(this.where(Object.fromEntries(Object.entries(all).filter(([, v]) => v))));
  }

  #down(e: KeyboardEvent): void {
    if (e.key !== "ArrowDown") return;
    e.preventDefault();
    this.querySelector<HTMLElement>("button.hit")?.focus();
  }

  /** Moves between results. */
  protected walk = (e: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const all = [...this.querySelectorAll<HTMLElement>("button.hit")];
    const i = all.indexOf(document.activeElement as HTMLElement);
    if (!step || i < 0) return;
    e.preventDefault();
    (all[i + step] ?? this.querySelector<HTMLElement>(step < 0 ? "input[type=search]" : "button.hit:last-of-type"))?.focus();
  };

  protected hits(f: Found) {
    return html`<ol class="hits" @keydown=${this.walk}>${repeat(f.hits, (h) => `${this.words} ${h.seq}`, (h) => html`<li><sk-hit .thread=${f.thread} .hit=${h} .forms=${f.forms}></sk-hit></li>`)}</ol>`;
  }
}

/** Search in the thread that is open. */
class SearchThread extends Search {
  static override properties: PropertyDeclarations = { found: { state: true } };
  declare found: Found | undefined;
  protected readonly label = "Find in this thread";

  protected get none(): boolean {
    return this.found?.hits.length === 0;
  }

  protected async find(q: string, limit: number, signal: AbortSignal): Promise<void> {
    this.found = await searchThread(this.store!.id, q, limit, { around: this.query.get("around") ? 2 : 0, inactive: this.query.get("undone") !== null, signal });
  }

  protected clear(): void {
    this.found = undefined;
  }

  protected where(query: Record<string, string>): string {
    return format({ thread: this.store!.id, view: "find", query });
  }

  protected options() {
    const box = (name: string, label: string) =>
      html`<label><input type="checkbox" .checked=${this.query.get(name) !== null} @change=${(e: Event) => this.search({ [name]: (e.target as HTMLInputElement).checked ? "1" : "" })} /> ${label}</label>`;
    return html`<div class="options">${box("around", "with the lines around")}${box("undone", "undone ones too")}
      ${this.words ? html`<a href=${format({ view: "search", query: { q: this.words } })}>In all threads</a>` : nothing}</div>`;
  }

  protected results() {
    const f = this.found;
    if (!f) return nothing;
    if (f.failed) return html`<p class="trouble" role="alert">${f.failed}</p>`;
    return html`<p class="sum" role="status">${counted(f.hits)}
        ${f.held >= most ? ` Only the ${most} best that hold the words were looked at for what stands in quotes.` : ""}
        ${f.capped ? ` Only the newest ${f.capped} that matched were ranked.` : ""}
        ${f.places.length ? html`<a href=${format({ thread: f.thread, view: "outline", query: { q: this.words } })}>See where they are</a>` : nothing}</p>
      ${this.hits(f)}
      ${f.hits.length >= this.limit && this.limit < most ? html`<button class="button" @click=${() => (this.limit = most)}>Show more</button>` : nothing}`;
  }
}
define("sk-find", SearchThread);

/** Search in all threads. */
class SearchEverything extends Search {
  static override properties: PropertyDeclarations = { found: { state: true } };
  declare found: FoundAll | undefined;
  protected readonly label = "Find in all threads";

  protected get none(): boolean {
    return this.found?.items.length === 0;
  }

  protected async find(q: string, limit: number, signal: AbortSignal): Promise<void> {
    this.found = await searchAll(q, Math.min(limit, 10), signal);
  }

  protected clear(): void {
    this.found = undefined;
  }

  protected where(query: Record<string, string>): string {
    return format({ view: "search", query });
  }

  protected options() {
    return nothing;
  }

  protected results() {
    const f = this.found;
    if (!f) return nothing;
    if (f.failed) return html`<p class="trouble" role="alert">${f.failed}</p>`;
    return html`<p class="sum" role="status">${counted(f.items.flatMap((i) => i.hits))}${f.items.length ? ` in ${plural(f.items.length, "thread", "threads")}` : ""}
        ${f.more ? `in the ${f.searched} threads that were used last; there are more.` : ""}</p>
      ${f.items.map((i) => html`<section class="in">
        <h2><a href=${format({ thread: i.thread })} dir="auto">${titleOf({ id: i.thread, ...(i.title && { title: i.title }) })}</a>
          <a class="only" href=${format({ thread: i.thread, view: "find", query: { q: this.words } })}>only here</a></h2>
        ${this.hits(i)}
      </section>`)}`;
  }
}
define("sk-search", SearchEverything);

import { html, nothing } from "lit";
import { guard } from "lit/directives/guard.js";
import { api, inWords } from "../api/api.ts";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { onScheme } from "../shell/colours.ts";
import { themes } from "../shell/theme.ts";
import { atClock, count, exactly, plural, when } from "../shell/time.ts";
import { Follows } from "../state/observable.ts";
import type { ThreadStore } from "../state/thread.ts";
import { cutWords } from "../state/cuts.ts";
import { Chart } from "./chart.ts";
import { cuts, cutsEver, type CutsMade, inSentence, type Made, money, sums, tellsOfCache } from "./ledger.ts";
import "./prompt.css";
import { LedgerReader } from "./reader.ts";
import type { Prompt } from "./shape.ts";
import { promptView } from "./view.ts";

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Requests in the table at once. */
const rows = 11;

/** What the model sees: the next prompt, or that of an answer, and the ledger of them all. */
class PromptView extends Piece {
  static override properties = { store: { attribute: false }, query: { attribute: false }, prompt: { state: true }, failed: { state: true }, hover: { state: true }, ranged: { state: true }, table: { state: true } };
  declare store: ThreadStore;
  declare query: URLSearchParams;
  declare prompt: Prompt | undefined;
  declare failed: string;
  /** The place in the ledger that is pointed at. */
  declare hover: number | undefined;
  declare ranged: boolean;
  declare table: boolean;
  #ledger: LedgerReader | undefined;
  #chart: Chart | undefined;
  #follows = new Follows(this);
  #asked: string | undefined;
  #asking: AbortController | undefined;
  #later: ReturnType<typeof setTimeout> | undefined;
  #open = new Set<string>();
  #toggled = 0;
  #stood = "";
  #leave: (() => void)[] = [];

  constructor() {
    super();
    this.failed = "";
    this.ranged = false;
    this.table = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const recolour = () => this.#chart?.recolour();
    this.#leave = [onScheme(recolour), themes.listen(() => requestAnimationFrame(recolour))];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const leave of this.#leave) leave();
    clearTimeout(this.#later);
    this.#asking?.abort();
    this.#ledger?.close();
    this.#chart?.close();
    this.#chart = undefined;
    this.#ledger = undefined;
    this.#asked = undefined;
  }

  /** The seq of the answer whose prompt is shown; 0: the next one is. */
  get #at(): number {
    return Number(this.query?.get("at") ?? 0) || 0;
  }

  protected override willUpdate(): void {
    if (!this.#ledger) {
      this.#ledger = new LedgerReader(this.store.id);
      this.#follows.turnTo(this.store, this.#ledger);
      void this.#ledger.read();
    }
    const v = this.store.view;
    const back = this.store.standing === "live" && this.#stood !== "live";
    this.#stood = this.store.standing;
    if (back && this.#ledger.failed) void this.#ledger.read();
    if (back && this.failed) this.#asked = undefined;
    const what = this.#at ? `at ${this.#at}` : v ? `${v.thread.branch} ${v.length} ${v.head?.seq} ${v.docs.agent.turn} ${v.docs.agent.name} ${v.docs.agent.model}` : undefined;
    if (what === undefined || what === this.#asked) return;
    const first = this.#asked === undefined || what.startsWith("at ") || this.#asked.startsWith("at ");
    this.#asked = what;
    clearTimeout(this.#later);
    if (first) return void this.#ask();
    this.#later = setTimeout(() => {
      void this.#ask();
      void this.#ledger?.renew();
    }, 400);
  }

  async #ask(): Promise<void> {
    this.#asking?.abort();
    const end = (this.#asking = new AbortController());
    try {
      const prompt = await api.get<Prompt>(this.store.id, "/prompt", this.#at ? { at: this.#at } : {}, end.signal);
      if (end.signal.aborted) return;
      this.prompt = prompt;
      this.failed = "";
    } catch (err) {
      if (end.signal.aborted) return;
      this.prompt = undefined;
      this.failed = inWords(err);
    }
  }

  protected override updated(): void {
    const host = this.querySelector<HTMLElement>(".chart .plot");
    if (!host || !this.#ledger?.all.length) return;
    if (this.#chart?.host !== host) {
      this.#chart?.close();
      this.#chart = new Chart(host, { hover: (i) => (this.hover = i), choose: (i) => this.#show(i), ranged: (part) => (this.ranged = part) });
    }
    this.#chart.show(this.#ledger.all, this.#chosen, this.#newestCut);
  }

  /** The number of the newest cut in force. */
  get #newestCut(): number {
    return this.store.view?.head?.number ?? 0;
  }

  /** The place of the answer whose prompt is shown. */
  get #chosen(): number | undefined {
    const i = this.#at ? (this.#ledger?.all.findIndex((m) => m.seq === this.#at) ?? -1) : -1;
    return i < 0 ? undefined : i;
  }

  #show(place: number | undefined): void {
    const m = place === undefined ? undefined : this.#ledger?.all[place];
    router.replace(format({ thread: this.store.id, view: "prompt", ...(m && { query: { at: String(m.seq) } }) }));
  }

  override render() {
    const made = this.#ledger?.all ?? [];
    return html`<h1 class="unseen">What the model sees</h1>
      <section class="ledger" aria-label="Ledger">${this.#ledgerView(made)}</section>
      <section class="prompt" aria-label="What is sent">
        ${this.#heading(made)}
        ${this.failed
          ? html`<div class="trouble" role="alert"><p>The prompt cannot be shown: ${this.failed}</p><button class="button" @click=${() => this.#ask()}>Try again</button></div>`
          : this.prompt
            ? guard([this.prompt, this.#toggled], () => promptView(this.prompt!, this.store.id, { open: this.#open, toggle: (key) => this.#toggle(key) }))
            : html`<p class="quiet" role="status">Loading…</p>`}
      </section>`;
  }

  #toggle(key: string): void {
    if (!this.#open.delete(key)) this.#open.add(key);
    this.#toggled++;
    this.requestUpdate();
  }

  #heading(made: readonly Made[]) {
    const at = this.#chosen;
    const m = at === undefined ? undefined : made[at];
    const tokens = this.prompt ? html`<span class="total">${plural(this.prompt.tokens, "token", "tokens")}</span>` : nothing;
    if (!this.#at) return html`<header class="what"><h2>The next prompt</h2>${tokens}<span class="quiet">exactly as it would be sent now</span></header>`;
    return html`<header class="what">
      <h2>${m ? `Request ${count(m.request.number)}` : "A request"}</h2>${tokens}
      ${m ? html`<span class="quiet">as it was sent <time datetime=${m.time} title=${exactly(m.time)}>${when(m.time)}</time>${m.model ? ` to ${m.model}` : ""}</span>` : nothing}
      <span class="walk">
        <button class="button small" ?disabled=${at === undefined || at === 0} @click=${() => this.#show(at! - 1)}>Earlier</button>
        <button class="button small" ?disabled=${at === undefined || at === made.length - 1} @click=${() => this.#show(at! + 1)}>Later</button>
        <button class="button small" @click=${() => this.#show(undefined)}>The next prompt</button>
      </span>
      ${m ? html`<p class="quiet">${inSentence(m, tellsOfCache(made), count)}</p>` : nothing}
    </header>`;
  }

  #ledgerView(made: readonly Made[]) {
    const l = this.#ledger;
    if (l?.failed) return html`<div class="trouble" role="alert"><p>The ledger cannot be read: ${inWords(l.failed)}</p><button class="button" @click=${() => l.read()}>Try again</button></div>`;
    if (!made.length) {
      const before = this.#newestCut ? ` ${this.#newestCut === 1 ? "One cut was made" : `${count(this.#newestCut)} cuts were made`} as messages came in.` : "";
      return html`<p class="quiet" role="status">${l?.reading ? "Reading the ledger…" : `No request has been made here yet: the ledger begins with the first answer.${before}`}</p>
        ${l && !l.reading && l.more ? this.#older(l) : nothing}`;
    }
    const s = sums(made);
    const chosen = this.#chosen ?? made.length - 1;
    const m = made[this.hover ?? chosen];
    return html`
      <dl class="sums">
        <div><dt>Requests</dt><dd>${count(s.requests)}</dd></div>
        <div><dt>${s.estimated ? "The same as before" : "Read from cache"}</dt><dd>${Math.round(100 * s.hit)} %</dd></div>
        <div><dt>Tokens in</dt><dd>${count(Math.round(s.read + s.written + s.fresh))}</dd></div>
        <div><dt>Answered</dt><dd>${count(Math.round(s.output))}</dd></div>
        ${s.cost ? html`<div><dt>Cost</dt><dd>${money(s.cost)}</dd></div>` : nothing}
        <div><dt>Cuts</dt><dd>${count(cutsEver(made, this.#newestCut))}</dd></div>
      </dl>
      <div class="chart" role="slider" tabindex="0" aria-label="Request whose prompt is shown" aria-valuemin=${made[0]!.request.number} aria-valuemax=${made.at(-1)!.request.number}
        aria-valuenow=${made[chosen]!.request.number} aria-valuetext=${inSentence(made[chosen]!, !s.estimated, count)} @keydown=${this.#key}>
        <div class="plot"></div>
      </div>
      <ul class="legend">
        <li><i class="read"></i>${s.estimated ? "the same as the request before (this model tells of no cache)" : "read from the cache"}</li>
        ${s.estimated ? nothing : html`<li><i class="written"></i>written to it</li>`}
        <li><i class="fresh"></i>new</li><li><i class="cut"></i>a cut</li>${s.cost ? html`<li><i class="cost"></i>cost</li>` : nothing}
      </ul>
      <p class="pointed" aria-hidden=${this.hover === undefined ? nothing : "true"}>${m ? inSentence(m, !s.estimated, count) : nothing}</p>
      <div class="more">
        ${this.ranged ? html`<button class="button small" @click=${() => this.#chart?.whole()}>Show all</button>` : nothing}
        ${l?.reading ? html`<span class="quiet" role="status">Reading… ${count(made.length)}</span>` : l?.more ? this.#older(l) : nothing}
        <button class="button small quiet" aria-expanded=${this.table} @click=${() => (this.table = !this.table)}>As a table</button>
      </div>
      ${this.table ? this.#tableView(made, !s.estimated, chosen) : nothing}`;
  }

  #older(l: LedgerReader) {
    return html`<button class="button small" @click=${() => l.read()}>Look for older requests</button>`;
  }

  #key(e: KeyboardEvent): void {
    const n = this.#ledger?.all.length ?? 0;
    const at = this.#chosen ?? n;
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, PageDown: at - 10, PageUp: at + 10, Home: 0, End: n - 1 }[e.key];
    if (to === undefined && e.key !== "Escape") return;
    e.preventDefault();
    this.#show(to === undefined || to >= n ? undefined : Math.max(0, to));
  }

  /** The cuts, and some requests around the one that is shown. */
  #tableView(made: readonly Made[], told: boolean, chosen: number) {
    const from = Math.max(0, Math.min(chosen - 5, made.length - rows));
    return html`<div class="tables">
      <table><caption>Requests ${count(made[from]!.request.number)} to ${count(made[Math.min(made.length, from + rows) - 1]!.request.number)}</caption>
        <thead><tr><th scope="col">Request</th><th scope="col">When</th><th scope="col">What it took</th></tr></thead>
        <tbody>${made.slice(from, from + rows).map((m, i) => html`<tr aria-current=${from + i === this.#chosen ? "true" : nothing}>
          <td><button class="button small quiet" @click=${() => this.#show(from + i)}>${count(m.request.number)}</button></td>
          <td><time datetime=${m.time} title=${exactly(m.time)}>${when(m.time)}</time></td>
          <td>${inSentence(m, told, count).replace(/^Request [^ :]*[ :]+/, "")}</td></tr>`)}</tbody></table>
      <table><caption>Cuts, the newest first</caption>
        <thead><tr><th scope="col">Cut</th><th scope="col">When</th><th scope="col">What it did</th></tr></thead>
        <tbody>${this.#cutRows(made)}</tbody></table>
    </div>`;
  }

  /** The newest cuts. Those in force are read as the conversation's marks are: both say the same. */
  #cutRows(made: readonly Made[]) {
    const shown = cuts(made, this.#newestCut).slice(-20);
    const first = shown[0];
    const { head } = this.store.view ?? {};
    if (head && first) this.store.cuts.follow(head.seq, made[first.at - 1]?.seq ?? 0);
    const known = new Map(this.store.cuts.all.map((c) => [c.number, c]));
    return shown.reverse().map((c) => {
      const [one, last] = [known.get(c.first), known.get(c.number)];
      const time = last?.time ?? made[c.at]?.time;
      const name = c.first === c.number ? count(c.number) : `${count(c.first)} to ${count(c.number)}`;
      return html`<tr>
        <td>${last ? html`<a href=${format({ thread: this.store.id, index: last.to })} title="Where the model's whole messages began after it">${name}</a>` : name}</td>
        <td><time datetime=${time ?? ""} title=${exactly(time)}>${atClock(time)}</time></td>
        <td>${one && last ? `${capital(cutWords({ strategy: last.strategy, from: one.from, to: last.to }))}; ` : ""}${this.#effect(c, made)}</td></tr>`;
    });
  }

  #effect(c: CutsMade, made: readonly Made[]): string {
    const next = made[c.at];
    if (!next) return "before the next request";
    const sizes = c.before ? `: ${count(c.before)} tokens became ${count(c.after)}` : "";
    return `before request ${count(next.request.number)}${sizes}`;
  }
}
define("sk-prompt", PromptView);

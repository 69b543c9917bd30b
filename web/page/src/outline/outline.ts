import { html, nothing } from "lit";
import { api, inWords } from "../api/api.ts";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { type Found, searchThread } from "../search/ask.ts";
import { onScheme } from "../shell/colours.ts";
import { themes } from "../shell/theme.ts";
import { count, plural } from "../shell/time.ts";
import { Follows } from "../state/observable.ts";
import type { ThreadStore } from "../state/thread.ts";
import { beside, exists, fitted, levelOf, levels, parseSpan, roots, shown, type Span, spanText, whole, zoomed } from "./geometry.ts";
import { type Node, Nodes } from "./nodes.ts";
import { Opened } from "./opened.ts";
import "./outline.css";
import { panel } from "./panel.ts";
import { IciclePicture } from "./picture.ts";
import "./tip.ts";
import type { LineTip } from "./tip.ts";

/** The outline as the server gives it: what of the thread is in the prompt. */
interface Outline {
  messages: number;
  boundary: number;
  cut: number;
  lines: { id: number; n: number; text: string }[];
  tail: { from: number; weight: number; low: number; high: number };
  backlog: number;
  strategy?: string;
}

/** How long typing must rest before what was typed is looked for, in ms. */
const rest = 250;

/** How long after a failure one asks again, in ms. */
const again = 2000;

/** The thread as a picture: an icicle of the tree of lines, down to the messages. */
class OutlineView extends Piece {
  static override properties = { store: { attribute: false }, query: { attribute: false }, outline: { state: true }, failed: { state: true }, found: { state: true }, seeking: { state: true } };
  declare store: ThreadStore;
  declare query: URLSearchParams;
  declare outline: Outline | undefined;
  declare failed: string;
  declare found: Found | undefined;
  declare seeking: string;
  #nodes: Nodes | undefined;
  #opened: Opened | undefined;
  #picture: IciclePicture | undefined;
  #follows = new Follows(this);
  #branch = "";
  #asked = "";
  #later: ReturnType<typeof setTimeout> | undefined;
  #leave: (() => void)[] = [];

  constructor() {
    super();
    this.failed = "";
    this.seeking = "";
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const recolour = () => this.#picture?.recolour();
    this.#leave = [onScheme(recolour), themes.listen(() => requestAnimationFrame(recolour))];
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const leave of this.#leave) leave();
    clearTimeout(this.#later);
    clearTimeout(this.#typing);
    this.#picture?.close();
    this.#picture = undefined;
    this.#nodes?.clear();
    this.#opened?.close();
    this.#opened = undefined;
  }

  get #length(): number {
    return this.store.view?.length ?? 0;
  }

  protected override willUpdate(): void {
    if (!this.#opened) this.#begin();
    const v = this.store.view;
    if (!v) return;
    const back = this.store.standing === "live" && this.#stood !== "live";
    this.#stood = this.store.standing;
    if (back && this.#opened!.failed) void this.#opened!.open(this.#opened!.span);
    const branch = `${v.thread.epoch} ${v.thread.branch}`;
    if (branch !== this.#branch) {
      if (this.#branch) this.#nodes!.clear();
      this.#branch = branch;
    }
    this.#askOutline(`${branch} ${v.length} ${v.head?.seq}`);
    const q = this.query?.get("q") ?? "";
    if (q !== this.seeking) void this.#seek(q);
    const at = parseSpan(this.query?.get("at"));
    const now = this.#opened!.span;
    if (at && exists(at, v.length)) {
      if (at.id !== now?.id || at.n !== now.n) this.#goTo(at);
    } else if (!at && now) void this.#opened!.open(undefined);
  }

  /** Why lines on the screen could not be fetched; they are asked for again. */
  #lacking: unknown;

  #begin(): void {
    this.#opened = new Opened(this.store.id);
    this.#nodes = new Nodes(
      async (level, from, n, signal) => (await api.get<{ items: Node[] }>(this.store.id, "/nodes", { level, from, count: n }, signal)).items,
      () => {
        this.#picture?.redraw();
        if (this.#nodes!.failed !== this.#lacking) this.requestUpdate();
        this.#lacking = this.#nodes!.failed;
      },
    );
    this.#follows.turnTo(this.store, this.#opened);
  }

  /** Asks what is in the prompt, at once at first, then once things have settled. */
  #askOutline(what: string): void {
    if (what === this.#asked) return;
    const first = !this.#asked;
    this.#asked = what;
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#fetchOutline(what), first ? 0 : 500);
  }

  async #fetchOutline(what: string): Promise<void> {
    try {
      const outline = await api.get<Outline>(this.store.id, "/outline");
      if (what !== this.#asked) return;
      this.outline = outline;
      this.failed = "";
    } catch (err) {
      if (what !== this.#asked || !this.isConnected) return;
      this.failed = inWords(err);
      this.#later = setTimeout(() => this.#fetchOutline(what), again);
    }
  }

  protected override updated(): void {
    const host = this.querySelector<HTMLElement>(".icicle");
    if (!host || !this.#length) return;
    if (!this.#picture) {
      this.#picture = new IciclePicture(host, host.querySelector("canvas")!, this.#nodes!, {
        hover: (span, x, y) => host.querySelector<LineTip>("sk-line-tip")?.show(span, span && this.#nodes!.get(span), x, y),
        choose: (s) => this.#open(s),
        moved: () => this.#ruler(),
      });
      this.#picture.lengthen(this.#length);
      if (this.#opened!.span) this.#picture.frame = fitted(this.#picture.frame, this.#opened!.span);
    }
    const p = this.#picture;
    p.lengthen(this.#length);
    p.focus = this.#opened!.span;
    p.hits = this.found?.places ?? [];
    p.prompt = { lines: new Map((this.outline?.lines ?? []).map((l) => [`${l.id}+${l.n}`, l])), whole: this.outline?.tail.from ?? Infinity };
    p.redraw();
  }

  /** Says in words which messages are on the screen. */
  #ruler(): void {
    const f = this.#picture?.frame;
    const at = this.querySelector(".ruler");
    if (!f || !at) return;
    const [from, to] = [Math.floor(f.from), Math.min(f.length, Math.ceil(f.to))];
    at.textContent = to - from >= f.length ? `all ${plural(f.length, "message", "messages")}` : `messages ${count(from)} to ${count(to - 1)} of ${count(f.length)}`;
  }

  #open(s: Span | undefined): void {
    const query = { ...(this.seeking && { q: this.seeking }), ...(s && { at: spanText(s) }) };
    router.replace(format({ thread: this.store.id, view: "outline", query }));
  }

  #goTo(s: Span): void {
    void this.#opened!.open(s, this.#nodes!.get(s));
    const p = this.#picture;
    if (!p) return;
    p.fly(s.n > 1 && this.#byKey ? shown(p.frame, s) : fitted(p.frame, s));
    this.#byKey = false;
  }

  #byKey = false;
  #stood = "";

  async #seek(q: string): Promise<void> {
    this.seeking = q;
    if (!q) {
      this.found = undefined;
      return;
    }
    const found = await searchThread(this.store.id, q, 100);
    if (q === this.seeking) this.found = found;
  }

  #typing: ReturnType<typeof setTimeout> | undefined;

  #typed(): void {
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.#look(), rest);
  }

  #searched(e: Event): void {
    e.preventDefault();
    this.#look();
  }

  #look(): void {
    clearTimeout(this.#typing);
    if (!this.isConnected) return;
    const q = this.querySelector<HTMLInputElement>(".seek input")!.value.trim();
    const at = this.#opened?.span;
    router.replace(format({ thread: this.store.id, view: "outline", query: { ...(q && { q }), ...(at && { at: spanText(at) }) } }));
  }

  /** Goes to the next message that was found, or to the one before. */
  #walk(by: 1 | -1): void {
    const hits = this.found?.places ?? [];
    const s = this.#opened?.span;
    const next = by > 0 ? (hits.find((h) => h > (s ? s.id : -1)) ?? hits[0]) : (hits.findLast((h) => h < (s ? s.id : Infinity)) ?? hits.at(-1));
    if (next !== undefined) this.#open({ id: next, n: 1 });
  }

  #key(e: KeyboardEvent): void {
    const p = this.#picture;
    if (!p || e.ctrlKey || e.metaKey || e.altKey) return;
    const s = this.#opened?.span;
    const to = s ? beside(s, e.key, this.#length) : e.key.startsWith("Arrow") ? roots(this.#length)[0] : undefined;
    const act: Record<string, () => void> = {
      "+": () => p.fly(zoomed(p.frame, p.frame.width / 2, 2)),
      "=": () => p.fly(zoomed(p.frame, p.frame.width / 2, 2)),
      "-": () => p.fly(zoomed(p.frame, p.frame.width / 2, 0.5)),
      "0": () => p.fly(whole(p.frame)),
      Enter: () => s && p.fly(fitted(p.frame, s)),
      Home: () => this.#open({ id: 0, n: s?.n ?? 1 }),
      End: () => this.#open({ id: (Math.floor(this.#length / (s?.n ?? 1)) - 1) * (s?.n ?? 1), n: s?.n ?? 1 }),
      Escape: () => (this.#open(undefined), p.fly(whole(p.frame))),
    };
    if (to) {
      this.#byKey = true;
      this.#open(to);
    } else if (Object.hasOwn(act, e.key)) act[e.key]!();
    else if (!e.key.startsWith("Arrow")) return;
    e.preventDefault();
    e.stopPropagation();
  }

  override render() {
    if (!this.store.view) return html`<p class="quiet" role="status">Loading…</p>`;
    if (!this.#length) return html`<div class="empty"><h1>There is nothing to see yet</h1><p>Each message becomes a line; two lines become one above them, and so on, up to one line for the whole thread.</p></div>`;
    const o = this.outline;
    return html`<h1 class="unseen">The thread as a picture</h1>
      <p class="about">${this.#summary()}</p>
      ${this.failed || this.#lacking ? html`<p class="trouble" role="alert">Not all can be shown: ${this.failed || inWords(this.#lacking)}. It is asked for again.</p>` : nothing}
      <div class="tools">
        <form class="seek" role="search" @submit=${this.#searched}>
          <input class="field" type="search" placeholder="Light up what holds these words" aria-label="Light up what holds these words" .value=${this.seeking} @input=${this.#typed} @search=${this.#searched} />
          ${this.found ? html`<span class="hits" role="status">${this.found.failed || plural(this.found.places.length, "message", "messages")}</span>
            <button type="button" class="button small" ?disabled=${!this.found.places.length} @click=${() => this.#walk(-1)}>Earlier</button>
            <button type="button" class="button small" ?disabled=${!this.found.places.length} @click=${() => this.#walk(1)}>Later</button>` : nothing}
        </form>
        <span class="zoom">
          <button class="button icon small" aria-label="Zoom out" title="Zoom out (-)" @click=${() => this.#zoom(0.5)}>−</button>
          <button class="button icon small" aria-label="Zoom in" title="Zoom in (+)" @click=${() => this.#zoom(2)}>+</button>
          <button class="button small" title="Show all (0)" @click=${() => this.#picture?.fly(whole(this.#picture.frame))}>All</button>
        </span>
      </div>
      <div class="icicle" role="application" tabindex="0" aria-label="Outline as a picture" aria-describedby="outline-keys" @keydown=${this.#key}>
        <canvas></canvas>
        <sk-line-tip .thread=${this.store.id}></sk-line-tip>
      </div>
      <div class="below">
        <span class="ruler"></span>
        <ul class="legend"><li><i class="lines"></i>a line in the prompt</li><li><i class="whole"></i>whole in the prompt</li>${this.found ? html`<li><i class="found"></i>found</li>` : nothing}</ul>
      </div>
      <p id="outline-keys" class="unseen">Arrow left and right go to the line beside, up to the one above, down into it. Enter zooms to it, plus and minus zoom, 0 shows all, Escape closes the line. The same lines are listed below.</p>
      <p class="unseen" aria-live="polite">${this.#spoken()}</p>
      ${panel({
        opened: this.#opened!,
        lines: o?.lines ?? [],
        tail: o?.tail.from,
        length: this.#length,
        found: this.found,
        thread: this.store.id,
        open: (s) => this.#open(s),
        page: (n) => void this.#opened!.open(this.#opened!.span, null, n),
      })}`;
  }

  #zoom(by: number): void {
    const p = this.#picture;
    if (p) p.fly(zoomed(p.frame, p.frame.width / 2, by));
  }

  #summary() {
    const o = this.outline;
    if (!o) return "Each bar is a line; the two below it are what it was made from. The lowest are the messages.";
    const rest = o.messages - o.tail.from;
    if (!o.lines.length) return `The model gets all ${plural(o.messages, "message", "messages")} whole: nothing had to be cut yet.`;
    return html`Of ${count(o.messages)} messages the model gets ${plural(o.lines.length, "line", "lines")} for the first ${count(o.tail.from)} and the last ${count(rest)} whole, since cut ${count(o.cut)}.${o.backlog ? ` ${plural(o.backlog, "line is", "lines are")} still to be written.` : ""}`;
  }

  #spoken(): string {
    const s = this.#opened?.span;
    if (!s) return "";
    const where = s.n === 1 ? `Message ${count(s.id)}` : `Messages ${count(s.id)} to ${count(s.id + s.n - 1)}, level ${levelOf(s)} of ${levels(this.#length) - 1}`;
    return `${where}: ${this.#opened!.message?.text ?? this.#opened!.text ?? "Loading"}`;
  }
}
define("sk-outline", OutlineView);


import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Queued } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { icon } from "../shell/icons.ts";
import { count, plural } from "../shell/time.ts";
import { Follows } from "../state/observable.ts";
import type { Outgoing } from "../state/outbox.ts";
import { type Row, rowOf } from "../state/rows.ts";
import type { ThreadStore } from "../state/thread.ts";
import { who } from "../state/who.ts";
import { Aloud } from "./aloud.ts";
import { cutMarks, dividerWords, undoneMark } from "./between.ts";
import { copyClicked } from "./copy.ts";
import { markWords } from "./found.ts";
import type { MessageCard } from "./message.ts";
import { prose } from "./parts.ts";
import "./approval.ts";
import "./live.ts";
import "./message.ts";

/** Nearer to the end than this, in pixels, one follows what is new. */
const near = 40;
/** So long after a turn of the wheel or a key, in milliseconds, a scrolling is the reader's. */
const hand = 400;
const scrolling = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown", " ", "j", "k", "Tab"]);

/**
 * The messages of a thread, the oldest that are held first. Whoever is at the end follows what
 * is new; whoever reads elsewhere keeps the place, whatever comes before or after it. Only the
 * reader's own scrolling says which of both it is: a layout that scrolls is put right.
 */
class Stream extends Piece {
  static override properties = { store: { attribute: false }, index: { attribute: false }, words: { attribute: false }, undoesFrom: { attribute: false }, away: { state: true }, missing: { state: true } };
  declare store: ThreadStore;
  /** The message to be shown and marked. */
  declare index: number | undefined;
  /** Words that are marked in it, since it was found by them. */
  declare words: readonly string[];
  /** The index from which on messages go once what is in the composer is sent. */
  declare undoesFrom: number | undefined;
  declare away: boolean;
  declare missing: boolean;
  #follows = new Follows(this, who);
  #grown = new ResizeObserver(() => this.#settle());
  #anchor: { at: HTMLElement; top: number } | undefined;
  #moved = false;
  /** How high all of it and what is seen of it were when it was last put right, and where it stood. */
  #laid = { whole: 0, seen: 0, top: 0 };
  /** Until then, what scrolls is the reader's hand. */
  #hand = 0;
  #sought: number | undefined;
  #aloud = new Aloud();

  constructor() {
    super();
    this.away = this.missing = false;
    this.words = [];
    for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) this.addEventListener(kind, this.#moves, { passive: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#grown.disconnect();
    markWords(null, []);
  }

  protected override willUpdate(): void {
    this.#follows.turnTo(who, this.store);
  }

  override render() {
    const s = this.store;
    const view = s.view;
    const live = view?.docs.live;
    const shown = live && (live.id !== "" || (live.tools ?? []).length > 0) && !s.rows.some((r) => r.kind === "entry" && r.key === live.id);
    const last = s.rows.findLast((r) => r.kind === "entry")?.key;
    const asking = (view?.docs.agent.waiting ?? []).map((a) => a.call).join(" ");
    const error = view?.docs.agent.error;
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Messages" @scroll=${this.#scrolled} @click=${copyClicked} @keydown=${this.#pressed}>
      <div class="column">
        ${this.missing ? html`<p class="gap" role="status">There is no message ${count(this.index ?? 0)} in this thread.</p>` : nothing}
        ${view && view.length === 0 && !s.outbox.items.length && !live ? this.#beginning() : nothing}
        ${repeat(s.rows, (r) => r.key, (r) => this.#row(r, last, asking))}
        ${shown ? html`<sk-live .live=${live} .author=${view.docs.agent.name}></sk-live>` : nothing}
        ${repeat(view?.docs.agent.waiting ?? [], (a) => a.call, (a) => html`<sk-approval .asked=${a} .thread=${s.id}></sk-approval>`)}
        ${error && !live ? html`<p class="trouble" role="status"><strong>The last turn failed.</strong> ${error.message} ${error.hint ?? ""}</p>` : nothing}
        ${repeat(view?.docs.inbox ?? [], (q) => q.id, (q) => this.#queued(q))}
        ${repeat(s.outbox.items.filter((o) => !this.#arrived(o)), (o) => o.key, (o) => this.#outgoing(o))}
      </div>
    </div>
    <div class="unseen" aria-live="polite" data-aloud></div>
    ${this.away ? html`<button class="button down" @click=${() => this.toEnd()}>${icon("down")} Newest</button>` : nothing}`;
  }

  protected override updated(): void {
    const column = this.querySelector(".column")!;
    this.#grown.disconnect();
    this.#grown.observe(column);
    this.#grown.observe(this.#scroll);
    this.#settle();
    if (this.store.view) this.#aloud.follow(this.querySelector("[data-aloud]")!, this.store.view.docs.live, this.store.rows);
    if (this.index !== undefined && this.index !== this.#sought && this.store.view) void this.#seek(this.index);
    if (this.index === undefined) this.#sought = undefined;
    void this.#markWords();
  }

  /** Once the message is drawn: its words are then in their places. */
  async #markWords(): Promise<void> {
    const card = this.index === undefined ? null : this.querySelector<MessageCard>(".marked");
    await card?.updateComplete;
    markWords(card, this.words);
  }

  /** Scrolls to the newest message and follows from there. */
  toEnd(): void {
    this.#anchor = undefined;
    this.store.reading = false;
    this.away = false;
    if (this.index !== undefined) router.replace(format({ thread: this.store.id }));
    this.#scroll.scrollTop = this.#scroll.scrollHeight;
  }

  #beginning() {
    return html`<div class="empty"><h2>Say something</h2><p>Every word of it is kept, however long it gets.</p></div>`;
  }

  #row(r: Row, last: string | undefined, asking: string) {
    switch (r.kind) {
      case "earlier":
        return html`<p class="gap"><button class="button small" data-fetch="earlier" ?disabled=${this.store.fetching("earlier")} @click=${this.#fetchEarlier}>${this.store.fetching("earlier") ? "Fetching…" : `${count(r.count)} earlier`}</button></p>`;
      case "hole": {
        const busy = this.store.fetching(`hole ${r.after}`);
        return html`<p class="gap hole"><span>${plural(r.count, "message is", "messages are")} not shown here.</span> <button class="button small" data-fetch="hole" ?disabled=${busy} @click=${() => this.store.fill(r)}>${busy ? "Fetching…" : "Fetch them"}</button></p>`;
      }
      case "divider":
        return html`<div class="divider" role="separator" aria-label=${dividerWords(r)}><span title=${dividerWords(r)}>${dividerWords(r)}</span></div>`;
      case "cuts":
        return cutMarks(this.store.id, r);
      case "undone":
        return undoneMark(this.store, r, (e) => this.#toggle(e, r.key));
      case "entry":
        return html`<sk-message .row=${r} .store=${this.store} .again=${r.key === last && !this.store.busy} .asking=${r.key === last ? asking : ""} .undoes=${this.undoesFrom !== undefined && r.entry.index >= this.undoesFrom} class=${this.index === r.entry.index || (this.index !== undefined && r.also.includes(this.index)) ? "marked" : ""}></sk-message>`;
    }
  }

  #queued(q: Queued) {
    const text = q.message?.parts.filter((p) => p.type === "text").map((p) => p.text).join("\n") ?? "";
    return html`<article class="message waiting" data-role="user" tabindex="-1">
      <header><h2 class="who"><bdi>${q.message?.author ?? "Somebody"}</bdi></h2><span class="aside">${q.when === "now" ? "is heard before the next step" : "is answered after this turn"}</span></header>
      ${prose(text, "typed")}${files(q.message?.parts.filter((p) => p.type === "blob").map((p) => p.name ?? "attachment"))}
    </article>`;
  }

  #outgoing(o: Outgoing) {
    const how = o.refused !== undefined ? "was not taken" : this.store.standing === "live" ? "is sent…" : "is sent when the connection is back";
    return html`<article class="message waiting" data-role="user" data-out=${o.key} tabindex="-1">
      <header><h2 class="who"><bdi>${who.name || "You"}</bdi></h2><span class="aside" role="status">${how}</span></header>
      ${prose(o.text, "typed")}${files(o.blobs.map((b) => b.name))}
      ${o.refused !== undefined ? html`<p class="trouble">${o.refused}</p><div class="row">
        <button class="button small" @click=${() => this.store.outbox.again(o.key)}>Send again</button>
        <button class="button small quiet" @click=${() => this.#takeBack(o)}>Back to the composer</button></div>` : nothing}
    </article>`;
  }

  /** The server has it, and the inbox or the window shows it. */
  #arrived(o: Outgoing): boolean {
    return o.seq !== undefined && (this.store.view?.docs.inbox ?? []).some((q) => q.seq === o.seq || q.key === o.key);
  }

  #takeBack(o: Outgoing): void {
    const back = this.store.outbox.takeBack(o.key);
    if (back) this.dispatchEvent(new CustomEvent<Outgoing>("takeback", { detail: back, bubbles: true }));
  }

  /** Opens what was undone, or closes it; its mark stays where it is. */
  #toggle(e: Event, key: string): void {
    const at = (e.currentTarget as Element).closest<HTMLElement>(".undone")!;
    this.away = this.store.reading = true;
    this.#anchor = { at, top: at.getBoundingClientRect().top - this.#scroll.getBoundingClientRect().top };
    this.store.toggle(key);
    void this.updateComplete.then(() => requestAnimationFrame(() => this.#stay()));
  }

  /** Follows the newest again where it is seen. */
  #stay(): void {
    const s = this.#scroll;
    if (!s || s.scrollHeight - s.scrollTop - s.clientHeight > near) return;
    this.away = this.store.reading = false;
    this.#anchor = undefined;
  }

  #fetchEarlier = (): void => {
    this.store.reading = true;
    void this.store.earlier();
  };

  get #scroll(): HTMLElement {
    return this.querySelector(".scroll")!;
  }

  /** Notes that the reader's hand is on what scrolls: on its bar, where it is a pointer. */
  #moves = (e: Event): void => {
    if (e instanceof PointerEvent && e.target !== this.#scroll) return;
    if (e instanceof KeyboardEvent && (!scrolling.has(e.key) || (e.target as Element).closest("button, input, summary"))) return;
    this.#hand = performance.now() + hand;
  };

  /** Says whether the reader has scrolled, or what finds words and focus for the reader; else the layout has. */
  #byReader(): boolean {
    const s = this.#scroll;
    const { whole, seen, top } = this.#laid;
    const held = performance.now() < this.#hand;
    if (held && s.scrollTop !== top) this.#hand = performance.now() + hand; // it glides on
    if (s.scrollHeight === whole && s.clientHeight === seen) return true;
    return held && (this.away || s.scrollTop < top);
  }

  #scrolled(): void {
    const s = this.#scroll;
    if (!this.#byReader()) return this.#settle();
    this.#note();
    const away = s.scrollHeight - s.scrollTop - s.clientHeight > near;
    this.store.reading = away || this.store.fetching("earlier");
    if (away !== this.away) this.away = away;
    this.#anchor = away ? this.#topmost() : undefined;
    if (this.#moved && s.scrollTop < 200 && this.querySelector("[data-fetch=earlier]") && !this.store.fetching("earlier")) this.#fetchEarlier();
    this.#moved = true;
  }

  /** The first message that is seen, and where it is. */
  #topmost(): { at: HTMLElement; top: number } | undefined {
    const edge = this.#scroll.getBoundingClientRect().top;
    for (const el of this.querySelectorAll<HTMLElement>("sk-message")) {
      const box = el.getBoundingClientRect();
      if (box.bottom > edge + 1) return { at: el, top: box.top - edge };
    }
    return undefined;
  }

  #note(): void {
    const { scrollHeight: whole, clientHeight: seen, scrollTop: top } = this.#scroll;
    this.#laid = { whole, seen, top };
  }

  /** After anything has changed its size: keeps the place, or stays at the end. */
  #settle(): void {
    const s = this.#scroll;
    const a = this.#anchor;
    if (a?.at.isConnected) {
      const moved = a.at.getBoundingClientRect().top - s.getBoundingClientRect().top - a.top;
      if (Math.abs(moved) > 1) s.scrollTop += moved;
    } else if (!this.away) {
      s.scrollTop = s.scrollHeight;
    }
    this.#note();
  }

  async #seek(index: number): Promise<void> {
    this.#sought = index;
    this.missing = false;
    this.store.reading = true;
    const was = this.away;
    this.away = true;
    if (!rowOf(this.store.rows, index)) this.missing = !(await this.store.reach(index).catch(() => false));
    if (this.missing) this.away = was;
    if (this.missing || this.index !== index) return;
    await this.updateComplete;
    const row = rowOf(this.store.rows, index);
    const el = row && this.querySelector<HTMLElement>(`#m${row.entry.index}`);
    if (!el) return;
    el.scrollIntoView({ block: "center" });
    el.focus({ preventScroll: true });
    this.#anchor = this.#topmost();
  }

  #pressed(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || (e.target as Element).closest("input, textarea, dialog")) return;
    if (!this.go(e.key)) return;
    e.preventDefault();
    e.stopPropagation();
  }

  /** Goes where a key leads. It says whether the key leads anywhere. */
  go(key: string): boolean {
    if (key === "j" || key === "k") this.step(key === "j" ? 1 : -1);
    else if (key === "End") this.toEnd();
    else if (key === "Home") {
      this.#hand = performance.now() + hand;
      this.#scroll.scrollTop = 0;
    } else return false;
    return true;
  }

  /** Gives the focus to the newest message, or where somebody reads to the first that is seen. */
  enter(): void {
    const at = this.away ? this.#topmost()?.at.querySelector<HTMLElement>("article.message") : [...this.querySelectorAll<HTMLElement>("article.message")].at(-1);
    (at ?? this.#scroll).focus({ preventScroll: true });
  }

  /** Moves the focus to the next message, or the one before. */
  step(by: number): void {
    const all = [...this.querySelectorAll<HTMLElement>("article.message")];
    const now = all.indexOf((document.activeElement?.closest("article.message") as HTMLElement) ?? null!);
    if (now < 0) return this.enter();
    const next = all[now + by];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
    if (!next && by < 0 && this.querySelector("[data-fetch=earlier]")) this.#fetchEarlier();
  }
}
define("sk-stream", Stream);

export type { Stream };

const files = (names: string[] | undefined) => (names?.length ? html`<p class="aside">${names.map((n) => html`<bdi>${n}</bdi> `)}</p>` : nothing);

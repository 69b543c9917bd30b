import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import type { Watch } from "../../../client/index.js";
import { api, inWords } from "../api/api.ts";
import type { Batch, Entry, View } from "../api/types.ts";
import { define, Piece, styled } from "../piece.ts";
import { format, router } from "../route.ts";
import { count, plural, size } from "../shell/time.ts";
import { deleteThread } from "../shell/list.ts";
import { notices } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import type { ThreadStore } from "../state/thread.ts";
import { threads } from "../state/threads.ts";
import { isDemo } from "../state/demo.ts";
import { who } from "../state/who.ts";
import { makeDemo, sayIn } from "./demo.ts";
import { lanes, sentence, WireLog } from "./log.ts";
import { Tap } from "./tap.ts";
import "./wire.css";

/** The window that is shown is small, so that what happens to it happens soon. */
const tail = 4;

/** Between two entries while the demonstration plays, in ms, and how many it makes by itself at most. */
const pace = 1300;
const atMost = 200;

/** Messages that are kept beside the window. */
const mostBeside = 400;

/** Pixels of a block with its gap. */
const block = 40;

/** The number of a message, as far as there is room for it on a block. */
const label = (index: number): string => (index < 10_000 ? String(index) : `…${String(index).slice(-3)}`);

const standings = { live: "live", "catching up": "catching up", offline: "cut off", gone: "gone" } as const;

/** The wire: each operation of a watch of its own as it arrives, and the store beside the window. */
class Wire extends Piece {
  static override properties = { store: { attribute: false }, query: { attribute: false }, said: { state: true }, playing: { state: true }, room: { state: true }, busy: { state: true } };
  declare store: ThreadStore;
  declare query: URLSearchParams;
  /** The sentence of the step that came last. */
  declare said: string;
  declare playing: boolean;
  declare room: number;
  declare busy: string;
  #tap: Tap | undefined;
  #watch: Watch | undefined;
  #view: View | null = null;
  #log = new WireLog();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #made = 0;
  #size: ResizeObserver | undefined;
  #follows = new Follows(this);
  #due = 0;

  constructor() {
    super();
    this.said = "";
    this.playing = false;
    this.room = 12;
    this.busy = "";
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#pause();
    cancelAnimationFrame(this.#due);
    this.#size?.disconnect();
    this.#size = undefined;
    this.#tap?.close();
    this.#tap = this.#watch = undefined;
    this.#view = null;
    this.#log.clear();
  }

  protected override willUpdate(): void {
    if (this.#watch || !this.store) return;
    this.#follows.turnTo(this.store, who);
    this.#tap = new Tap();
    this.#watch = this.#tap.client.watch(this.store.id, {
      tail,
      onChange: (_: unknown, batch: unknown) => this.#took(batch as Batch | undefined),
      onState: () => this.#soon(),
    } as never);
  }

  protected override updated(): void {
    const host = this.querySelector<HTMLElement>(".lanes");
    if (!host || this.#size) return;
    this.#size = new ResizeObserver(() => (this.room = Math.max(3, Math.floor((host.clientWidth - 88) / block) - 1)));
    this.#size.observe(host);
  }

  #took(batch: Batch | undefined): void {
    const now = this.#watch?.view as View | null | undefined;
    if (batch && now) {
      this.#log.add(batch, this.#tap!.frame, Date.now());
      this.said = sentence(this.#view, now, batch, tail);
      this.#view = now;
      this.#forget();
    }
    this.#soon();
  }

  /** What is kept beside the window goes, once it is more than anybody looks at here. */
  #forget(): void {
    const replica = this.#watch!.replica as unknown as { held: Entry[] };
    if (replica.held.length > mostBeside) replica.held = replica.held.slice(-mostBeside / 2);
  }

  /** Many operations may come between two pictures. */
  #soon(): void {
    cancelAnimationFrame(this.#due);
    this.#due = requestAnimationFrame(() => this.requestUpdate());
  }

  get #ranges(): { entries: Entry[] }[] {
    return (this.#watch?.ranges ?? []) as { entries: Entry[] }[];
  }

  get #earlier(): number {
    return (this.#watch?.replica as { earlier?: number } | undefined)?.earlier ?? 0;
  }

  override render() {
    const v = this.#view;
    const demo = isDemo(this.store.id) && who.may("write");
    return html`<h1 class="unseen">What comes over the wire</h1>
      <p class="about">A window of the newest messages, begun with ${tail}, over a link of its own. ${demo
        ? html`This is a demonstration thread: try anything. ${who.may("admin") ? html`<button class="link" @click=${() => deleteThread(this.store.id)}>Remove it</button>` : nothing}`
        : html`Here it only looks on. ${who.may("write") ? html`<button class="link" ?disabled=${this.busy !== ""} @click=${this.#start}>Try it on a demonstration thread</button>` : nothing}`}</p>
      <div class="controls" role="group" aria-label="What to do">${demo ? this.#demoControls() : nothing}${this.#controls()}</div>
      <p class="step" aria-live="polite">${this.said || "Waiting for the first snapshot…"}</p>
      ${this.#lanesView(v)}
      ${this.#counters(v)}
      ${this.#logView()}`;
  }

  #demoControls() {
    return html`
      <button class="button main" ?disabled=${this.busy !== ""} @click=${() => this.#do("new", () => this.#entry(false))}>New entry</button>
      <button class="button" ?disabled=${this.busy !== "" || this.store.busy} @click=${() => this.#do("new", () => this.#entry(true))}>New entry, answered</button>
      <button class="button" aria-pressed=${this.playing} @click=${() => (this.playing ? this.#pause() : this.#play())}>${this.playing ? "Pause" : "Play"}</button>`;
  }

  #controls() {
    const w = this.#watch;
    const cut = this.#tap?.cut ?? false;
    const none = this.#view !== null && this.#earlier === 0;
    return html`
      <button class="button" ?disabled=${none || !this.#view || cut || this.busy !== ""} @click=${() => this.#do("earlier", () => this.#fetch())}>${none ? "Nothing earlier" : "Fetch earlier"}</button>
      <button class="button" aria-pressed=${cut} @click=${this.#cut}>${cut ? "Reconnect" : "Cut the link"}</button>
      <button class="button" aria-pressed=${w?.held ?? false} ?disabled=${cut} @click=${this.#hold}>${w?.held ? "Let go" : "Hold"}</button>
      ${isDemo(this.store.id) && who.may("write") ? html`<button class="button" ?disabled=${this.busy !== ""} @click=${() => this.#do("reset", () => api.reset(this.store.id))}>Reset</button>` : nothing}`;
  }

  #lanesView(v: View | null) {
    const stored = this.store.view?.length ?? 0;
    const l = lanes(stored, v, this.#ranges, this.room);
    const live = v?.docs.live;
    const x = (i: number) => `${i * block}px`;
    const [first, end] = l.window;
    return html`<div class="lanes" role="img" aria-label=${this.#lanesInWords(stored, v, l.holes)} data-cut=${this.#tap?.cut ? "" : nothing} data-held=${this.#watch?.held ? "" : nothing}>
      <span class="name store">Store</span><span class="name window">Window</span>
      <span class="wire" aria-hidden="true"></span>
      <div class="blocks" aria-hidden="true">
        ${repeat(l.blocks, (b) => b.index, (b, i) => html`<i class="in-store" data-is=${b.stored ? "kept" : "undone"} ${styled({ "--x": x(i) })}>${label(b.index)}</i>`)}
        ${repeat(l.blocks, (b) => b.index, (b, i) => html`<i class="in-window" data-is=${b.place} ${styled({ "--x": x(i) })}>${label(b.index)}</i>`)}
        ${live ? html`<i class="in-window making" data-is="window" title="being made" ${styled({ "--x": x(l.blocks.length), "--made": `${Math.min(100, 8 + live.text.length / 3)}%` })}></i>` : nothing}
        <b class="bracket" ${styled({ "--x": x(first), "--wide": `${Math.max(0, (end - first) * block - 4)}px` })}></b>
      </div>
      ${l.before ? html`<span class="earlier" aria-hidden="true">${count(l.before)} earlier</span>` : nothing}
    </div>`;
  }

  #lanesInWords(stored: number, v: View | null, holes: number): string {
    if (!v) return `The store has ${plural(stored, "message", "messages")}; the window is not there yet.`;
    const e = v.entries;
    const held = this.#ranges.reduce((n, r) => n + r.entries.length, 0) - e.length;
    const span = e.length ? `${plural(e.length, "message", "messages")}, ${e[0]!.index} to ${e.at(-1)!.index}` : "nothing";
    return `The store has ${plural(stored, "message", "messages")}. The window holds ${span}${held ? `, and ${held} older ones are kept beside it` : ""}${holes ? `; ${holes} are missing between them` : ""}.`;
  }

  #counters(v: View | null) {
    const { snapshot: s, operations, bytes } = this.#log;
    const standing = this.#watch?.held ? "held" : standings[this.#watch?.state ?? "offline"];
    const beside = this.#ranges.reduce((n, r) => n + r.entries.length, 0) - (v?.entries.length ?? 0);
    return html`<dl class="counters">
      <div><dt>Link</dt><dd data-is=${standing}>${standing}</dd></div>
      <div><dt>Window</dt><dd>${v?.entries.length ?? 0} <small>of at most ${2 * tail - 1}${beside > 0 ? `, and ${beside} beside` : ""}</small></dd></div>
      <div><dt>Store</dt><dd>${count(this.store.view?.length ?? 0)}</dd></div>
      <div><dt>Operations</dt><dd>${count(operations)} <small>${size(bytes)}</small></dd></div>
      <div><dt>Last snapshot</dt><dd>${s ? html`${size(s.bytes)} <small>${s.since === 0 ? "just now" : `${plural(s.since, "operation", "operations")} ago`}</small>` : "none yet"}</dd></div>
    </dl>`;
  }

  #logView() {
    const rows = this.#log.rows;
    return html`<div class="log" tabindex="0" role="region" aria-label="Operations, the newest first">
      <table>
        <thead><tr><th scope="col">Batch</th><th scope="col">Operation</th><th scope="col">Where</th><th scope="col">Bytes</th><th scope="col">What</th></tr></thead>
        <tbody>${repeat(rows, (r) => r.id, (r) => html`<tr data-kind=${r.kind}><td>${r.n}</td><td><code>${r.kind}</code> ${r.what}</td><td>${r.where}</td><td>${count(r.bytes)}</td><td dir="auto">${r.text}</td></tr>`)}</tbody>
      </table>
    </div>`;
  }

  async #do(what: string, work: () => Promise<unknown>): Promise<void> {
    this.busy = what;
    try {
      await work();
    } catch (err) {
      notices.trouble(`It could not be done: ${inWords(err)}`);
      this.#pause();
    } finally {
      this.busy = "";
    }
  }

  #start(): Promise<void> {
    return this.#do("start", async () => {
      router.go(format({ thread: await makeDemo(), view: "wire" }));
      void threads.refresh();
    });
  }

  async #entry(answered: boolean): Promise<void> {
    if (this.#tap?.cut) this.said = "The link is cut: what is said now waits in the store, and the window does not hear of it.";
    else if (this.#watch?.held) this.said = "The window is on hold: what is said now is sent once you let go.";
    await sayIn(this.store.id, (this.store.view?.length ?? 0) + 1, answered);
  }

  #play(): void {
    this.playing = true;
    this.#made = 0;
    const next = async () => {
      if (!this.playing || this.#made++ >= atMost) return this.#pause();
      await this.#do("play", () => this.#entry(this.#made % 4 === 0 && !this.store.busy));
      if (this.playing) this.#timer = setTimeout(next, pace);
    };
    void next();
  }

  #pause(): void {
    this.playing = false;
    clearTimeout(this.#timer);
  }

  async #fetch(): Promise<void> {
    const more = await this.#watch!.fetchEarlier({ limit: tail });
    this.said = more ? `A page of ${tail} was fetched: it is kept beside the window, and joins it without a hole.` : "A page was fetched, and there is nothing earlier: this is the thread's start.";
    this.#soon();
  }

  #cut(): void {
    const tap = this.#tap!;
    if (tap.cut) tap.mend();
    else tap.sever();
    this.said = tap.cut ? "The link is cut: what is held stays on the screen, and the client tries again." : "The way is free: the client comes back and says which message it saw last.";
    this.requestUpdate();
  }

  #hold(): void {
    const w = this.#watch!;
    w.hold(!w.held);
    this.said = w.held ? "On hold: the server sends nothing until you let go." : "Let go: one snapshot brings what was missed.";
    this.requestUpdate();
  }
}
define("sk-wire", Wire);

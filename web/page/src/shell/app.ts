import { html, nothing } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { html as staticHTML, unsafeStatic } from "lit/static-html.js";
import { define, Piece } from "../piece.ts";
import { format, type Route, router } from "../route.ts";
import { notices } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import { openThread } from "../state/session.ts";
import type { ThreadStore } from "../state/thread.ts";
import { threads, titleOf } from "../state/threads.ts";
import { viewAt, views, type ViewSpec } from "../views.ts";
import { who } from "../state/who.ts";
import { icon } from "./icons.ts";
import { newThread } from "./list.ts";
import { alone, hear } from "./letters.ts";
import "./list.ts";
import "./notices.ts";
import "./standing.ts";
import "./keys.ts";
import "./signin.ts";
import type { KeySheet } from "./keys.ts";
import type { Stream } from "../talk/stream.ts";
import "../talk/talk.ts";

/** The whole page: the list of threads, the thread that is open, a view beside it. */
class App extends Piece {
  static override properties = { loading: { state: true }, failed: { state: true }, narrow: { state: true } };
  declare loading: ViewSpec | undefined;
  declare failed: string;
  /** There is room for one thing at a time: the list, or what is open. */
  declare narrow: boolean;
  #room = matchMedia("(max-width: 760px)");
  #loaded = new Set<ViewSpec>();
  #after = "";
  /** The thread that [ or ] led to: the next of them leads on. */
  #walked = "";
  #focusedAt = "";
  /** Where somebody goes by a key: the focus goes along once that is there. */
  #entering = "";
  #store: ThreadStore | undefined;
  #follows = new Follows(this, router, threads, who);

  constructor() {
    super();
    this.failed = "";
    this.narrow = this.#room.matches;
    this.#room.addEventListener("change", () => (this.narrow = this.#room.matches));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener("keydown", hear, true);
    addEventListener("keydown", this.#pressed);
    this.addEventListener("keys", () => this.#sheet());
    this.addEventListener("opened", (e) => this.#opened(e.target as HTMLElement));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("keydown", hear, true);
    removeEventListener("keydown", this.#pressed);
  }

  protected override willUpdate(): void {
    this.#store = openThread(who.stranger ? undefined : router.route?.thread);
    this.#follows.turnTo(router, threads, who, ...(this.#store ? [this.#store] : []));
  }

  override render() {
    if (who.stranger) return html`<main class="open alone"><sk-sign-in></sk-sign-in></main>`;
    const at = router.route;
    const view = at?.view ? viewAt(at.thread ? "thread" : "all", at.view) : undefined;
    const lost = !at || (at.view !== undefined && !view);
    const list = at !== undefined && !at.thread && !view && !lost;
    return html`
      ${this.narrow ? nothing : html`<a class="button skip" href="#open" @click=${this.#skip}>Skip to the conversation</a>
        <nav class="side" aria-label="Skein"><sk-threads></sk-threads></nav>`}
      <main class=${at?.thread && view ? "open beside" : "open"} id="open" tabindex="-1">
        ${lost ? this.#nothingHere() : nothing}
        ${!lost && at?.thread ? html`<section class="talk" aria-label="Conversation">${keyed(at.thread, html`<sk-talk .store=${this.#store!} .index=${at.index} .words=${at.query.get("words") ?? ""}></sk-talk>`)}</section>` : nothing}
        ${!lost && view ? this.#view(view, at!) : nothing}
        ${!list ? nothing : this.narrow ? html`<div class="side"><h1 class="unseen">Threads</h1><sk-threads></sk-threads></div>` : this.#welcome()}
      </main>
      <sk-notices></sk-notices>
      <sk-keys></sk-keys>`;
  }

  protected override updated(): void {
    const at = router.route;
    const name = at?.thread ? titleOf({ id: at.thread, title: this.#store?.view?.thread.title ?? threads.find(at.thread)?.title ?? "" }) : "";
    const view = at?.view ? (viewAt(at.thread ? "thread" : "all", at.view)?.title ?? "") : "";
    this.#keepFocus();
    this.#enter();
    document.title = [view, name, "Skein"].filter(Boolean).join(" · ");
  }

  #enter(): void {
    const place = this.#entering ? this.querySelector<HTMLElement>(this.#entering) : null;
    if (!place || this.loading) return;
    this.#entering = "";
    if (!place.contains(document.activeElement)) place.focus({ preventScroll: true });
  }

  /** Where what had the focus is gone with the place it was in, the new place has it. */
  #keepFocus(): void {
    const at = location.pathname;
    if (this.#focusedAt && at !== this.#focusedAt && (document.activeElement === document.body || !document.activeElement)) {
      this.querySelector<HTMLElement>("#open")?.focus();
    }
    this.#focusedAt = at;
  }

  #view(view: ViewSpec, at: Route) {
    const denied = who.scopes !== undefined && !who.may(view.needs ?? "read");
    if (!denied && !this.#loaded.has(view)) void this.#load(view);
    const back = at.thread ? format({ thread: at.thread }) : "/";
    const tag = unsafeStatic(view.tag);
    return html`<section class="view" aria-label=${view.title}>
      <header>
        <a class=${at.thread ? "button icon quiet" : "button icon quiet only-narrow"} href=${back} aria-label=${at.thread ? `Close ${view.title}` : "Back to the list"}>${icon(at.thread ? "close" : "back")}</a>
        <h2>${view.title}</h2>
      </header>
      <div class="body" tabindex="-1">
        ${denied
          ? html`<div class="empty"><h2>This view is not for you</h2><p>What a model is sent is shown to those whose token has the right “${view.needs}”.</p></div>`
          : this.failed
          ? html`<div class="empty"><h2>This view could not be loaded</h2><p>${this.failed}</p><button class="button" @click=${() => this.#load(view)}>Try again</button></div>`
          : this.#loaded.has(view)
            ? keyed(`${view.route} ${at.thread ?? ""}`, staticHTML`<${tag} .store=${this.#store} .query=${at.query}></${tag}>`)
            : nothing}
      </div>
    </section>`;
  }

  async #load(view: ViewSpec): Promise<void> {
    if (this.loading === view) return;
    this.loading = view;
    try {
      await view.load();
      this.#loaded.add(view);
      this.failed = "";
    } catch (err) {
      this.failed = err instanceof Error ? err.message : String(err);
    } finally {
      this.loading = undefined;
    }
  }

  #welcome() {
    return html`<div class="empty">
      <h1>Conversations that never end</h1>
      <p>Every word is kept. The model gets the newest messages whole and a line or less for each older one, and anybody can open a line down to the message itself.</p>
      ${who.mayMake ? html`<button class="button main" @click=${newThread}>New thread</button>` : nothing}
    </div>`;
  }

  #nothingHere() {
    return html`<div class="empty">
      <h1>There is nothing at this address</h1>
      <p>The link may be cut off, or it leads to something that was taken away.</p>
      <a class="button" href="/">To the threads</a>
    </div>`;
  }

  #skip(e: Event): void {
    e.preventDefault();
    (document.querySelector<HTMLElement>("sk-composer textarea") ?? document.querySelector<HTMLElement>("#open"))?.focus();
  }

  /** Whoever opens a thread can write at once, where that brings no keyboard onto the screen. */
  #opened(composer: HTMLElement): void {
    const at = router.route;
    const walked = this.#walked === at?.thread;
    this.#walked = "";
    if (walked || this.#room.matches || at?.index !== undefined || at?.view || matchMedia("(pointer: coarse)").matches) return;
    if (!document.activeElement?.closest("input, textarea, dialog, .menu, .talk")) composer.querySelector("textarea")?.focus({ preventScroll: true });
  }

  #sheet(): void {
    this.querySelector<KeySheet>("sk-keys")?.show();
  }

  /** Keys without a modifier hold where nothing is typed. */
  #pressed = (e: KeyboardEvent): void => {
    if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || e.isComposing) return;
    const target = e.composedPath()[0];
    if (target instanceof HTMLElement && (target.matches("input, textarea, select, [contenteditable]") || target.closest("dialog[open]"))) return;
    const at = router.route;
    if (this.#after === "g") {
      this.#after = "";
      const view = [...(at?.thread ? views("thread") : []), ...views("all")].find((v) => v.key === e.key);
      if (view) {
        this.#entering = ".view .body";
        router.go(format({ ...(view.of === "thread" && { thread: at!.thread! }), view: view.route }));
      } else if (e.key === "c" && at?.thread) {
        this.#entering = "sk-stream .scroll";
        router.go(format({ thread: at.thread }));
      }
      else return;
      e.preventDefault();
      return;
    }
    const free = !(target instanceof Element) || !target.closest(e.key.length > 1 ? ".view, .side, button, a" : ".view");
    if (free && this.querySelector<Stream>("sk-stream")?.go(e.key)) return e.preventDefault();
    const act: Record<string, () => void> = {
      "?": () => this.#sheet(),
      n: () => alone(() => void newThread()),
      "/": () => this.#find(),
      g: () => {
        this.#after = "g";
        setTimeout(() => (this.#after = ""), 1500);
      },
      u: () => alone(() => notices.actOnNewest()),
      c: () => this.querySelector<HTMLElement>("sk-composer textarea")?.focus(),
      "]": () => this.#step(1),
      "[": () => this.#step(-1),
    };
    if (!Object.hasOwn(act, e.key)) return;
    e.preventDefault();
    act[e.key]!();
  };

  #find(): void {
    const field = this.querySelector<HTMLElement>("#find-thread");
    if (field?.offsetParent) return field.focus();
    router.go("/");
    void this.updateComplete.then(() => field?.focus());
  }

  #step(by: number): void {
    const i = threads.items.findIndex((t) => t.id === router.route?.thread);
    const next = threads.items[i < 0 ? 0 : i + by];
    if (!next) return;
    this.#walked = next.id;
    router.go(format({ thread: next.id }));
  }
}
define("sk-app", App);

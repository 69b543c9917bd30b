import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { inWords } from "../api/api.ts";
import type { Thread } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { isDemo } from "../state/demo.ts";
import { notices } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import { link } from "../state/session.ts";
import { threads, titleOf } from "../state/threads.ts";
import { who } from "../state/who.ts";
import { views } from "../views.ts";
import { icon } from "./icons.ts";
import { type Item, openMenu } from "./menu.ts";
import { themes } from "./theme.ts";
import { plural, when } from "./time.ts";

/** Says whether all words of a search stand in a thread's title or id. */
export function matches(t: { id: string; title?: string }, search: string): boolean {
  const text = `${t.title ?? ""}\n${t.id}`.toLocaleLowerCase();
  return search.toLocaleLowerCase().split(/\s+/).every((word) => text.includes(word));
}

const themeWords = { auto: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" } as const;

/** The list of threads: search, new, rename, fork, delete. */
class ThreadList extends Piece {
  static override properties = { search: { state: true }, naming: { state: true } };
  declare search: string;
  declare naming: string | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #stood = "";

  constructor() {
    super();
    this.search = "";
    new Follows(this, threads, router, link, themes, who);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void threads.refresh();
    this.#timer = setInterval(() => {
      if (!document.hidden) void threads.refresh();
    }, 10_000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#timer);
  }

  protected override willUpdate(): void {
    const stands = link.standing;
    if (stands === "live" && this.#stood === "offline") void threads.refresh();
    this.#stood = stands;
  }

  override render() {
    const at = router.route;
    const shown = this.search ? threads.items.filter((t) => matches(t, this.search)) : threads.items;
    return html`
      <div class="brand">
        <a class="home" href="/"><img src="/icon.svg" alt="" />Skein</a>
        ${who.mayMake ? html`<button class="button icon quiet" aria-label="New thread" title="New thread (n)" @click=${newThread}>${icon("plus")}</button>` : nothing}
      </div>
      <div class="find">
        <input class="field" type="search" id="find-thread" placeholder="Find a thread" aria-label="Find a thread" autocomplete="off"
          .value=${this.search} @input=${this.#typed} @keydown=${this.#findKey} />
      </div>
      ${views("all").length
        ? html`<nav class="all" aria-label="All threads">
            ${views("all").map((v) => html`<a href=${format({ view: v.route })} aria-current=${at?.view === v.route && !at.thread ? "page" : nothing}>${v.title}</a>`)}
          </nav>`
        : nothing}
      <ol class="threads" aria-label="Threads" @keydown=${this.#listKey}>
        ${repeat(shown, (t) => t.id, (t) => this.#row(t, at?.thread === t.id))}
        ${threads.next && !this.search ? html`<li><button class="button quiet" @click=${() => void threads.more().catch(tell)}>Older threads</button></li>` : nothing}
        ${shown.length === 0 ? html`<li class="none">${this.#none()}</li>` : nothing}
      </ol>
      ${this.#demos()}
      <div class="foot">
        <sk-link></sk-link>
        ${who.token ? html`<button class="button quiet small me" title="Who you are here" aria-haspopup="menu" @click=${this.#me}><bdi>${who.name}</bdi></button>` : nothing}
        <button class="button icon quiet small" aria-label=${themeWords[themes.now]} title=${themeWords[themes.now]} @click=${() => themes.next()}>${icon(themes.now)}</button>
        <button class="button icon quiet small" aria-label="Keys" title="Keys (?)" @click=${() => this.dispatchEvent(new CustomEvent("keys", { bubbles: true }))}>${icon("keys")}</button>
      </div>`;
  }

  /** Demonstrations are no threads of anybody's: all go at once. */
  #demos() {
    const all = threads.items.filter((t) => isDemo(t.id)).map((t) => t.id);
    if (!all.length || !who.may("admin")) return nothing;
    return html`<p class="demos">${plural(all.length, "demonstration thread", "demonstration threads")} · <button class="link" @click=${() => deleteThreads(all)}>Remove ${all.length === 1 ? "it" : "them"}</button></p>`;
  }

  #none(): string {
    if (this.search) return "No thread is called so.";
    if (threads.trouble) return threads.trouble;
    if (!threads.loaded) return link.standing === "offline" ? "The server cannot be reached." : "Loading…";
    return "There is no thread yet.";
  }

  #row(t: Thread, open: boolean) {
    if (this.naming === t.id) {
      return html`<li><input class="field" aria-label="Title" placeholder=${t.id} maxlength="200" .value=${t.title ?? ""} @keydown=${(e: KeyboardEvent) => this.#nameKey(e, t)} @blur=${(e: FocusEvent) => this.#named(e.target as HTMLInputElement, t)} /></li>`;
    }
    return html`<li>
      <a href=${format({ thread: t.id })} aria-current=${open ? "page" : nothing}>
        <span class="title" dir="auto">${titleOf(t)}</span>
        <span class="about">
          <time datetime=${t.updated}>${when(t.updated)}</time>
          ${isDemo(t.id) ? html`<span class="demo">demonstration</span>` : nothing}
          ${t.parked ? html`<span class="waits">waits for you</span>` : t.turn ? html`<span class="runs">answering</span>` : nothing}
        </span>
      </a>
      ${who.may("write") || who.may("admin") ? html`<button class="button icon quiet small" aria-label=${`More: ${titleOf(t)}`} aria-haspopup="menu" @click=${(e: Event) => this.#menu(e, t)}>${icon("more")}</button>` : nothing}
    </li>`;
  }

  #me(e: Event): void {
    openMenu(e.currentTarget as HTMLElement, [{ label: "Show another token", sign: "back", run: () => void who.signOut().catch(tell) }], `${who.name} may ${(who.scopes ?? []).join(", ") || "do nothing"}`);
  }

  #menu(e: Event, t: Thread): void {
    const items: Item[] = [];
    if (who.may("write")) items.push({ label: "Rename", sign: "edit", run: () => this.rename(t.id) });
    if (who.mayMake && t.length) items.push({ label: "Fork", sign: "fork", run: () => forkThread(t.id) });
    if (who.may("admin")) items.push({ label: "Delete", sign: "trash", bad: true, run: () => deleteThread(t.id) });
    openMenu(e.currentTarget as HTMLElement, items);
  }

  /** Has the title of a thread typed anew. */
  rename(id: string): void {
    this.naming = id;
    void this.updateComplete.then(() => {
      const field = this.querySelector<HTMLInputElement>("ol.threads input");
      field?.focus();
      field?.select();
    });
  }

  #nameKey(e: KeyboardEvent, t: Thread): void {
    if (e.key === "Enter" && !e.isComposing) this.#named(e.target as HTMLInputElement, t);
    else if (e.key === "Escape") this.naming = undefined;
    else return;
    e.stopPropagation();
    e.preventDefault();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(`a[href="${format({ thread: t.id })}"]`)?.focus());
  }

  #named(field: HTMLInputElement, t: Thread): void {
    if (this.naming !== t.id) return;
    this.naming = undefined;
    const title = field.value.trim();
    if (title && title !== t.title) threads.rename(t.id, title).catch(tell);
  }

  #typed(e: Event): void {
    this.search = (e.target as HTMLInputElement).value.trim();
    if (this.search) void threads.all().catch(tell);
  }

  #findKey(e: KeyboardEvent): void {
    if (e.key === "ArrowDown") this.querySelector<HTMLElement>("ol.threads a")?.focus();
    else if (e.key === "Enter") this.#first();
    else if (e.key === "Escape" && this.search) this.search = "";
    else return;
    e.preventDefault();
  }

  #first(): void {
    const first = this.querySelector<HTMLElement>("ol.threads a");
    first?.focus();
    first?.click();
  }

  #listKey(e: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const all = [...this.querySelectorAll<HTMLElement>("ol.threads > li > a")];
    const i = all.indexOf(document.activeElement as HTMLElement);
    if (!step || i < 0) return;
    e.preventDefault();
    const next = all[i + step];
    if (next) next.focus();
    else if (step < 0) this.querySelector<HTMLElement>("#find-thread")?.focus();
  }
}
define("sk-threads", ThreadList);

const tell = (err: unknown): void => notices.trouble(inWords(err));

export async function newThread(): Promise<void> {
  if (!who.mayMake) return;
  try {
    router.go(format({ thread: await threads.create() }));
    requestAnimationFrame(() => document.querySelector<HTMLElement>("sk-composer textarea")?.focus());
  } catch (err) {
    notices.trouble(`No thread could be made: ${inWords(err)}`);
  }
}

/** Makes a thread that shares this one's past, up to a message where a seq is given, and opens it. */
export async function forkThread(id: string, seq?: number): Promise<void> {
  try {
    router.go(format({ thread: await threads.fork(id, seq) }));
    notices.say("This is the fork: it shares the past and goes on by itself.");
  } catch (err) {
    notices.trouble(`It could not be forked: ${inWords(err)}`);
  }
}

export const deleteThread = (id: string): void => deleteThreads([id]);

/** Deletes threads. Whoever had one of them open, and takes the way back, comes back to it. */
function deleteThreads(ids: readonly string[]): void {
  const open = ids.find((id) => router.route?.thread === id);
  const at = location.pathname + location.search;
  threads.remove(ids, () => open !== undefined && router.go(at));
  if (open !== undefined) router.go("/");
}

import { html, nothing } from "lit";
import type { Entry } from "../api/types.ts";
import { api, inWords } from "../api/api.ts";
import { define, Piece } from "../piece.ts";
import { format, router } from "../route.ts";
import { confirmed } from "../shell/confirm.ts";
import { icon } from "../shell/icons.ts";
import { deleteThread, forkThread } from "../shell/list.ts";
import { type Item, openMenu } from "../shell/menu.ts";
import { plural, when } from "../shell/time.ts";
import { isDemo } from "../state/demo.ts";
import { notices } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import type { Outgoing } from "../state/outbox.ts";
import { drafts } from "../state/session.ts";
import type { ThreadStore } from "../state/thread.ts";
import { threads, titleOf } from "../state/threads.ts";
import { who } from "../state/who.ts";
import { views } from "../views.ts";
import type { Composer } from "./composer.ts";
import "./composer.ts";
import "./stream.ts";
import type { Stream } from "./stream.ts";

const why: Record<string, string> = {
  deleted: "This thread was deleted.",
  "not-found": "There is no such thread.",
  permission: "This thread is not for you to see.",
  refused: "This thread is not for you to see.",
  revoked: "Your token was revoked.",
  token: "A token is needed now.",
};

const standingWords = { live: "Live", "catching up": "Catching up…", offline: "Offline", gone: "Gone" } as const;

/** The conversation of one thread: what it is called, its messages, the composer. */
class Talk extends Piece {
  static override properties = { store: { attribute: false }, index: { attribute: false }, words: { attribute: false }, naming: { state: true }, undoesFrom: { state: true } };
  declare store: ThreadStore;
  declare index: number | undefined;
  /** Words by which that message was found. */
  declare words: string;
  declare naming: boolean;
  declare undoesFrom: number | undefined;
  #follows = new Follows(this, who);

  constructor() {
    super();
    this.naming = false;
    this.words = "";
    this.addEventListener("edit", (e) => this.#composer?.edit((e as CustomEvent<Entry>).detail));
    this.addEventListener("takeback", (e) => this.#composer?.takeBack((e as CustomEvent<Outgoing>).detail));
    this.addEventListener("instead", (e) => (this.undoesFrom = (e as CustomEvent<number | null>).detail ?? undefined));
    this.addEventListener("said", () => this.#said());
  }

  protected override willUpdate(): void {
    this.#follows.turnTo(who, router, threads, this.store);
  }

  override render() {
    const s = this.store;
    if (s.standing === "gone") return this.#gone();
    return html`${this.#head()}
      <sk-stream .store=${s} .index=${this.index} .words=${this.words.split(" ").filter(Boolean)} .undoesFrom=${this.undoesFrom}></sk-stream>
      ${who.may("write") ? html`<sk-composer .store=${s}></sk-composer>` : who.scopes ? this.#mayRead() : nothing}`;
  }

  #mayRead() {
    return html`<div class="may-read" role="note"><p>You may only read here: the token of <bdi>${who.name}</bdi> has no right to write.</p>
      <button class="button small" @click=${() => void who.signOut().catch(tell)}>Show another token</button></div>`;
  }

  #gone() {
    const left = this.store.outbox.items.filter((o) => o.seq === undefined).map((o) => o.text);
    const draft = drafts.own(this.store.id)?.text;
    if (draft) left.push(draft);
    return html`<div class="empty">
      <h1>${why[this.store.reason] ?? "This thread is gone."}</h1>
      ${left.length ? html`<p>What you wrote and was not said:</p>${left.map((text) => html`<pre class="left" dir="auto" tabindex="0">${text}</pre>`)}` : nothing}
      <a class="button" href="/">To the threads</a>
    </div>`;
  }

  #head() {
    const s = this.store;
    const title = this.#title;
    const known = views("thread");
    const agent = s.view?.docs.agent;
    return html`<header class="head">
      <a class="button icon quiet only-narrow back" href="/" aria-label="To the list">${icon("back")}</a>
      ${this.naming
        ? html`<input class="field title" aria-label="Title" placeholder=${s.id} maxlength="200" .value=${s.view?.thread.title ?? ""} @keydown=${this.#nameKey} @blur=${this.#named} />`
        : html`<h1 dir="auto" title=${title}>${title}</h1>`}
      ${isDemo(s.id) ? html`<span class="demo">demonstration</span>` : nothing}
      <span class="standing" data-is=${s.standing} role="status" title=${s.reason}>${standingWords[s.standing]}</span>
      ${agent ? html`<span class="aside wide">${[agent.name, agent.model].filter(Boolean).join(" · ")}${s.view!.length ? html` · ${plural(s.view!.length, "message", "messages")}` : nothing}</span>` : nothing}
      ${known.length ? html`<nav class="tabs" aria-label="Views">${known.map((v) => {
        const open = router.route?.view === v.route;
        return html`<a class="button quiet small" href=${format({ thread: s.id, ...(!open && { view: v.route }) })} aria-current=${open ? "page" : nothing}>${v.title}</a>`;
      })}</nav>` : nothing}
      <button class="button icon quiet" aria-label="More about this thread" title="More" aria-haspopup="menu" @click=${this.#menu}>${icon("more")}</button>
    </header>`;
  }

  get #title(): string {
    return titleOf({ id: this.store.id, title: this.store.view?.thread.title ?? threads.find(this.store.id)?.title ?? "" });
  }

  #menu(e: Event): void {
    const button = e.currentTarget as HTMLElement;
    const id = this.store.id;
    const items: Item[] = [];
    if (who.may("write")) {
      items.push({ label: "Rename", sign: "edit", run: () => this.#rename() });
      if (this.store.view?.length && who.mayMake) items.push({ label: "Fork", sign: "fork", run: () => forkThread(id) });
      items.push({ label: `Answered by ${this.store.view?.docs.agent.name || "nobody"}…`, sign: "agent", run: () => void this.#agents(button) });
    }
    items.push({ label: "Save as JSON lines", sign: "save", run: () => this.#save("lines") }, { label: "Save as Markdown", sign: "save", run: () => this.#save("markdown") });
    for (const t of this.#family()) items.push({ label: `Branch: ${titleOf(t)}, ${when(t.updated)}`, sign: "fork", href: format({ thread: t.id }) });
    if (who.may("write") && this.store.view?.length) items.push({ label: "Undo everything…", sign: "again", bad: true, run: () => void this.#reset() });
    if (who.may("admin")) items.push({ label: "Delete", sign: "trash", bad: true, run: () => deleteThread(id) });
    openMenu(button, items);
  }

  /** Lets somebody choose who answers in this thread from now on. */
  async #agents(button: HTMLElement): Promise<void> {
    const { id } = this.store;
    try {
      const { items } = await api.agents();
      const now = this.store.view?.docs.agent.name;
      const choose = async (name: string) => {
        await api.setAgent(id, name);
        notices.say(`${name} answers here from now on.`);
      };
      openMenu(button, items.map((a) => ({ label: a.name, checked: a.name === now, run: () => void choose(a.name).catch(tell) })), "Who answers in this thread");
    } catch (err) {
      tell(err);
    }
  }

  async #reset(): Promise<void> {
    const n = this.store.view?.length ?? 0;
    const words = `${plural(n, "message is", "messages are")} undone, and the model begins anew. What was said stays in the log and can be shown in its place.`;
    if (await confirmed("Undo everything in this thread?", words, "Undo everything")) await api.reset(this.store.id).catch(tell);
  }

  #save(form: "lines" | "markdown"): void {
    const { id } = this.store;
    void import("./export.ts").then((m) => m.save(id, this.#title, m.forms[form]), tell);
  }

  /** The other threads that share a past with this one. */
  #family() {
    const root = threads.find(this.store.id)?.root;
    return root === undefined ? [] : threads.items.filter((t) => t.root === root && t.id !== this.store.id).slice(0, 20);
  }

  #rename(): void {
    this.naming = true;
    void this.updateComplete.then(() => {
      const field = this.querySelector<HTMLInputElement>("input.title");
      field?.focus();
      field?.select();
    });
  }

  #nameKey(e: KeyboardEvent): void {
    if (e.key === "Escape") this.naming = false;
    else if (e.key === "Enter" && !e.isComposing) this.#named(e);
    else return;
    e.preventDefault();
    e.stopPropagation();
    void this.updateComplete.then(() => this.querySelector<HTMLElement>("[aria-haspopup=menu]")?.focus());
  }

  #named(e: Event): void {
    if (!this.naming) return;
    this.naming = false;
    const title = (e.target as HTMLInputElement).value.trim();
    if (!title || title === this.store.view?.thread.title) return;
    threads.rename(this.store.id, title).catch((err: unknown) => notices.trouble(`It could not be renamed: ${inWords(err)}`));
  }

  get #composer(): Composer | null {
    return this.querySelector("sk-composer");
  }

  #said(): void {
    void this.updateComplete.then(() => this.querySelector<Stream>("sk-stream")?.toEnd());
  }
}
define("sk-talk", Talk);

const tell = (err: unknown): void => notices.trouble(inWords(err));

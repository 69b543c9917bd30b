import { html, nothing } from "lit";
import { inWords } from "../api/api.ts";
import type { Blob as Attached, Entry } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { icon } from "../shell/icons.ts";
import { count, size } from "../shell/time.ts";
import type { Draft, Instead } from "../state/drafts.ts";
import { notices } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import type { Outgoing } from "../state/outbox.ts";
import { drafts } from "../state/session.ts";
import type { ThreadStore } from "../state/thread.ts";
import { who } from "../state/who.ts";
import type { Stream } from "./stream.ts";
import { afterFailure, type Upload, upload } from "./attach.ts";

/** A longer text, in characters, is kept and measured once typing rests for so many ms. */
const large = 100_000;
const rest = 300;

/** The longest text that a server takes, in bytes. */
const longest = 4_000_000;

/** Words for a while stand above the composer, so high as it is. */
const standOn = (height: number): void => document.documentElement.style.setProperty("--composer", `${height}px`);

/** The composer. What is typed is kept with every key stroke, and taken off only once it is in the outbox. */
export class Composer extends Piece {
  static override properties = { store: { attribute: false }, blobs: { state: true }, uploads: { state: true }, instead: { state: true }, empty: { state: true }, over: { state: true }, unsafe: { state: true } };
  declare store: ThreadStore;
  declare blobs: Attached[];
  declare uploads: Upload[];
  declare instead: Instead | undefined;
  declare empty: boolean;
  declare over: boolean;
  /** The browser has no room for the draft. */
  declare unsafe: boolean;
  #follows = new Follows(this, who);
  #high = new ResizeObserver(() => standOn(this.offsetHeight));
  #opened = "";
  #going = false;

  constructor() {
    super();
    this.blobs = [];
    this.uploads = [];
    this.empty = true;
    this.over = this.unsafe = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#high.observe(this);
    addEventListener("pagehide", this.#settle);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener("pagehide", this.#settle);
    if (this.#later !== undefined) this.#keep();
    this.#high.disconnect();
    standOn(0);
  }

  protected override willUpdate(): void {
    this.#follows.turnTo(who, this.store);
    if (this.store.standing === "live" && this.uploads.some((u) => u.state === "waiting")) queueMicrotask(() => void this.#upload());
  }

  override render() {
    const busy = this.store.busy;
    return html`<form class="composer ${this.over ? "over" : ""}" @submit=${this.#submitted} @dragover=${this.#dragged} @dragleave=${() => (this.over = false)} @drop=${this.#dropped}>
      ${this.instead ? html`<p class="instead"><span>In place of message ${count(this.instead.index)}: it and what follows are undone when you send. They stay in the log.</span>
        <button type="button" class="button small" @click=${() => this.#goBackNow()}>Go back now</button>
        <button type="button" class="button small quiet" @click=${() => this.leaveEdit()}>Cancel</button></p>` : nothing}
      ${this.blobs.length || this.uploads.length ? html`<ul class="blobs" aria-label="Attachments">${this.blobs.map((b) => this.#blob(b))}${this.uploads.map((u) => this.#uploading(u))}</ul>` : nothing}
      <textarea rows="1" dir="auto" aria-label="Message" placeholder=${busy ? "Say what comes next…" : "Say something…"} enterkeyhint="send"
        @input=${this.#typed} @keydown=${this.#pressed} @paste=${this.#pasted}></textarea>
      <div class="row">
        <label class="button icon quiet attach" title="Attach files">${icon("attach")}<input class="unseen" type="file" multiple aria-label="Attach files" @change=${this.#chosen} /></label>
        <span class="hint aside" role="status">${this.unsafe ? "The browser has no room to keep this draft." : this.#hint(busy)}</span>
        ${busy ? html`<button type="button" class="button stop" title="Stop (Esc)" @click=${() => this.stop()}>${icon("stop")} <span>Stop</span></button>` : nothing}
        ${busy ? html`<button type="button" class="button" ?disabled=${this.#nothing} title="Into this answer (Ctrl+Enter)" @click=${() => this.send("now")}>Say now</button>` : nothing}
        <button class="button main" ?disabled=${this.#nothing} title=${busy ? "After this answer (Enter)" : "Enter"}>${icon("send")} ${busy ? "Next" : "Send"}</button>
      </div>
    </form>`;
  }

  protected override updated(): void {
    if (this.#opened === this.store.id) return;
    this.#opened = this.store.id;
    this.#show(drafts.own(this.store.id));
    if (this.empty) void this.#adopt(this.store.id);
    this.dispatchEvent(new CustomEvent("opened", { bubbles: true }));
  }

  #show(draft: Draft | undefined): void {
    this.blobs = draft?.blobs ?? [];
    this.instead = draft?.instead;
    this.#field.value = draft?.text ?? "";
    this.#changed();
    if (this.instead) this.#announce();
  }

  /** Takes over what a tab that is no more has left. A tab that ends may be known as living for a while. */
  async #adopt(thread: string): Promise<void> {
    for (const wait of [0, 500, 2_000, 10_000]) {
      await new Promise((r) => setTimeout(r, wait));
      if (!this.isConnected || this.store.id !== thread || this.#field.value !== "" || this.blobs.length || this.instead) return;
      const left = await drafts.adopt(thread);
      if (!left) continue;
      if (this.store.id === thread && this.#field.value === "" && !this.blobs.length) this.#show(left);
      else drafts.leave(thread, left);
      return;
    }
  }

  get #field(): HTMLTextAreaElement {
    return this.querySelector("textarea")!;
  }

  get #nothing(): boolean {
    return (this.empty && this.blobs.length === 0) || this.#heldUp !== "";
  }

  /** Why what is in the composer cannot be sent yet. */
  get #heldUp(): string {
    if (this.uploads.some((u) => u.state === "failed")) return "A file could not be attached: take it off, then send.";
    if (this.uploads.some((u) => u.state === "waiting")) return "A file waits for the connection.";
    return this.uploads.length ? "A file is being uploaded…" : "";
  }

  #hint(busy: boolean): string {
    if (this.#heldUp) return this.#heldUp;
    if (this.store.standing === "offline") return "Offline: what you send waits here and is said once.";
    return busy && !this.empty ? "Enter: after this answer. Ctrl+Enter: into it." : "";
  }

  /** Puts a message's text into the composer, to be said in its place. What stood there comes back afterwards. */
  edit(entry: Entry): void {
    const stash = this.instead ? this.instead.stash : this.#field.value;
    this.instead = { seq: entry.seq, prev: entry.prev, index: entry.index, stash };
    const parts = entry.message?.parts ?? [];
    this.blobs = parts.filter((p) => p.type === "blob").map((p) => ({ hash: p.hash ?? "", name: p.name ?? "", mediaType: p.mediaType ?? "", size: p.size ?? 0 }));
    this.#write(parts.filter((p) => p.type === "text").map((p) => p.text ?? "").join("\n"));
    this.#announce();
  }

  leaveEdit(): void {
    if (!this.instead) return;
    const { stash } = this.instead;
    this.instead = undefined;
    this.blobs = [];
    this.#write(stash);
    this.#announce();
  }

  async #goBackNow(): Promise<boolean> {
    const to = this.instead;
    if (!to) return true;
    if (this.store.standing !== "live") {
      notices.trouble("Going back needs the connection. What you typed is kept.");
      return false;
    }
    try {
      await this.store.goBack(to);
    } catch (err) {
      notices.trouble(`It could not go back: ${inWords(err)}`);
      return false;
    }
    this.instead = undefined;
    this.#keep();
    this.#announce();
    this.#field.focus();
    return true;
  }

  #announce(): void {
    this.dispatchEvent(new CustomEvent("instead", { detail: this.instead?.index, bubbles: true }));
  }

  /** Gives back what could not be said. */
  takeBack(o: Pick<Outgoing, "text" | "blobs">): void {
    const field = this.#field;
    this.blobs = [...this.blobs, ...o.blobs];
    this.#write([field.value, o.text].filter(Boolean).join("\n"));
  }

  async send(when: "now" | "next"): Promise<void> {
    const text = this.#field.value.trim();
    if ((!text && !this.blobs.length) || this.#heldUp || this.#going) return;
    this.#going = true;
    try {
      const stash = this.instead?.stash ?? "";
      if (!(await this.#goBackNow())) return;
      if (!this.store.outbox.add(text, when, this.blobs)) notices.trouble("The browser has no room to keep what you send until it has arrived: do not close this page before.");
      this.blobs = [];
      this.#write(stash);
      this.dispatchEvent(new CustomEvent("said", { bubbles: true }));
    } finally {
      this.#going = false;
    }
  }

  stop(): void {
    this.store.stop().catch((err: unknown) => notices.trouble(`It could not be stopped: ${inWords(err)}`));
  }

  /** Replaces the text such that the browser's own undo brings back what was there. */
  #write(text: string): void {
    const field = this.#field;
    field.focus();
    field.select();
    const done = text === "" ? field.value === "" || document.execCommand("delete") : document.execCommand("insertText", false, text);
    if (!done || field.value !== text) field.value = text;
    this.#changed();
  }

  #typed(): void {
    const { length } = this.#field.value;
    this.#changed(length > large);
  }

  /** Keeps what is there, and gives it room. Of what is large both take long: it waits for a rest. */
  #changed(later = false): void {
    const field = this.#field;
    this.empty = !/\S/.test(field.value);
    const room = innerHeight * 0.4;
    if (later) {
      field.style.height = `${room}px`;
      this.#keepLater();
      return;
    }
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight + 2, room)}px`;
    this.#keep();
  }

  #later: ReturnType<typeof setTimeout> | undefined;

  #keepLater(): void {
    clearTimeout(this.#later);
    this.#later = setTimeout(() => this.#keep(), rest);
  }

  /** Keeps now what waits for a rest; the page may be left. */
  #settle = (): void => {
    if (this.#later !== undefined && this.isConnected) this.#keep();
  };

  #keep(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.unsafe = !drafts.keep(this.store.id, this.#field.value, this.blobs, this.instead);
  }

  #submitted(e: Event): void {
    e.preventDefault();
    void this.send("next");
  }

  #pressed(e: KeyboardEvent): void {
    if (e.isComposing) return;
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) void this.send("now");
    else if (e.key === "Enter" && !e.shiftKey && !matchMedia("(pointer: coarse)").matches) void this.send("next");
    else if (e.key === "Escape") this.#escape();
    else if (e.key === "ArrowUp" && this.#field.value === "" && who.may("write")) {
      const last = this.store.rows.findLast((r) => r.kind === "entry" && r.entry.message?.role === "user" && r.entry.message.author === who.name);
      if (last?.kind !== "entry") return;
      this.edit(last.entry);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }

  #escape(): void {
    if (this.instead) this.leaveEdit();
    else if (this.store.busy && !this.store.view?.docs.agent.waiting?.length) this.stop();
    else document.querySelector<Stream>("sk-stream")?.enter();
  }

  #pasted(e: ClipboardEvent): void {
    const files = [...(e.clipboardData?.files ?? [])];
    const text = e.clipboardData?.getData("text/plain") ?? "";
    if (!files.length && text.length > longest / 4) {
      const file = new File([text], "pasted.txt", { type: "text/plain" });
      if (file.size > longest) {
        notices.say(`What you pasted is too long to be said (${size(file.size)}): it is attached as a file.`);
        files.push(file);
      }
    }
    if (!files.length) return;
    e.preventDefault();
    this.attach(files);
  }

  #dragged(e: DragEvent): void {
    if (!e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    this.over = true;
  }

  #dropped(e: DragEvent): void {
    this.over = false;
    const files = [...(e.dataTransfer?.files ?? [])];
    if (!files.length) return;
    e.preventDefault();
    this.attach(files);
  }

  #chosen(e: Event): void {
    const field = e.target as HTMLInputElement;
    this.attach([...(field.files ?? [])]);
    field.value = "";
  }

  attach(files: File[]): void {
    this.uploads = [...this.uploads, ...files.map((file) => ({ file, state: "waiting" as const, why: "" }))];
    void this.#upload();
  }

  async #upload(): Promise<void> {
    for (let u = this.#nextUpload(); u; u = this.#nextUpload()) {
      const { file } = u;
      const thread = this.store.id;
      this.#upgrade(file, { state: "going" });
      try {
        const blob = await upload(thread, file);
        if (!this.uploads.some((o) => o.file === file)) continue; // taken off meanwhile
        this.uploads = this.uploads.filter((o) => o.file !== file);
        this.blobs = [...this.blobs.filter((b) => b.hash !== blob.hash || b.name !== blob.name), blob];
        this.#keep();
      } catch (err) {
        const failed = afterFailure(err);
        this.#upgrade(file, failed);
        if (failed.state === "waiting") return;
      }
    }
  }

  #nextUpload(): Upload | undefined {
    return this.uploads.some((u) => u.state === "going") ? undefined : this.uploads.find((u) => u.state === "waiting");
  }

  #upgrade(file: File, by: Partial<Upload>): void {
    this.uploads = this.uploads.map((u) => (u.file === file ? { ...u, ...by } : u));
  }

  #blob(b: Attached) {
    const off = () => {
      this.blobs = this.blobs.filter((o) => o !== b);
      this.#keep();
    };
    return html`<li>${icon("file")}<bdi>${b.name}</bdi><span class="aside">${size(b.size)}</span><button type="button" class="button icon quiet small" aria-label=${`Take off ${b.name}`} @click=${off}>${icon("close")}</button></li>`;
  }

  #uploading(u: Upload) {
    const words = { going: "uploading…", waiting: "waits for the connection", failed: u.why }[u.state];
    const off = () => (this.uploads = this.uploads.filter((o) => o.file !== u.file));
    return html`<li data-state=${u.state}>${icon("file")}<bdi>${u.file.name}</bdi><span class="aside">${words}</span><button type="button" class="button icon quiet small" aria-label=${`Take off ${u.file.name}`} @click=${off}>${icon("close")}</button></li>`;
  }
}
define("sk-composer", Composer);

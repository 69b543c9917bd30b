import { html, nothing } from "lit";
import { inWords, plainText } from "../api/api.ts";
import type { Entry } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { format } from "../route.ts";
import { icon } from "../shell/icons.ts";
import { alone } from "../shell/letters.ts";
import { forkThread } from "../shell/list.ts";
import { type Item, openMenu } from "../shell/menu.ts";
import { exactly, when } from "../shell/time.ts";
import { notices } from "../state/notices.ts";
import type { Row } from "../state/rows.ts";
import type { ThreadStore } from "../state/thread.ts";
import { who } from "../state/who.ts";
import { copy } from "./copy.ts";
import { drawPart } from "./parts.ts";

export type EntryRow = Row & { kind: "entry" };

const stops: Record<string, string> = {
  length: "It ends here: the longest output was reached.",
  refusal: "The model refused.",
  error: "It failed here.",
  limit: "A limit of the turn was reached.",
  aborted: "Stopped.",
  interrupted: "Interrupted; the step was run again.",
};

const sameRow = (a: EntryRow | undefined, b: EntryRow | undefined): boolean =>
  a !== undefined && b !== undefined && a.entry === b.entry && a.outcomes.length === b.outcomes.length && a.outcomes.every((o, i) => o.part === b.outcomes[i]!.part);

/** One message. It is drawn again only when it has changed. */
export class MessageCard extends Piece {
  static override properties = {
    row: { attribute: false, hasChanged: (a: EntryRow, b: EntryRow) => !sameRow(a, b) },
    store: { attribute: false },
    again: { attribute: false },
    undoes: { attribute: false },
    asking: { attribute: false },
    undone: { attribute: false },
    whole: { state: true },
  };
  declare row: EntryRow;
  declare store: ThreadStore;
  /** It is the newest message, and no turn is open: it can be made again. */
  declare again: boolean;
  /** It goes once what is in the composer is sent. */
  declare undoes: boolean;
  /** The ids of its calls that wait for somebody to decide, joined by blanks. */
  declare asking: string;
  /** It was undone, and nothing can be done with it but to read it. */
  declare undone: boolean;
  /** The message as it is, where what came was cut. */
  declare whole: Entry | undefined;

  override render() {
    const entry = this.whole?.seq === this.row.entry.seq ? this.whole : this.row.entry;
    const m = entry.message;
    const link = format({ thread: this.store.id, index: entry.index });
    // An undone message has its number from then, which another may have now.
    const id = this.undone ? `u${entry.seq}` : `m${entry.index}`;
    if (!m) {
      return html`<article class="message stub" id=${id} tabindex="-1"><p class="aside">Message ${entry.index} is not for you to see, or was erased.</p></article>`;
    }
    const manner = m.role === "user" ? "typed" : "prose";
    return html`<article class="message" data-role=${m.role} ?data-undoes=${this.undoes} ?data-undone=${this.undone} id=${id} tabindex="-1" aria-labelledby=${`w${id}`} @keydown=${this.#pressed}>
      <header>
        <h2 id=${`w${id}`} class="who"><bdi>${m.author}</bdi>${m.audience?.length ? html` <span class="aside">to ${m.audience.join(", ")} alone</span>` : nothing}</h2>
        ${this.undone
          ? html`<span class="at" title=${exactly(entry.time)}><span>${entry.past ? "before a reset" : "undone"}</span> <time datetime=${entry.time ?? ""}>${when(entry.time)}</time></span>`
          : html`<a class="at" href=${link} title=${exactly(entry.time)}><span class="unseen">Message </span><span>#${entry.index}</span> <time datetime=${entry.time ?? ""}>${when(entry.time)}</time></a>`}
        <span class="acts">${this.#acts(entry)}</span>
      </header>
      ${m.parts.map((p) => drawPart(p, { thread: this.store.id, seq: entry.seq, manner, outcomes: this.row.outcomes, asking: this.asking }))}
      ${entry.more ? html`<p class="aside">Long parts are cut. <button class="button small" @click=${this.#fetchWhole}>Show it whole</button></p>` : nothing}
      ${m.stop && Object.hasOwn(stops, m.stop) ? html`<p class="stop" data-stop=${m.stop}>${stops[m.stop]}</p>` : nothing}
      ${this.undoes ? html`<p class="aside">Goes when you send.</p>` : nothing}
    </article>`;
  }

  #acts(entry: Entry) {
    return html`
      ${this.#mayEdit(entry) ? html`<button class="button icon quiet small" aria-label="Edit and go back" title="Edit and go back (e)" @click=${() => this.#edit(entry)}>${icon("edit")}</button>` : nothing}
      ${this.#mayRegenerate(entry) ? html`<button class="button icon quiet small" aria-label="Answer again" title="Answer again" @click=${this.#regenerate}>${icon("again")}</button>` : nothing}
      <button class="button icon quiet small" aria-label="Copy" title="Copy (y)" @click=${() => this.#copyText(entry)}>${icon("copy")}</button>
      <button class="button icon quiet small" aria-label="More" title="More (.)" aria-haspopup="menu" @click=${(e: Event) => this.#menu(e.currentTarget as HTMLElement, entry)}>${icon("more")}</button>`;
  }

  #mayEdit = (entry: Entry): boolean => !this.undone && entry.message?.role === "user" && entry.message.author === who.name && who.may("write");
  #mayRegenerate = (entry: Entry): boolean => this.again && entry.message?.role === "assistant" && who.may("write");

  #menu(button: HTMLElement, entry: Entry): void {
    const text: Item = { label: "Copy text", sign: "copy", run: () => this.#copyText(entry) };
    if (this.undone) {
      if (who.may("write")) return openMenu(button, [text, { label: "Into the composer", sign: "edit", run: () => this.#again(entry) }]);
      return openMenu(button, [text]);
    }
    const items: Item[] = [
      text,
      { label: "Copy link", sign: "link", run: () => copy(location.origin + format({ thread: this.store.id, index: entry.index }), "The link is copied.") },
    ];
    if (this.#mayEdit(entry)) items.push({ label: "Edit and go back", sign: "edit", run: () => this.#edit(entry) });
    if (this.#mayRegenerate(entry)) items.push({ label: "Answer again", sign: "again", run: () => this.#regenerate() });
    if (who.mayMake) items.push({ label: "Fork from here", sign: "fork", run: () => forkThread(this.store.id, this.row.outcomes.at(-1)?.entry.seq ?? entry.seq) });
    openMenu(button, items);
  }

  #pressed(e: KeyboardEvent): void {
    if (e.target !== e.currentTarget || e.ctrlKey || e.metaKey || e.altKey) return;
    const entry = this.row.entry;
    if (e.key === "y") this.#copyText(entry);
    else if (e.key === "e" && this.#mayEdit(entry)) alone(() => this.#edit(entry));
    else if (e.key === ".") this.#menu(this.querySelector<HTMLElement>("[aria-haspopup=menu]")!, entry);
    else return;
    e.preventDefault();
    e.stopPropagation();
  }

  #copyText(entry: Entry): void {
    void copy(plainText(entry.message?.parts ?? []), "The text is copied.");
  }

  #again(entry: Entry): void {
    this.dispatchEvent(new CustomEvent("takeback", { detail: { text: plainText(entry.message?.parts ?? []), blobs: [] }, bubbles: true }));
  }

  #edit(entry: Entry): void {
    this.dispatchEvent(new CustomEvent<Entry>("edit", { detail: entry, bubbles: true }));
  }

  #regenerate = (): void => {
    this.store.regenerate().catch((err: unknown) => notices.trouble(`It could not be answered again: ${inWords(err)}`));
  };

  #fetchWhole = async (): Promise<void> => {
    try {
      this.whole = await this.store.whole(this.row.entry);
    } catch (err) {
      notices.trouble(`It could not be fetched: ${inWords(err)}`);
    }
  };
}
define("sk-message", MessageCard);

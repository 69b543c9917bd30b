import { html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { define, Piece } from "../piece.ts";
import { type Notice, notices, shownFor } from "../state/notices.ts";
import { Follows } from "../state/observable.ts";
import { icon } from "./icons.ts";

/** Words for a while. One that is looked at stays. */
class NoticeBoard extends Piece {
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  constructor() {
    super();
    new Follows(this, notices);
  }

  override render() {
    return html`<div class="notices" role="status" aria-live="polite" @pointerenter=${this.#stay} @pointerleave=${this.#go} @focusin=${this.#stay} @focusout=${this.#go}>
      ${repeat(notices.items, (n) => n.id, (n) => this.#word(n))}
    </div>`;
  }

  protected override updated(): void {
    for (const n of notices.items) if (!this.#timers.has(n.id)) this.#start(n);
    for (const [id, t] of this.#timers) {
      if (notices.items.some((n) => n.id === id)) continue;
      clearTimeout(t);
      this.#timers.delete(id);
    }
  }

  #word(n: Notice) {
    return html`<div>
      <span dir="auto">${n.text}</span>
      ${n.action ? html`<button class="button small act" @click=${() => notices.act(n.id)}>${n.action.label}</button>` : nothing}
      <button class="button icon small" aria-label="Close" @click=${() => notices.close(n.id)}>${icon("close")}</button>
    </div>`;
  }

  #start(n: Notice): void {
    this.#timers.set(n.id, setTimeout(() => notices.close(n.id), shownFor));
  }

  #stay(): void {
    for (const t of this.#timers.values()) clearTimeout(t);
  }

  #go(): void {
    this.#stay();
    for (const n of notices.items) this.#start(n);
  }
}
define("sk-notices", NoticeBoard);

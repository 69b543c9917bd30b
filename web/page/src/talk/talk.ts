import { html } from "lit";
import { define, Piece } from "../piece.ts";
import type { ThreadStore } from "../state/thread.ts";

/** The conversation of one thread. */
class Talk extends Piece {
  static override properties = { store: { attribute: false }, index: { attribute: false } };
  declare store: ThreadStore;
  declare index: number | undefined;
  override render() {
    return html`${this.store.rows.length}`;
  }
}
define("sk-talk", Talk);

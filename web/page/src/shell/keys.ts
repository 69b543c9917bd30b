import { html } from "lit";
import { define, Piece } from "../piece.ts";
import { views } from "../views.ts";
import { icon } from "./icons.ts";

const groups: [string, [string[], string][]][] = [
  ["Everywhere", [
    [["?"], "this sheet"],
    [["n"], "new thread"],
    [["/"], "find a thread"],
    [["["], "thread above"],
    [["]"], "thread below"],
    [["u"], "undo, while it is offered"],
  ]],
  ["In a thread", [
    [["c"], "to the composer"],
    [["j"], "next message"],
    [["k"], "message before"],
    [["e"], "edit a message of yours and go back to it"],
    [["y"], "copy a message"],
    [["."], "what can be done with a message"],
    [["Home"], "earlier messages"],
    [["End"], "to the newest message"],
  ]],
  ["In the composer", [
    [["Enter"], "send; while an answer is made: after it"],
    [["Ctrl", "Enter"], "say it now, into the running answer"],
    [["Shift", "Enter"], "new line"],
    [["↑"], "in an empty composer: edit your newest message"],
    [["Esc"], "stop the answer, or leave the composer to the newest message"],
  ]],
];

/** Which keys do what. */
export class KeySheet extends Piece {
  override render() {
    const known = [...views("thread"), ...views("all")];
    const all = known.length ? [...groups, ["Views", [[["g", "c"], "conversation"], ...known.map((v) => [["g", v.key], v.title])]] as (typeof groups)[number]] : groups;
    return html`<dialog class="sheet" aria-labelledby="keys-title" @click=${this.#beside}>
      <header><h2 id="keys-title">Keys</h2><form method="dialog"><button class="button icon quiet" aria-label="Close">${icon("close")}</button></form></header>
      <p class="hint">A letter that makes, changes or undoes something (n, e, u) counts alone: with no other letter in the second before it, and no key right after.</p>
      ${all.map(([title, keys]) => html`<section>
        <h3>${title}</h3>
        <dl class="keys">${keys.map(([names, what]) => html`<dt>${names.map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${what}</dd>`)}</dl>
      </section>`)}
    </dialog>`;
  }

  show(): void {
    this.requestUpdate();
    void this.updateComplete.then(() => {
      const d = this.querySelector("dialog")!;
      if (!d.open) d.showModal();
    });
  }

  #beside(e: MouseEvent): void {
    if (e.target === e.currentTarget) (e.currentTarget as HTMLDialogElement).close();
  }
}
define("sk-keys", KeySheet);

import { html, nothing } from "lit";
import { api, type Decision, inWords } from "../api/api.ts";
import type { Asked } from "../api/types.ts";
import { define, Piece } from "../piece.ts";
import { notices } from "../state/notices.ts";
import { who } from "../state/who.ts";
import { piecesOf, saysNoMore } from "./asked.ts";

/** A call that waits for somebody to allow or deny it. */
class ApprovalCard extends Piece {
  static override properties = { asked: { attribute: false }, thread: { attribute: false }, denying: { state: true }, sending: { state: true } };
  declare asked: Asked;
  declare thread: string;
  declare denying: boolean;
  declare sending: boolean;

  constructor() {
    super();
    this.denying = this.sending = false;
  }

  override render() {
    const a = this.asked;
    const pieces = piecesOf(a);
    const id = `ask-${a.call.replace(/\W/g, "-")}`;
    return html`<section class="approval" role="group" aria-labelledby=${id}>
      <h2 id=${id}><bdi>${a.agent}</bdi> asks to use <span class="tool">${a.tool}</span></h2>
      ${saysNoMore(a) ? nothing : html`<p dir="auto" class="question">${a.question}</p>`}
      ${pieces.map((p) => html`<p class="aside">${p.title}</p>
        ${p.text ? html`<pre class="asked" data-piece=${p.kind} dir="ltr" tabindex="0" role="group" aria-label=${p.title}>${p.text}</pre>` : nothing}`)}
      ${a.reason ? html`<p class="aside" dir="auto">${a.reason}</p>` : nothing}
      ${!who.may("approve") ? html`<p class="aside">Somebody with the right to approve decides.</p>` : this.denying ? this.#reason() : this.#choice()}
    </section>`;
  }

  #choice() {
    return html`<div class="row">
      <button class="button main" ?disabled=${this.sending} @click=${() => this.#decide({ decision: "allow", scope: "once" })}>Allow once</button>
      <button class="button" ?disabled=${this.sending} @click=${() => this.#decide({ decision: "allow", scope: "thread" })}>Always in this thread</button>
      <button class="button bad" ?disabled=${this.sending} @click=${this.#ask}>Deny…</button>
    </div>`;
  }

  #reason() {
    return html`<form class="row" @submit=${this.#deny}>
      <input class="field" name="reason" aria-label="Why not, for the model" placeholder="Why not? The model reads it." maxlength="4000" autocomplete="off" @keydown=${this.#key} />
      <button class="button bad" ?disabled=${this.sending}>Deny</button>
      <button class="button quiet" type="button" @click=${() => this.#back()}>Back</button>
    </form>`;
  }

  #ask = async (): Promise<void> => {
    this.denying = true;
    await this.updateComplete;
    this.querySelector<HTMLElement>("input")?.focus();
  };

  #key(e: KeyboardEvent): void {
    if (e.key !== "Escape") return;
    e.stopPropagation();
    this.#back();
  }

  #back(): void {
    this.denying = false;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>("button")?.focus());
  }

  #deny(e: SubmitEvent): void {
    e.preventDefault();
    const reason = String(new FormData(e.target as HTMLFormElement).get("reason") ?? "").trim();
    void this.#decide({ decision: "deny", reason });
  }

  async #decide(decision: Decision): Promise<void> {
    this.sending = true;
    try {
      await api.decide(this.thread, this.asked.id, decision);
      (document.querySelector<HTMLElement>("sk-composer textarea"))?.focus();
    } catch (err) {
      notices.trouble(`It could not be decided: ${inWords(err)}`);
    } finally {
      this.sending = false;
    }
  }
}
define("sk-approval", ApprovalCard);

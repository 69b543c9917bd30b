import { html, nothing } from "lit";
import { inWords } from "../api/api.ts";
import { define, Piece } from "../piece.ts";
import { who } from "../state/who.ts";
import { threads } from "../state/threads.ts";

/** Asks for a token where the server wants one. It is exchanged for a cookie that no script can read, and not kept. */
class SignIn extends Piece {
  static override properties = { trouble: { state: true } };
  declare trouble: string;

  constructor() {
    super();
    this.trouble = "";
  }

  override render() {
    return html`<form class="empty" @submit=${this.#submitted}>
      <h1>This server wants a token</h1>
      <p>Whoever runs it makes one with <code>skein token create</code>.</p>
      <input class="field" type="password" name="token" aria-label="Token" autocomplete="current-password" required maxlength="200" autofocus />
      ${this.trouble ? html`<p class="trouble" role="alert">${this.trouble}</p>` : nothing}
      <button class="button main">Go in</button>
    </form>`;
  }

  async #submitted(e: SubmitEvent): Promise<void> {
    e.preventDefault();
    try {
      await who.signIn(String(new FormData(e.target as HTMLFormElement).get("token")).trim());
      void threads.refresh();
    } catch (err) {
      this.trouble = inWords(err);
    }
  }
}
define("sk-sign-in", SignIn);

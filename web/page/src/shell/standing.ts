import { html } from "lit";
import { define, Piece } from "../piece.ts";
import { Follows } from "../state/observable.ts";
import { link } from "../state/session.ts";

const words = { live: "Connected", "catching up": "Connecting…", offline: "Offline — trying again" } as const;

/** How the link to the server stands, always. */
class LinkStanding extends Piece {
  constructor() {
    super();
    new Follows(this, link);
  }

  override render() {
    return html`<span class="standing" data-is=${link.standing}>${words[link.standing]}</span>`;
  }
}
define("sk-link", LinkStanding);

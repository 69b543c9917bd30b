import { Client } from "../../../client/index.js";
import { utf8 } from "./log.ts";

/** The part of a WebSocket that a client uses. */
type Socket = Pick<WebSocket, "send" | "close" | "readyState" | "onopen" | "onmessage" | "onclose" | "onerror">;

/**
 * A link of its own to the server, whose bytes are counted and which can be cut, so
 * that what a cut does can be seen without the page's own link being lost.
 */
export class Tap {
  /** Bytes of the frame that came last; whoever is told of a batch reads them. */
  frame = 0;
  cut = false;
  readonly client: Client;
  #open = new Set<Socket>();

  constructor(options: { WebSocket?: typeof WebSocket; url?: string; fetch?: typeof fetch } = {}) {
    const { WebSocket: Real = globalThis.WebSocket, ...rest } = options;
    this.client = new Client({ ...rest, WebSocket: this.#tapped(Real), pace: { min: 200, max: 600 } } as never);
  }

  /** Cuts the link; nobody comes through until it is mended. */
  sever(): void {
    this.cut = true;
    for (const s of [...this.#open]) s.close();
    this.#open.clear();
  }

  mend(): void {
    this.cut = false;
  }

  close(): void {
    this.client.close();
    this.#open.clear();
  }

  #tapped(Real: typeof WebSocket): typeof WebSocket {
    const tap = this;
    return class {
      constructor(url: string) {
        if (tap.cut) return dead() as never;
        const s = new Real(url);
        s.addEventListener("message", (e: MessageEvent<unknown>) => (tap.frame = typeof e.data === "string" ? utf8(e.data) : 0));
        s.addEventListener("close", () => tap.#open.delete(s));
        tap.#open.add(s);
        return s as never;
      }
    } as never;
  }
}

/** A socket to nowhere. */
function dead(): Socket {
  const s: Socket = { readyState: 0, onopen: null, onmessage: null, onclose: null, onerror: null, send: () => {}, close: () => {} };
  queueMicrotask(() => s.onclose?.call(s as WebSocket, { reason: "the link is cut" } as CloseEvent));
  return s;
}

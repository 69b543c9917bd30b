// A server in memory: models of threads behind a WebSocket and a fetch that a
// test can cut, stall and kill at will.

import { Model } from "./model.js";

export const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until what is asked holds. */
export async function until(what, why = String(what)) {
  for (let i = 0; i < 5000; i++) {
    if (await what()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`it never came to be: ${why}`);
}

export class FakeServer {
  constructor() {
    this.models = new Map();
    this.sockets = new Set(); // those that are open
    this.opened = 0;
    this.asked = []; // what clients said
    this.requests = [];
    this.refuses = false; // WebSockets are refused
    this.tickets = new Set();
    this.needsTicket = false;
    const server = this;
    this.WebSocket = class {
      constructor(url) {
        this.url = new URL(url);
        this.readyState = 0;
        this.watches = new Map();
        setImmediate(() => this.connected());
      }
      connected() {
        if (this.readyState !== 0) return;
        const ticket = this.url.searchParams.get("ticket");
        if (server.refuses || (server.needsTicket && !server.tickets.delete(ticket))) return this.ended("");
        this.readyState = 1;
        server.opened++;
        server.sockets.add(this);
        this.onopen?.({});
      }
      send(text) {
        if (this.readyState === 1) setImmediate(() => !this.dead && this.readyState === 1 && server.receive(this, JSON.parse(text)));
      }
      put(frame) {
        const text = JSON.stringify(frame);
        setImmediate(() => !this.dead && this.readyState === 1 && this.onmessage?.({ data: text }));
      }
      /** The other side closes, or the line breaks. */
      ended(reason = "") {
        this.close();
        this.onclose?.({ reason });
      }
      close() {
        this.readyState = 3;
        server.sockets.delete(this);
        for (const w of this.watches.values()) w.close();
        this.watches.clear();
      }
    };
  }

  model(id, options) {
    const m = new Model({ id, ...options });
    this.models.set(id, m);
    return m;
  }

  receive(socket, frame) {
    this.asked.push(frame);
    if (frame.ping !== undefined) return socket.put({ pong: frame.ping });
    if (frame.watch !== undefined) {
      const model = this.models.get(frame.thread);
      if (!model) return socket.put({ end: frame.watch, reason: "not-found" });
      const w = { holding: false };
      w.close = () => w.of?.close();
      socket.watches.set(frame.watch, w);
      w.of = model.watch({ tail: frame.tail, from: frame.from, epoch: frame.epoch }, (batch) => !w.holding && socket.put({ w: frame.watch, ...(this.tamper?.(batch) ?? batch) }));
      return;
    }
    const w = socket.watches.get(frame.unwatch ?? frame.hold);
    if (!w) return;
    if (frame.unwatch !== undefined) {
      w.close();
      socket.watches.delete(frame.unwatch);
    } else if (frame.on) {
      w.holding = true;
      w.delivered = w.of.n;
    } else if (w.holding) {
      w.holding = false;
      w.of.n = w.delivered; // what was not delivered had no number
      w.of.overflow();
    }
  }

  /** Breaks every line. */
  cut() {
    for (const s of [...this.sockets]) s.ended("");
  }

  /** Ends every watch with a reason. */
  end(reason) {
    for (const s of this.sockets) {
      for (const [w, held] of s.watches) {
        held.close();
        s.watches.delete(w);
        s.put({ end: w, reason });
      }
    }
  }

  /** The fetch of a client. */
  fetch = async (url, { method = "GET", body, headers, signal } = {}) => {
    const { pathname, searchParams } = new URL(url);
    this.requests.push({ method, path: pathname, query: Object.fromEntries(searchParams), body: body && JSON.parse(body), headers });
    await soon();
    signal?.throwIfAborted();
    const problem = (status, code, detail) => new Response(JSON.stringify({ status, code, detail, hint: "look again" }), { status, headers: { "content-type": "application/problem+json" } });
    if (this.fails) return this.fails(problem);
    if (pathname === "/healthz") return new Response("{}");
    if (pathname === "/v1/tickets") {
      const ticket = `ticket-${this.requests.length}`;
      this.tickets.add(ticket);
      return Response.json({ ticket });
    }
    const [, id, what] = /^\/v1\/threads\/([^/]+)(?:\/(.*))?$/.exec(pathname) ?? [];
    const model = this.models.get(id);
    if (!model) return problem(404, "not-found", `there is no thread ${id}`);
    if (what === "entries") {
      await this.beforePage?.();
      const page = model.page({ before: Number(searchParams.get("before") ?? Infinity), limit: Number(searchParams.get("limit") ?? 50) });
      await this.afterPage?.();
      return Response.json(page);
    }
    return Response.json({ id, method, what: what ?? "", body: body && JSON.parse(body) });
  };
}

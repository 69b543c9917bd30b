// A Skein server as an object: its calls, one method each, and watches.

import { SkeinError, problem } from "./error.js";
import { pace } from "./retry.js";
import { Socket } from "./socket.js";
import { Streams } from "./stream.js";
import { Watch } from "./watch.js";

/** @typedef {import("./index.d.ts").RequestOptions} RequestOptions */

const enc = encodeURIComponent;

export class Client {
  /** @param {import("./index.d.ts").ClientOptions} [options] */
  constructor(options = {}) {
    const { url = globalThis.location?.origin, token, ticket } = options;
    if (!url) throw new SkeinError({ code: "invalid", message: "the client needs the server's url" });
    this.url = String(url).replace(/\/+$/, "");
    this.token = token;
    this.ticket = ticket ?? (token === undefined ? undefined : async () => (await this.call("POST", "/v1/tickets")).ticket);
    this.pace = { ...pace, ...options.pace };
    /** @private */
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
    this.WebSocket = options.WebSocket === undefined ? globalThis.WebSocket : options.WebSocket;
    /** @private @type {Socket | Streams | null} */
    this.transport = null;
  }

  // Threads.

  threads(/** @type {any} */ query) { return this.call("GET", "/v1/threads", { query }); }
  create(/** @type {any} */ thread = {}) { return this.call("POST", "/v1/threads", { body: thread }); }
  thread(/** @type {string} */ id) { return this.call("GET", at(id)); }
  change(/** @type {string} */ id, /** @type {any} */ what) { return this.call("PATCH", at(id), { body: what }); }
  delete(/** @type {string} */ id) { return this.call("DELETE", at(id)); }

  // Saying, and what follows from it.

  say(/** @type {string} */ id, /** @type {any} */ message) {
    return this.call("POST", at(id, "messages"), { body: typeof message === "string" ? { text: message } : message });
  }
  reply(/** @type {string} */ id) { return this.call("POST", at(id, "reply")); }
  stop(/** @type {string} */ id) { return this.call("POST", at(id, "stop")); }
  approve(/** @type {string} */ id, /** @type {string} */ call, /** @type {any} */ how = {}) {
    return this.call("POST", at(id, "approvals", call), { body: { ...how, decision: "allow" } });
  }
  deny(/** @type {string} */ id, /** @type {string} */ call, /** @type {string} */ reason) {
    return this.call("POST", at(id, "approvals", call), { body: { decision: "deny", reason } });
  }
  rewind(/** @type {string} */ id, /** @type {number} */ seq) { return this.call("POST", at(id, "rewind"), { body: { seq } }); }
  fork(/** @type {string} */ id, /** @type {any} */ how = {}) { return this.call("POST", at(id, "fork"), { body: how }); }
  reset(/** @type {string} */ id) { return this.call("POST", at(id, "reset")); }

  // Reading.

  page(/** @type {string} */ id, /** @type {any} */ { signal, ...query } = {}) { return this.call("GET", at(id, "entries"), { query, signal }); }
  entry(/** @type {string} */ id, /** @type {number} */ seq) { return this.call("GET", at(id, "entries", seq)); }
  prompt(/** @type {string} */ id, /** @type {any} */ query) { return this.call("GET", at(id, "prompt"), { query }); }
  requests(/** @type {string} */ id, /** @type {any} */ query) { return this.call("GET", at(id, "requests"), { query }); }
  outline(/** @type {string} */ id) { return this.call("GET", at(id, "outline")); }
  nodes(/** @type {string} */ id, /** @type {any} */ query) { return this.call("GET", at(id, "nodes"), { query }); }
  zoom(/** @type {string} */ id, /** @type {any} */ query) { return this.call("GET", at(id, "zoom"), { query }); }
  read(/** @type {string} */ id, /** @type {any} */ query) { return this.call("GET", at(id, "read"), { query }); }
  search(/** @type {string} */ q, /** @type {any} */ { thread, ...query } = {}) {
    return this.call("GET", thread ? at(thread, "search") : "/v1/search", { query: { ...query, q } });
  }
  usage(/** @type {string} */ id) { return this.call("GET", at(id, "usage")); }
  agents() { return this.call("GET", "/v1/agents"); }

  // Files.

  putBlob(/** @type {string} */ id, /** @type {string} */ sha256, /** @type {BodyInit} */ bytes, { name = "", mediaType = "application/octet-stream" } = {}) {
    return this.call("PUT", at(id, "blobs", sha256), { raw: bytes, query: { name }, headers: { "content-type": mediaType } });
  }
  async blob(/** @type {string} */ id, /** @type {string} */ sha256, /** @type {any} */ query) {
    const response = await this.send("GET", at(id, "blobs", sha256), { query });
    if (!response.ok) throw await problem(response);
    return response.blob();
  }

  /**
   * Follows a thread until the watch is closed. All watches of a client share one
   * WebSocket.
   * @param {string} thread
   * @param {import("./index.d.ts").WatchOptions} [options]
   */
  watch(thread, options = {}) {
    return new Watch(this, thread, options);
  }

  /** Ends all watches. */
  close() {
    const { transport } = this;
    this.transport = null;
    for (const watch of transport?.all() ?? []) watch.close();
    transport?.close();
  }

  /**
   * Asks for a path and reads the JSON of the answer. A problem is thrown as a
   * {@link SkeinError}.
   * @param {string} method
   * @param {string} path
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async call(method, path, options) {
    const response = await this.send(method, path, options);
    if (!response.ok) throw await problem(response);
    const text = await response.text();
    return text === "" ? undefined : JSON.parse(text);
  }

  /**
   * Sends a request and gives the response, whatever it is.
   * @param {string} method
   * @param {string} path
   * @param {RequestOptions} [options]
   */
  async send(method, path, { query = {}, body, raw, headers = {}, signal } = {}) {
    const url = new URL(this.url + path);
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined && value !== null && value !== "") url.searchParams.set(key, String(value));
    }
    const token = typeof this.token === "function" ? await this.token() : this.token;
    const sent = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    };
    try {
      return await this.fetch(url.href, { method, headers: sent, body: body === undefined ? raw : JSON.stringify(body), signal });
    } catch (err) {
      if (signal?.aborted) throw err;
      throw new SkeinError({ message: `${this.url} cannot be reached`, hint: "see whether the server runs", cause: err });
    }
  }

  /** Gives what carries watches. */
  link() {
    return (this.transport ??= this.WebSocket ? new Socket(this) : new Streams(this));
  }

  /** Gives the address of a WebSocket; a ticket stands in it where a token is needed. */
  async socketURL() {
    const url = new URL(`${this.url}/v1/ws`);
    url.protocol = url.protocol.replace("http", "ws");
    if (this.ticket) url.searchParams.set("ticket", await this.ticket());
    return url.href;
  }

  /** Says whether the server answers where its WebSocket does not. */
  async blocked() {
    try {
      return (await this.send("GET", "/healthz")).ok;
    } catch {
      return false;
    }
  }

  /** Goes on without WebSockets: something on the way lets none through. */
  withoutSockets() {
    const watches = this.transport?.all() ?? [];
    this.transport?.close();
    this.WebSocket = null;
    this.transport = null;
    for (const watch of watches) {
      watch.link = this.link();
      watch.link.start(watch);
    }
  }
}

/** The path of something in a thread. @param {string} id @param {(string | number)[]} rest */
const at = (id, ...rest) => ["/v1/threads", enc(id), ...rest.map(enc)].join("/");

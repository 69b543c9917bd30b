// Server-sent events: the other way, where no WebSocket can be had. One request
// for each watch, read with fetch, so that a token may be sent with it.

import { final, problem } from "./error.js";
import { Retry } from "./retry.js";
import { isGone } from "./socket.js";

/** @typedef {import("./watch.js").Watch} Watch */

export class Streams {
  /** @param {import("./client.js").Client} client */
  constructor(client) {
    this.client = client;
    /** @type {Map<Watch, AbortController>} */
    this.running = new Map();
  }

  /** @param {Watch} watch */
  start(watch) {
    const ends = new AbortController();
    this.running.set(watch, ends);
    if (!watch.held) this.follow(watch, ends.signal);
  }

  /** @param {Watch} watch */
  stop(watch) {
    this.running.get(watch)?.abort();
    this.running.delete(watch);
  }

  /** A stream that is held is none: the next one brings what was missed. @param {Watch} watch @param {boolean} on */
  hold(watch, on) {
    this.stop(watch);
    this.start(watch);
    if (on) watch.become("offline", "held");
  }

  all() {
    return [...this.running.keys()];
  }

  close() {
    for (const watch of this.all()) this.stop(watch);
  }

  /** @private @param {Watch} watch @param {AbortSignal} signal */
  async follow(watch, signal) {
    const retry = new Retry(this.client.pace);
    while (!signal.aborted) {
      let reason = "the connection was lost";
      try {
        watch.become("catching up");
        reason = (await this.read(watch, retry, signal)) ?? reason;
        if (isGone(reason)) {
          this.running.delete(watch);
          return watch.end("gone", reason);
        }
      } catch (err) {
        if (signal.aborted) return;
        if (final(err)) {
          this.running.delete(watch);
          return watch.end("gone", /** @type {import("./error.js").SkeinError} */ (err).code);
        }
        reason = String(/** @type {any} */ (err)?.message ?? err);
      }
      if (signal.aborted) return;
      watch.become("offline", reason);
      await pause(retry.down(), signal);
    }
  }

  /**
   * Reads one stream to its end; gives the reason where the server gave one.
   * @private @param {Watch} watch @param {Retry} retry @param {AbortSignal} signal
   */
  async read(watch, retry, signal) {
    const ends = new AbortController();
    const stop = () => ends.abort();
    signal.addEventListener("abort", stop);
    const { ping, patience } = this.client.pace;
    const silent = () => ends.abort(new Error("the connection is dead"));
    let timer = setTimeout(silent, ping + patience);
    try {
      const path = `/v1/threads/${encodeURIComponent(watch.thread)}/events`;
      const response = await this.client.send("GET", path, { query: watch.asks(), signal: ends.signal, headers: { accept: "text/event-stream" } });
      if (!response.ok || !response.body) throw await problem(response);
      retry.up();
      const parse = events();
      const reader = response.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        clearTimeout(timer);
        if (done) return undefined;
        timer = setTimeout(silent, ping + patience);
        for (const { event, data } of parse(value)) {
          if (event === "end") return JSON.parse(data).reason;
          if (event === "message" && !watch.take(JSON.parse(data))) return watch.reason;
        }
      }
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      ends.abort();
    }
  }
}

/**
 * Makes a reader of event streams: bytes in, whole events out.
 * @returns {(bytes: Uint8Array) => { event: string, data: string }[]}
 */
export function events() {
  const utf8 = new TextDecoder();
  /** @type {string[]} Pieces of the line that has not ended. */
  let line = [];
  let event = "";
  /** @type {string[]} */
  let data = [];
  return (bytes) => {
    const out = [];
    const lines = utf8.decode(bytes, { stream: true }).split("\n");
    const rest = /** @type {string} */ (lines.pop());
    for (const end of lines) {
      const text = line.concat(end).join("").replace(/\r$/, "");
      line = [];
      const [, field, value] = /** @type {RegExpExecArray} */ (/^([^:]*):? ?([^]*)$/.exec(text));
      if (text === "") {
        if (data.length) out.push({ event: event || "message", data: data.join("\n") });
        [event, data] = ["", []];
      } else if (field === "data") data.push(value);
      else if (field === "event") event = value;
    }
    line.push(rest);
    return out;
  };
}

/** @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((/** @type {(v?: unknown) => void} */ resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}

// Against a real server, whose address is in SKEIN_URL: the tests of package client
// start one.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, Replica, SkeinError } from "../index.js";
import { until } from "../testing/server.js";

const url = process.env.SKEIN_URL;
const required = process.env.SKEIN_REQUIRE === "all";
const pace = { min: 5, max: 50 };

/** Says why a test cannot run; where everything must, that is a failure. */
function missing(t, what) {
  if (required && url) assert.fail(what);
  t.skip(what);
}

const texts = (ranges) => ranges.flatMap((r) => r.entries.map((e) => `${e.message.author}: ${e.message.parts.map((p) => p.text).join("")}`));

for (const [way, Socket] of [["a WebSocket", globalThis.WebSocket], ["server-sent events", null]]) {
  test(`a talk over ${way}`, async (t) => {
    if (!url) return missing(t, "SKEIN_URL is not set");
    if (Socket === undefined) return missing(t, "this Node has no WebSocket: run it with --experimental-websocket");
    const client = new Client({ url, WebSocket: Socket, pace, token: process.env.SKEIN_TOKEN });
    t.after(() => client.close());
    const { id } = await client.create({ title: "The launch" });
    const grew = [];
    const watch = client.watch(id, { tail: 4, onChange: (w) => w.view.docs.live && grew.push(w.view.docs.live.text) });
    await until(() => watch.state === "live");
    assert.equal(watch.view.thread.title, "The launch");
    for (let i = 1; i <= 6; i++) {
      await client.say(id, `Ship on the ${i}th 🚢`);
      await until(() => watch.view.length === 2 * i && watch.view.docs.live === null && watch.view.docs.agent.turn === 0);
    }
    assert.match(texts(watch.ranges).at(-1), /You said: .*: Ship on the 6th 🚢$/);
    assert.ok(grew.length > 6, "the answers came piece by piece");
    assert.ok(watch.view.entries.length < 8);
    while (await watch.fetchEarlier({ limit: 3 }));
    assert.equal(texts(watch.ranges).length, 12);
    assert.deepEqual(watch.holes, []);
    const second = watch.ranges[0].entries[1].seq;
    await client.rewind(id, second);
    await until(() => watch.view.length === 2);
    assert.equal(texts(watch.ranges).length, 2);
    watch.hold(true);
    await client.say(id, { text: "unseen", reply: false });
    watch.hold(false);
    await until(() => watch.view.length === 3);
    const found = await client.search("unseen", { thread: id });
    assert.equal(found.hits[0].id, 2);
    assert.equal((await client.zoom(id, { id: 0, n: 2 })).lines.length, 2);
    await client.delete(id);
    await until(() => watch.state === "gone");
    assert.equal(watch.reason, "deleted");
    await assert.rejects(client.thread(id), (err) => err instanceof SkeinError && err.code === "not-found" && err.status === 404);
  });
}

test("a standard EventSource follows a thread, and goes on where it was", async (t) => {
  if (!url) return missing(t, "SKEIN_URL is not set");
  const { EventSource } = await import("eventsource").catch(() => ({}));
  if (!EventSource) return missing(t, "the module eventsource is not installed: run npm ci in web/client");
  const client = new Client({ url, WebSocket: null, token: process.env.SKEIN_TOKEN });
  const { id } = await client.create();
  const say = (text) => client.say(id, { text, reply: false });
  for (let i = 1; i <= 5; i++) await say(`message ${i}`);
  const asked = [];
  let line;
  const { ticket } = await client.call("POST", "/v1/tickets");
  const source = new EventSource(`${url}/v1/threads/${id}/events?tail=3&ticket=${ticket}`, {
    fetch: async (address, init) => {
      asked.push(init.headers["Last-Event-ID"]);
      line = new AbortController();
      const fresh = new URL(address);
      fresh.searchParams.set("ticket", (await client.call("POST", "/v1/tickets")).ticket);
      return fetch(fresh, { ...init, signal: AbortSignal.any([init.signal, line.signal].filter(Boolean)) });
    },
  });
  t.after(() => source.close());
  const replica = new Replica();
  const ids = [];
  source.onopen = () => replica.resume();
  source.onmessage = ({ data, lastEventId }) => {
    replica.apply(JSON.parse(data));
    ids.push(lastEventId);
  };
  await until(() => replica.view?.length === 5);
  assert.deepEqual(texts([{ entries: replica.view.entries }]).map((s) => s.replace(/^.*: /, "")), ["message 3", "message 4", "message 5"]);
  await say("message 6");
  await until(() => replica.view.length === 6);
  const last = replica.view.entries.at(-1).seq;
  line.abort(new TypeError("the line is cut"));
  await say("message 7");
  await until(() => replica.view.length === 7);
  assert.equal(asked.length, 2);
  assert.equal(asked[1], `${replica.view.thread.epoch}.${last}`);
  assert.deepEqual(replica.view.entries.map((e) => e.prev), [last]);
  assert.deepEqual(replica.ranges.length, 1);
  assert.equal(replica.ranges[0].entries.length, 5);
});

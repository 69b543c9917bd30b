import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { test } from "node:test";
import { Client } from "../index.js";
import { events } from "../stream.js";
import { Model } from "../testing/model.js";
import { FakeServer, until } from "../testing/server.js";

const seqs = (entries) => entries.map((e) => e.seq);

test("events are read whatever pieces they come in", () => {
  const text = 'retry: 1500\n\n: a comment\n\nid: e.4\ndata: {"n":1}\n\nevent: end\ndata: "dele\ndata: ted 👋"\n\ndata\n\nevent: nothing\n\ndata:no space\r\n\r\n';
  const want = [
    { event: "message", data: '{"n":1}' },
    { event: "end", data: '"dele\nted 👋"' },
    { event: "message", data: "" },
    { event: "message", data: "no space" },
  ];
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const parse = events();
    const got = [];
    for (let i = 0; i < bytes.length; i += size) got.push(...parse(bytes.subarray(i, i + size)));
    assert.deepEqual(got, want, `in pieces of ${size}`);
  }
});

/** A server of event streams on this machine. */
async function served(t, { pace, ...options } = {}) {
  const model = new Model();
  const streams = new Set();
  const asked = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://localhost");
    asked.push({ query: Object.fromEntries(url.searchParams), authorization: request.headers.authorization });
    if (served.refuses) return response.writeHead(served.refuses, { "content-type": "application/problem+json" }).end('{"code":"not-found","detail":"no such thread"}');
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`retry: 1000\n\n`);
    const number = (name) => (url.searchParams.has(name) ? Number(url.searchParams.get(name)) : undefined);
    const w = model.watch({ tail: number("tail"), from: number("from"), epoch: url.searchParams.get("epoch") ?? undefined }, (batch) => response.write(`data: ${JSON.stringify(batch)}\n\n`));
    streams.add(response);
    response.on("close", () => {
      w.close();
      streams.delete(response);
    });
  });
  served.refuses = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = new Client({ url: `http://127.0.0.1:${server.address().port}`, WebSocket: null, pace: { min: 1, max: 8, ...pace }, ...options });
  t.after(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return { model, streams, asked, client };
}

test("a watch goes on over server-sent events, and loses nothing with the link", async (t) => {
  const { model, streams, asked, client } = await served(t, { token: "secret" });
  for (let i = 0; i < 6; i++) model.say();
  const states = [];
  const watch = client.watch("t", { tail: 4, onState: (s, why) => states.push(why ? `${s}: ${why}` : s) });
  await until(() => watch.state === "live");
  model.piece("half a 👋");
  await until(() => watch.view.docs.live?.text === "half a 👋");
  for (const s of streams) s.destroy();
  await until(() => watch.state !== "live");
  model.piece(" word");
  model.say({ gap: 1 });
  await until(() => watch.state === "live" && watch.view.length === 7);
  assert.deepEqual(seqs(watch.ranges[0].entries), [3, 4, 5, 6, 8]);
  assert.equal(watch.view.docs.live, null);
  assert.deepEqual(asked, [
    { query: { tail: "4" }, authorization: "Bearer secret" },
    { query: { tail: "4", from: "7", epoch: "e1" }, authorization: "Bearer secret" },
  ]);
  assert.match(states[2], /^offline: /);
});

test("a stream that is silent is dead, and one with comments is not", async (t) => {
  const { model, streams, asked, client } = await served(t, { pace: { ping: 1000, patience: 1000 } });
  model.say();
  const watch = client.watch("t");
  await until(() => watch.state === "live");
  for (let i = 0; i < 10; i++) {
    for (const s of streams) s.write(": alive\n\n");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  assert.equal(asked.length, 1);
  await until(() => asked.length === 2);
  assert.equal(watch.state === "gone", false);
});

test("an end with a reason, and a refusal, are told", async (t) => {
  const { model, streams, asked, client } = await served(t);
  model.say();
  const watch = client.watch("t");
  await until(() => watch.state === "live");
  for (const s of streams) s.end('event: end\ndata: {"reason":"drain"}\n\n');
  await until(() => asked.length === 2 && watch.state === "live");
  for (const s of streams) s.end('event: end\ndata: {"reason":"deleted"}\n\n');
  await until(() => watch.state === "gone");
  assert.equal(watch.reason, "deleted");
  served.refuses = 404;
  const other = client.watch("t");
  await until(() => other.state === "gone");
  assert.equal(other.reason, "not-found");
});

test("a held stream is none; let go on, it brings what was missed", async (t) => {
  const { model, streams, asked, client } = await served(t);
  model.say();
  const watch = client.watch("t");
  await until(() => watch.state === "live");
  watch.hold(true);
  await until(() => streams.size === 0);
  assert.equal(watch.state, "offline");
  model.say();
  assert.equal(asked.length, 1);
  watch.hold(false);
  await until(() => watch.view.length === 2);
  watch.close();
  await until(() => streams.size === 0);
});

test("where WebSockets do not come through, events do", async (t) => {
  const { model, asked, client } = await served(t);
  model.say();
  const blocked = new FakeServer();
  blocked.refuses = true;
  client.WebSocket = blocked.WebSocket;
  const { send } = client;
  client.send = (method, path, options) => (path === "/healthz" ? Promise.resolve(new Response("{}")) : send.call(client, method, path, options));
  const watch = client.watch("t");
  await until(() => watch.state === "live");
  model.say();
  await until(() => watch.view.length === 2);
  assert.equal(asked.length, 1);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, SkeinError } from "../index.js";
import { randomness } from "../testing/model.js";
import { FakeServer, soon, until } from "../testing/server.js";

const seqs = (entries) => entries.map((e) => e.seq);
const quick = { min: 1, max: 8, health: 60_000, ping: 20_000, patience: 10_000, snapshot: 60_000 };

/** A client of a server in memory, closed when the test ends. */
function connected(t, { pace, ...options } = {}) {
  const server = new FakeServer();
  const client = new Client({ url: "http://skein.test", fetch: server.fetch, WebSocket: server.WebSocket, pace: { ...quick, ...pace }, ...options });
  t.after(() => client.close());
  return { server, client };
}

/** Follows a thread and keeps what was told of it. */
function follow(client, thread, options) {
  const told = { states: [], texts: [] };
  const watch = client.watch(thread, {
    ...options,
    onState: (state, reason) => told.states.push(reason ? `${state}: ${reason}` : state),
    onChange: (w) => told.texts.push(w.view.docs.live?.text ?? ""),
  });
  return { watch, told };
}

test("a watch shows the window, and goes on", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (let i = 0; i < 10; i++) model.say();
  const { watch, told } = follow(client, "t", { tail: 4 });
  await until(() => watch.state === "live");
  assert.deepEqual(seqs(watch.view.entries), [7, 8, 9, 10]);
  model.say();
  await until(() => watch.view.length === 11);
  assert.deepEqual(seqs(watch.view.entries), [7, 8, 9, 10, 11]);
  assert.deepEqual(told.states, ["catching up", "live"]);
  assert.deepEqual(server.asked[0], { watch: 1, thread: "t", tail: 4 });
});

test("many watches share one socket, and one's end is not another's", async (t) => {
  const { server, client } = connected(t);
  const names = ["a", "b", "c"];
  for (const n of names) server.model(n).say();
  const watches = names.map((n) => follow(client, n).watch);
  await until(() => watches.every((w) => w.state === "live"));
  assert.equal(server.opened, 1);
  watches[0].close();
  assert.equal(watches[0].state, "gone");
  server.models.get("a").say();
  server.models.get("b").say();
  await until(() => watches[1].view.length === 2);
  assert.equal(watches[0].view.length, 1);
  watches[1].close();
  watches[2].close();
  await until(() => server.sockets.size === 0);
});

test("two cuts of the link in a row lose no token", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const { watch } = follow(client, "t");
  await until(() => watch.state === "live");
  let text = "";
  for (let i = 0; i < 40; i++) {
    const piece = ["to", "ken ", "👋", "é"][i % 4];
    text += piece;
    model.piece(piece);
    if (i % 13 === 5) server.cut();
    if (i % 13 === 6) {
      await soon();
      server.cut();
    }
    if (i % 3 === 0) await soon();
  }
  await until(() => watch.view.docs.live?.text === text);
  model.say({ text });
  await until(() => watch.view.docs.live === null);
  assert.equal(watch.view.entries.at(-1).message.parts[0].text, text);
});

test("who joins in mid-answer sees the text from its first character", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (const piece of ["so ", "far ", "so "]) model.piece(piece);
  const { watch, told } = follow(client, "t");
  await until(() => watch.state === "live");
  model.piece("good");
  await until(() => watch.view.docs.live.text === "so far so good");
  assert.equal(told.texts[0], "so far so ");
});

test("a message that was said during an outage is there after the reconnect, once", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const { watch, told } = follow(client, "t");
  await until(() => watch.state === "live");
  server.refuses = true;
  server.cut();
  await until(() => watch.state === "offline");
  model.say({ gap: 2 });
  server.refuses = false;
  await until(() => watch.view.length === 2);
  assert.deepEqual(watch.ranges.map((r) => seqs(r.entries)), [[1, 4]]);
  assert.deepEqual(server.asked.at(-1), { watch: 2, thread: "t", from: 2, epoch: "e1" });
  assert.deepEqual(told.states, ["catching up", "live", "offline: the connection was lost", "catching up", "live"]);
});

test("a restored database empties the client's cache", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (let i = 0; i < 10; i++) model.say();
  const { watch } = follow(client, "t", { tail: 4 });
  await until(() => watch.state === "live");
  await watch.fetchEarlier({ limit: 3 });
  server.cut();
  model.restore(8);
  await until(() => watch.view.fresh);
  assert.deepEqual(watch.ranges.map((r) => seqs(r.entries)), [[5, 6, 7, 8]]);
});

test("every fault has one way out: the watch is begun again", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const { watch, told } = follow(client, "t");
  await until(() => watch.state === "live");
  for (const spoil of [(b) => ({ ...b, n: b.n + 1 }), (b) => ({ ...b, ops: [["z"]] }), (b) => ({ ...b, ops: [["a", ["docs", "live", "text"], 99, "x"]] })]) {
    server.tamper = (b) => {
      server.tamper = undefined;
      return spoil(b);
    };
    const was = model.last;
    model.say();
    await until(() => watch.view.entries.at(-1).seq > was);
  }
  assert.equal(watch.view.length, 4);
  assert.equal(server.opened, 1);
  assert.equal(told.states.filter((s) => s.startsWith("catching up: ")).length, 3);
});

test("a socket that stays open but is dead is found by the ping", async (t) => {
  const { server, client } = connected(t, { pace: { ping: 100, patience: 400 } });
  const model = server.model("t");
  model.say();
  const { watch, told } = follow(client, "t");
  await until(() => watch.state === "live");
  await until(() => server.asked.filter((f) => f.ping).length > 1); // it is alive, and found to be
  assert.equal(server.opened, 1);
  const [socket] = server.sockets;
  socket.dead = true;
  model.say();
  await until(() => watch.view.length === 2);
  assert.equal(server.opened, 2);
  assert.ok(told.states.includes("offline: the connection is dead"), told.states.join());
});

test("one large snapshot on a slow line is no loop of reconnects", async (t) => {
  const { server, client } = connected(t, { pace: { ping: 20, patience: 20, snapshot: 200 } });
  const model = server.model("t");
  model.say();
  let late = 500; // milliseconds that a snapshot takes, while which nothing else can be heard
  const { put } = server.WebSocket.prototype;
  server.WebSocket.prototype.put = function (frame) {
    if (frame.ops?.[0][0] === "r") {
      this.busy = true;
      setTimeout(() => {
        this.busy = false;
        put.call(this, frame);
      }, late);
    } else if (!this.busy) put.call(this, frame);
  };
  const { watch } = follow(client, "t");
  await until(() => watch.state === "live");
  assert.ok(server.opened <= 4, `${server.opened} sockets were opened`);
  late = 0;
});

for (const reason of ["deleted", "revoked", "token"]) {
  test(`a watch that ends since ${reason} says so, and does not come back`, async (t) => {
    const { server, client } = connected(t);
    server.model("t").say();
    const { watch, told } = follow(client, "t");
    await until(() => watch.state === "live");
    server.end(reason);
    await until(() => watch.state === "gone" || server.asked.length > 1);
    assert.equal(watch.reason, reason);
    assert.equal(told.states.at(-1), `gone: ${reason}`);
    assert.equal(server.asked.length, 1);
  });
}

test("a watch that is ended for a while is begun again", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const { watch } = follow(client, "t");
  await until(() => watch.state === "live");
  server.end("slow");
  await until(() => watch.state === "catching up");
  model.say();
  await until(() => watch.state === "live" && watch.view.length === 2);
});

test("a thread that is not there is gone, and the others stay", async (t) => {
  const { server, client } = connected(t);
  server.model("t").say();
  const there = follow(client, "t").watch;
  const not = follow(client, "u").watch;
  await until(() => not.state === "gone");
  assert.equal(not.reason, "not-found");
  await until(() => there.state === "live");
});

test("what is held is not sent, and comes as one snapshot", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const { watch } = follow(client, "t");
  await until(() => watch.state === "live");
  watch.hold(true);
  await until(() => server.asked.some((f) => f.hold && f.on));
  model.say();
  model.say();
  await soon();
  assert.equal(watch.view.length, 1);
  watch.hold(false);
  await until(() => watch.view.length === 3);
  model.say();
  await until(() => watch.view.length === 4);
});

test("a token is sent as a header, and to the socket as a ticket", async (t) => {
  const { server, client } = connected(t, { token: async () => "secret" });
  server.needsTicket = true;
  server.model("t").say();
  const { watch } = follow(client, "t");
  await until(() => watch.state === "live");
  server.cut();
  await until(() => server.opened === 2);
  assert.deepEqual(server.requests.map((r) => [r.method, r.path, r.headers.authorization]), Array(2).fill(["POST", "/v1/tickets", "Bearer secret"]));
});

test("a token that is refused ends the watches", async (t) => {
  const { server, client } = connected(t, { token: "revoked" });
  server.fails = (problem) => problem(401, "permission", "the token is not known");
  const { watch } = follow(client, "t");
  await until(() => watch.state === "gone");
  assert.equal(watch.reason, "permission");
});

test("what fails says what, and what to do", async (t) => {
  const { client } = connected(t);
  await assert.rejects(client.thread("u"), (err) => {
    assert.ok(err instanceof SkeinError);
    assert.deepEqual([err.code, err.status, err.message, err.hint], ["not-found", 404, "there is no thread u", "look again"]);
    return true;
  });
  const down = new Client({ url: "http://skein.test", fetch: async () => { throw new TypeError("fetch failed"); } });
  await assert.rejects(down.threads(), { name: "SkeinError", code: "aborted", status: 0, message: "http://skein.test cannot be reached" });
  const proxy = new Client({ url: "http://skein.test", fetch: async () => new Response("<html>", { status: 502, statusText: "Bad Gateway" }) });
  await assert.rejects(proxy.threads(), { status: 502, code: "aborted", message: "the server answered 502 Bad Gateway" });
});

test("calls go where the API has them", async (t) => {
  const { server, client } = connected(t);
  server.model("t");
  const calls = [
    [() => client.say("t", "hi"), "POST messages", { text: "hi" }],
    [() => client.say("t", { text: "hi", key: "k" }), "POST messages", { text: "hi", key: "k" }],
    [() => client.reply("t"), "POST reply", undefined],
    [() => client.stop("t"), "POST stop", undefined],
    [() => client.approve("t", "call/1", { scope: "thread" }), "POST approvals/call%2F1", { decision: "allow", scope: "thread" }],
    [() => client.deny("t", "c", "no"), "POST approvals/c", { decision: "deny", reason: "no" }],
    [() => client.rewind("t", 4), "POST rewind", { seq: 4 }],
    [() => client.fork("t", { seq: 4 }), "POST fork", { seq: 4 }],
    [() => client.reset("t"), "POST reset", undefined],
    [() => client.change("t", { title: "x" }), "PATCH ", { title: "x" }],
    [() => client.delete("t"), "DELETE ", undefined],
  ];
  for (const [call, want, body] of calls) {
    const got = await call();
    assert.equal(`${got.method} ${got.what}`, want);
    assert.deepEqual(got.body, body);
  }
  await client.zoom("t", { id: 8, n: 4 });
  await client.search("harbour hall", { thread: "t", limit: 3 });
  assert.deepEqual(server.requests.slice(-2).map((r) => [r.path, r.query]), [
    ["/v1/threads/t/zoom", { id: "8", n: "4" }],
    ["/v1/threads/t/search", { q: "harbour hall", limit: "3" }],
  ]);
});

test("fetchEarlier brings page after page, and says when there is no more", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (let i = 0; i < 20; i++) model.say();
  const { watch } = follow(client, "t", { tail: 4 });
  await until(() => watch.state === "live");
  assert.equal(await watch.fetchEarlier({ limit: 10 }), true);
  assert.deepEqual(seqs(watch.ranges[0].entries), seqs(model.active).slice(6));
  assert.equal(await watch.fetchEarlier({ limit: 10 }), false);
  assert.equal(await watch.fetchEarlier({ limit: 10 }), false);
  assert.deepEqual(seqs(watch.ranges[0].entries), seqs(model.active));
});

test("a hole is fetched", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (let i = 0; i < 6; i++) model.say();
  const { watch } = follow(client, "t", { tail: 4 });
  await until(() => watch.state === "live");
  server.cut();
  for (let i = 0; i < 20; i++) model.say();
  await until(() => watch.view.length === 26);
  assert.deepEqual(watch.holes, [{ after: 6, before: 23 }]);
  while (watch.holes.length) await watch.fetchEarlier({ before: watch.holes.at(-1).before, limit: 6 });
  assert.deepEqual(seqs(watch.ranges[0].entries), seqs(model.active).slice(2));
});

test("a page that a rewind has overtaken is fetched again", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  for (let i = 0; i < 20; i++) model.say();
  const { watch } = follow(client, "t", { tail: 4 });
  await until(() => watch.state === "live");
  server.afterPage = async () => {
    server.afterPage = undefined;
    model.rewind(10);
    await until(() => watch.view.length === 10);
  };
  assert.equal(await watch.fetchEarlier({ limit: 3 }), true);
  assert.deepEqual(watch.ranges.map((r) => seqs(r.entries)), [[4, 5, 6, 7, 8, 9, 10]]);
  server.beforePage = () => {
    server.beforePage = undefined;
    model.rewind(8); // the page knows of it before the view does
  };
  await watch.fetchEarlier({ limit: 2 });
  assert.deepEqual(watch.ranges.map((r) => seqs(r.entries)), [[2, 3, 4, 5, 6, 7, 8]]);
});

test("attempts to come back are later and later, and never all at once", async (t) => {
  const { Retry, pace } = await import("../retry.js");
  t.mock.timers.enable({ apis: ["Date"] });
  const retry = new Retry(pace);
  const most = [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000];
  for (const m of most) {
    const wait = retry.down();
    assert.ok(wait >= m / 2 && wait <= m, `${wait} of ${m}`);
  }
  retry.up();
  t.mock.timers.tick(59_000);
  assert.ok(retry.down() > 7000, "a link of less than a minute was no healthy one");
  retry.up();
  t.mock.timers.tick(60_000);
  assert.ok(retry.down() <= 250);
  assert.notEqual(new Retry(pace).down(), new Retry(pace).down());
});

test("a listener that throws breaks no link", async (t) => {
  const { server, client } = connected(t);
  const model = server.model("t");
  model.say();
  const thrown = [];
  const listener = (err) => thrown.push(err.message);
  const others = process.rawListeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", listener);
  t.after(() => {
    process.removeListener("uncaughtException", listener);
    for (const o of others) process.on("uncaughtException", o);
  });
  const watch = client.watch("t", { onChange: () => { throw new Error("mine"); } });
  await until(() => watch.state === "live");
  model.say();
  await until(() => watch.view.length === 2);
  await until(() => thrown.length === 2);
  assert.deepEqual(thrown, ["mine", "mine"]);
});

test("under any weather every watch ends as the server has it", async (t) => {
  for (let seed = 1; seed <= 20; seed++) {
    const r = randomness(seed * 104729);
    const { server, client } = connected(t);
    const models = ["a", "b"].map((id) => server.model(id));
    const watches = [0, 1, 2].map((i) => client.watch(models[i % 2].id, { tail: 1 + r.below(5) }));
    const did = [];
    for (let step = 0; step < 80; step++) {
      const model = models[r.below(2)];
      const x = r.below(12);
      did.push(x);
      if (x < 4) model.say({ gap: r.below(2) });
      else if (x < 7) model.piece("é👋"[r.below(2)] === "é" ? "é" : "👋");
      else if (x === 7) server.cut();
      else if (x === 8) model.rewind(r.below(model.active.length + 1));
      else if (x === 9) server.end("slow");
      else if (x === 10) watches[r.below(3)].hold(r.chance(0.5));
      else for (const s of server.sockets) for (const w of s.watches.values()) if (!w.holding) w.of.overflow();
      if (r.chance(0.5)) await soon();
      if (r.chance(0.1)) await watches[r.below(3)].fetchEarlier({ limit: 3, signal: AbortSignal.timeout(50) }).catch((err) => assert.match(err.name, /Fault|TimeoutError/)); // while it is held, a page may stay of before a rewind
    }
    for (const w of watches) w.hold(false);
    for (const m of models) m.say({ text: "the end" });
    for (const [i, w] of watches.entries()) {
      const model = models[i % 2];
      const why = `seed ${seed}, watch ${i}, ${did}`;
      await until(() => w.state === "live" && w.view.entries.at(-1)?.seq === model.last && w.view.length === model.active.length, why);
      assert.equal(w.view.docs.live, null, why);
      while (w.holes.length) await w.fetchEarlier({ before: w.holes.at(-1).before }); // the newest first: what is older may be undone
      while (await w.fetchEarlier());
      assert.deepEqual(seqs(w.ranges.flatMap((x) => x.entries)), seqs(model.active), why);
    }
    client.close();
  }
});

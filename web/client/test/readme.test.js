// What README.md shows, as it stands there. The server's address is in SKEIN_URL: the
// tests of package client start one.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "../index.js";

const url = process.env.SKEIN_URL;
const folder = new URL("../", import.meta.url);

/** Runs a program to its end, and gives what it printed. */
const run = (file) =>
  new Promise((resolve) => {
    execFile(process.execPath, [file], { env: { ...process.env, SKEIN_SERVER: url }, timeout: 60_000 }, (err, stdout, stderr) => resolve({ code: err?.code ?? 0, stdout, stderr }));
  });

test("the example for Node works on a server without any thread, and again", async (t) => {
  if (!url) {
    if (process.env.SKEIN_REQUIRE === "all" && url !== undefined) assert.fail("SKEIN_URL is empty");
    return t.skip("SKEIN_URL is not set");
  }
  const readme = readFileSync(new URL("README.md", folder), "utf8");
  const example = /^## In Node\n[^]*?```js\n([^]*?)```/m.exec(readme)?.[1];
  assert.ok(example, "README.md shows an example for Node");
  const dir = mkdtempSync(join(tmpdir(), "skein-readme-"));
  t.after(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "node_modules"));
  symlinkSync(fileURLToPath(folder), join(dir, "node_modules", "skein-client"), "dir");
  const file = join(dir, "example.mjs");
  writeFileSync(file, example);
  const client = new Client({ url, token: process.env.SKEIN_TOKEN });
  await client.delete("launch").catch((err) => assert.equal(err.code, "not-found"));
  for (const time of ["first", "second"]) {
    const { code, stdout, stderr } = await run(file);
    assert.equal(code, 0, `the ${time} time: ${stderr}`);
    assert.match(stdout, /^\w+: .*Ship on the 12th\n$/, `the ${time} time: ${stderr}`);
  }
  const { length } = await client.thread("launch");
  assert.equal(length, 2, "it is said and answered once");
});

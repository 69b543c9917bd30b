import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const folder = new URL("../", import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), "utf8");
const packed = readdirSync(folder).filter((name) => name.endsWith(".js") || name.endsWith(".d.ts"));
const scripts = packed.filter((name) => name.endsWith(".js"));

test("what is packed is small, needs nothing, and is whole", () => {
  const pkg = JSON.parse(read("package.json"));
  assert.deepEqual(pkg.files, ["*.js", "*.d.ts"]);
  assert.equal(pkg.dependencies, undefined);
  assert.ok(packed.includes("index.js") && packed.includes("index.d.ts"));
  for (const name of scripts) {
    for (const [, from] of read(name).matchAll(/^(?:import|export) .* from "([^"]+)";$/gm)) {
      assert.ok(packed.includes(from.replace("./", "")), `${name} imports ${from}, which is not packed`);
    }
  }
  const size = gzipSync(scripts.map(read).join("\n"), { level: 9 }).length;
  assert.ok(size < 12 * 1024, `${size} bytes`);
});

test("the types say what there is", async () => {
  const types = read("index.d.ts");
  const all = await import("../index.js");
  for (const name of Object.keys(all)) assert.match(types, new RegExp(`^export class ${name}\\b`, "m"));
  const declared = types.slice(types.indexOf("export class Client")).matchAll(/^ {2}(?!readonly|constructor)(\w+)\(/gm);
  const methods = [...declared].map(([, name]) => name);
  assert.ok(methods.length > 20);
  for (const name of methods) assert.equal(typeof all.Client.prototype[name], "function", name);
});

import { expect, it } from "vitest";
import { sha256, sha256Here } from "../src/talk/sha256.ts";
import { seeded } from "./seeded.ts";

it("hashes without the browser's help as with it", async () => {
  expect(sha256Here(new ArrayBuffer(0))).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const random = seeded(1);
  for (const n of [0, 1, 55, 56, 63, 64, 65, 119, 120, 1000, 70_001]) {
    const data = Uint8Array.from({ length: n }, () => random() * 256);
    expect(sha256Here(data.buffer), `${n} bytes`).toBe(await sha256(data.buffer));
  }
});

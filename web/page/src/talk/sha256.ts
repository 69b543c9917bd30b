// SHA-256 by the browser where it has it, which is on secure pages alone; else here.

const hex = (bytes: Uint8Array): string => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");

export async function sha256(data: ArrayBuffer): Promise<string> {
  return crypto.subtle ? hex(new Uint8Array(await crypto.subtle.digest("SHA-256", data))) : sha256Here(data);
}

/** The first 32 bits of the fractions of the roots of the first primes. */
function roots(power: number, n: number): Uint32Array {
  const out = new Uint32Array(n);
  for (let p = 2, i = 0; i < n; p++) {
    let prime = true;
    for (let d = 2; d * d <= p; d++) if (p % d === 0) prime = false;
    if (prime) out[i++] = (p ** power % 1) * 2 ** 32;
  }
  return out;
}

export function sha256Here(data: ArrayBuffer): string {
  const k = roots(1 / 3, 64);
  const h = roots(1 / 2, 8);
  const n = data.byteLength;
  const padded = new Uint8Array(((n + 8) >> 6) * 64 + 64);
  padded.set(new Uint8Array(data));
  padded[n] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(n / 2 ** 29));
  view.setUint32(padded.length - 4, (n << 3) >>> 0);
  const w = new Uint32Array(64);
  const turn = (x: number, by: number) => (x >>> by) | (x << (32 - by));
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const [a, b] = [w[i - 15]!, w[i - 2]!];
      w[i] = w[i - 16]! + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7]! + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, z] = h as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const t1 = (z + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
      const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [z, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    for (const [i, v] of [a, b, c, d, e, f, g, z].entries()) h[i] = h[i]! + v;
  }
  return [...h].map((x) => x.toString(16).padStart(8, "0")).join("");
}

/** What of localStorage is used. Everything the page keeps there goes through here. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
  key(i: number): string | null;
  readonly length: number;
}

/** Storage in memory, where a browser has none to give. */
export class Memory implements Storage {
  #held = new Map<string, string>();
  get length(): number {
    return this.#held.size;
  }
  getItem(key: string): string | null {
    return this.#held.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.#held.set(key, value);
  }
  removeItem(key: string): void {
    this.#held.delete(key);
  }
  key(i: number): string | null {
    return [...this.#held.keys()][i] ?? null;
  }
}

/** The browser's storage of that kind, or one in memory where it is forbidden. */
export function storage(kind: "localStorage" | "sessionStorage"): Storage {
  try {
    return globalThis[kind] ?? new Memory();
  } catch {
    return new Memory();
  }
}

/** Reads a JSON value; undefined where there is none or it is not readable. */
export function read<T>(from: Storage, key: string): T | undefined {
  try {
    const text = from.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** Writes a JSON value. It says whether there was room for it. */
export function write(to: Storage, key: string, value: unknown): boolean {
  try {
    to.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** The keys that begin so. */
export function keysOf(from: Storage, prefix: string): string[] {
  const keys: string[] = [];
  for (let i = 0; i < from.length; i++) {
    const key = from.key(i);
    if (key?.startsWith(prefix)) keys.push(key);
  }
  return keys;
}

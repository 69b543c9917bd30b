// What a server answers that does not do what it was asked: a problem document
// (RFC 9457) with a code of Skein's.

/** @typedef {import("./index.d.ts").ErrorCode} ErrorCode */

export class SkeinError extends Error {
  /**
   * @param {Partial<import("./index.d.ts").Problem> & { message: string, status?: number, cause?: unknown }} what
   */
  constructor({ message, cause, ...rest }) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SkeinError";
    /** @type {ErrorCode} */
    this.code = rest.code ?? "aborted";
    /** The HTTP status; 0 where there was no answer. */
    this.status = rest.status ?? 0;
    this.op = rest.op;
    this.thread = rest.thread;
    this.hint = rest.hint;
    this.details = rest.details;
  }
}

/** What each status means where a body does not say it: a proxy may have answered. @type {Record<number, ErrorCode>} */
const codes = {
  401: "permission", 403: "permission", 404: "not-found", 408: "timeout", 409: "conflict", 413: "limit",
  421: "permission", 429: "limit", 500: "storage", 504: "timeout",
};

/** Reads the problem that a response holds. @param {Response} response */
export async function problem(response) {
  /** @type {any} */
  const doc = await response.json().catch(() => null);
  return new SkeinError({
    code: codes[response.status] ?? (response.status < 500 ? "invalid" : "aborted"),
    ...doc,
    status: response.status,
    message: doc?.detail ?? doc?.message ?? doc?.title ?? `the server answered ${response.status} ${response.statusText}`.trim(),
  });
}

/** Says whether asking again is in vain until somebody changes something. @param {unknown} err */
export const final = (err) => err instanceof SkeinError && ["permission", "not-found", "invalid", "configuration"].includes(err.code);

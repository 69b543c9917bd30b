import { api, inWords, isUnreachable } from "../api/api.ts";
import type { Blob as Attached } from "../api/types.ts";
import { sha256 } from "./sha256.ts";

/** The largest file that a server takes, as long as it is not set otherwise. */
const largest = 32 << 20;

/** A file on its way to the server. */
export interface Upload {
  file: File;
  state: "going" | "waiting" | "failed";
  why: string;
}

/** Brings a file to the server, and gives what a message says of it. */
export async function upload(thread: string, file: File): Promise<Attached> {
  if (file.size > largest) throw new Error(`it is larger than ${largest >> 20} MB`);
  if (file.size === 0) throw new Error("it is empty");
  const bytes = await file.arrayBuffer();
  const hash = await sha256(bytes);
  const mediaType = file.type || "application/octet-stream";
  await api.putBlob(thread, hash, new Blob([bytes], { type: mediaType }));
  return { hash, name: file.name || "pasted", mediaType, size: file.size };
}

/** How an upload stands after it failed: what is only unreachable is tried again. */
export const afterFailure = (err: unknown): Pick<Upload, "state" | "why"> => ({ state: isUnreachable(err) ? "waiting" : "failed", why: inWords(err) });

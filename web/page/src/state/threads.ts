import { api, inWords, isUnreachable } from "../api/api.ts";
import type { Thread } from "../api/types.ts";
import { notices } from "./notices.ts";
import { Observable } from "./observable.ts";
import { read, storage, write } from "./storage.ts";

const pageSize = 100;

const kept = storage("localStorage");

/** Threads that this browser made are marked, until they have a title, by what was first said in them. */
const untitled = "skein.untitled.";

/** The first words of a text, in one line of up to 60 characters. */
export function firstWords(text: string): string {
  const line = [...text.slice(0, 1_000).replace(/\s+/g, " ").trim()];
  if (line.length <= 60) return line.join("");
  const cut = line.slice(0, 59);
  const end = cut.lastIndexOf(" ");
  return `${cut.slice(0, end > 0 ? end : 59).join("")}…`;
}

type Now = { id: string; turn: number; parked: boolean; updated: string };

/** The list of threads, the last used first. */
export class Threads extends Observable {
  items: Thread[] = [];
  /** Nothing is known before the first answer. */
  loaded = false;
  /** There are older ones that were not fetched. */
  next: string | undefined;
  trouble = "";
  #gone = new Set<string>();
  #pending = new Map<string, () => void>();
  /** What the view of the open thread says of it, which is newer than any list. */
  #open: Now | undefined;

  /** Fetches the newest again; what was fetched beyond them stays. */
  async refresh(): Promise<void> {
    try {
      const list = await api.threads({ limit: pageSize });
      const fresh = new Set(list.items.map((t) => t.id));
      const first = !this.loaded || !list.next || this.items.length <= pageSize;
      const older = first ? [] : this.items.filter((t) => !fresh.has(t.id) && t.updated <= list.items.at(-1)!.updated);
      this.items = [...list.items, ...older].filter((t) => !this.#gone.has(t.id)).map((t) => this.#now(t));
      if (first) this.next = list.next;
      this.loaded = true;
      this.trouble = "";
    } catch (err) {
      this.trouble = isUnreachable(err) ? "" : inWords(err);
    }
    this.changed();
  }

  async more(): Promise<void> {
    if (!this.next) return;
    const list = await api.threads({ limit: pageSize, cursor: this.next });
    const known = new Set(this.items.map((t) => t.id));
    this.items = [...this.items, ...list.items.filter((t) => !known.has(t.id) && !this.#gone.has(t.id))];
    this.next = list.next;
    this.changed();
  }

  /** Fetches up to so many pages more, so that a search finds old titles too. */
  async all(pages = 50): Promise<void> {
    for (let i = 0; this.next && i < pages; i++) await this.more();
  }

  find(id: string): Thread | undefined {
    return this.items.find((t) => t.id === id);
  }

  /** Has the row of the open thread say what its view says; undefined: there is none that is live. */
  follow(open: Now | undefined): void {
    this.#open = open;
    const i = this.items.findIndex((t) => t.id === open?.id);
    const was = this.items[i];
    if (!was) return;
    const now = this.#now(was);
    if (now.turn === (was.turn ?? 0) && now.parked === !!was.parked && now.updated === was.updated) return;
    this.items = this.items.with(i, now);
    this.changed();
  }

  #now(t: Thread): Thread {
    const o = this.#open;
    if (o?.id !== t.id) return t;
    return { ...t, turn: o.turn, parked: o.parked, updated: Date.parse(o.updated) > Date.parse(t.updated) ? o.updated : t.updated };
  }

  async create(): Promise<string> {
    const t = await api.create();
    write(kept, untitled + t.id, "");
    this.items = [t, ...this.items.filter((o) => o.id !== t.id)];
    this.changed();
    return t.id;
  }

  async fork(id: string, seq?: number): Promise<string> {
    const of = this.find(id)?.title ?? (await api.thread(id)).title;
    const t = await api.fork(id, seq, of && `Fork of ${of}`.slice(0, 200));
    if (!of) write(kept, untitled + t.id, "");
    await this.refresh();
    return t.id;
  }

  /** Titles a thread that this browser made by what was first said in it, unless somebody has titled it. */
  async entitle(id: string, said: string): Promise<void> {
    const mark = untitled + id;
    const was = read<string>(kept, mark);
    if (was === undefined) return;
    const title = was || firstWords(said);
    if (!title) return;
    write(kept, mark, title); // where it fails, the next message tries again
    try {
      if (!(await api.thread(id)).title) await this.rename(id, title);
      kept.removeItem(mark);
    } catch {
      // It is called by its id until then.
    }
  }

  async rename(id: string, title: string): Promise<void> {
    const was = this.find(id)?.title ?? "";
    this.#retitle(id, title);
    try {
      await api.rename(id, title);
    } catch (err) {
      this.#retitle(id, was);
      throw err;
    }
  }

  #retitle(id: string, title: string): void {
    this.items = this.items.map((t) => (t.id === id ? { ...t, title } : t));
    this.changed();
  }

  /**
   * Takes threads off the list, and deletes them at the server once the word about it,
   * which offers the way back, is over, or the page is left. `back` is called where the way
   * back was taken.
   */
  remove(ids: readonly string[], back: () => void = () => {}): void {
    const name = ids.length === 1 ? `“${titleOf(this.find(ids[0]!) ?? { id: ids[0]! })}” is deleted.` : `${ids.length} threads are deleted.`;
    for (const id of ids) this.#gone.add(id);
    this.items = this.items.filter((t) => !this.#gone.has(t.id));
    this.changed();
    for (const id of ids) this.#pending.set(id, () => this.#finish(id));
    notices.say(name, {
      label: "Undo",
      run: () => {
        for (const id of ids) this.#restore(id);
        back();
      },
      otherwise: () => ids.forEach((id) => this.#pending.get(id)?.()),
    });
  }

  #finish(id: string): void {
    if (!this.#pending.delete(id)) return;
    kept.removeItem(untitled + id);
    api.remove(id).catch((err: unknown) => {
      this.#gone.delete(id);
      notices.trouble(`“${id}” could not be deleted: ${inWords(err)}`);
      void this.refresh();
    });
  }

  #restore(id: string): void {
    this.#pending.delete(id);
    this.#gone.delete(id);
    void this.refresh();
  }

  /** Does now what waits for a word to be over; the page is left. */
  settle(): void {
    for (const finish of [...this.#pending.values()]) finish();
  }
}

/** How a thread is called: by its title, or by its id where it has none. */
export const titleOf = (t: { id: string; title?: string }): string => t.title || t.id;

export const threads = new Threads();

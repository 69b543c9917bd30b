import { api, inWords } from "../api/api.ts";
import { Observable } from "../state/observable.ts";
import { levelOf, type Span } from "./geometry.ts";
import type { Node } from "./nodes.ts";

/** A page of one message, as the server gives it. */
export interface MessagePage {
  id: number;
  seq: number;
  author?: string;
  to?: string[];
  role?: string;
  time: string;
  text: string;
  page: number;
  pages: number;
}

export interface Half {
  span: string;
  text: string;
  missing?: boolean;
}

interface Zoomed {
  span: string;
  lines?: Half[];
  message?: MessagePage;
}

/** Asks for a page of a message. */
export async function messagePage(thread: string, id: number, page: number, signal?: AbortSignal): Promise<MessagePage> {
  const z = await api.get<Zoomed>(thread, "/zoom", { id, n: 1, page }, signal);
  return z.message!;
}

/** A line opened: its own text, the two that it was made from, or the message itself. */
export class Opened extends Observable {
  span: Span | undefined;
  text: string | undefined;
  halves: Half[] = [];
  message: MessagePage | undefined;
  failed = "";
  #end = new AbortController();

  constructor(private readonly thread: string) {
    super();
  }

  close(): void {
    this.#end.abort();
  }

  /** Opens a line; undefined closes it. What is known of its text is shown meanwhile. */
  async open(s: Span | undefined, known?: Node | null, page = 1): Promise<void> {
    this.#end.abort();
    const { signal } = (this.#end = new AbortController());
    this.span = s;
    this.text = known?.text;
    this.halves = [];
    if (s?.n !== 1 || this.message?.id !== s.id) this.message = undefined;
    this.failed = "";
    this.changed();
    if (!s) return;
    try {
      const [z, own] = await Promise.all([
        api.get<Zoomed>(this.thread, "/zoom", { id: s.id, n: s.n, page }, signal),
        known || s.n === 1 ? undefined : api.get<{ items: Node[] }>(this.thread, "/nodes", { level: levelOf(s), from: s.id, count: 1 }, signal),
      ]);
      this.halves = z.lines ?? [];
      this.message = z.message;
      this.text ??= own?.items.find((n) => n.span === `${s.id}+${s.n}`)?.text;
    } catch (err) {
      if (signal.aborted) return;
      this.failed = inWords(err);
    }
    this.changed();
  }
}

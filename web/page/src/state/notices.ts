import { Observable } from "./observable.ts";

/** A word to the person at the page, for a while, with at most one thing to do about it. */
export interface Notice {
  id: number;
  text: string;
  kind: "word" | "trouble";
  /** `otherwise` is done where the word ends and `run` was not. */
  action?: { label: string; run: () => void; otherwise?: () => void };
}

/** How long one stays, in ms. */
export const shownFor = 10_000;

class Notices extends Observable {
  items: Notice[] = [];
  #count = 0;

  say(text: string, action?: Notice["action"]): void {
    this.#add({ id: ++this.#count, text, kind: "word", ...(action && { action }) });
  }

  trouble(text: string, action?: Notice["action"]): void {
    this.#add({ id: ++this.#count, text, kind: "trouble", ...(action && { action }) });
  }

  close(id: number): void {
    const n = this.items.find((n) => n.id === id);
    if (!n) return;
    this.items = this.items.filter((o) => o !== n);
    this.changed();
    n.action?.otherwise?.();
  }

  act(id: number): void {
    const n = this.items.find((n) => n.id === id);
    if (!n?.action) return;
    this.items = this.items.filter((o) => o !== n);
    this.changed();
    n.action.run();
  }

  /** Does what the newest one offers. */
  actOnNewest(): void {
    const n = this.items.findLast((n) => n.action);
    if (n) this.act(n.id);
  }

  #add(n: Notice): void {
    for (const o of this.items.filter((o) => o.text === n.text)) this.close(o.id);
    this.items = [...this.items, n];
    while (this.items.length > 4) this.close(this.items[0]!.id);
    this.changed();
  }
}

export const notices = new Notices();

import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Something that tells when it has changed. Who listens hears of it at once. */
export class Observable {
  #listeners = new Set<() => void>();

  listen(fn: () => void): () => void {
    this.#listeners.add(fn);
    return () => this.#listeners.delete(fn);
  }

  protected changed(): void {
    for (const fn of [...this.#listeners]) fn();
  }
}

/** Has an element drawn again whenever one of these changes, for as long as it is shown. */
export class Follows implements ReactiveController {
  #host: ReactiveControllerHost;
  #of: Observable[];
  #leave: (() => void)[] = [];
  #shown = false;

  constructor(host: ReactiveControllerHost, ...of: Observable[]) {
    this.#host = host;
    this.#of = of;
    host.addController(this);
  }

  /** Follows others from now on. */
  turnTo(...of: Observable[]): void {
    if (of.length === this.#of.length && of.every((o, i) => o === this.#of[i])) return;
    this.hostDisconnected();
    this.#of = of;
    if ((this.#host as unknown as Node).isConnected) this.hostConnected();
  }

  hostConnected(): void {
    if (this.#shown) return;
    this.#shown = true;
    this.#leave = this.#of.map((o) => o.listen(() => this.#host.requestUpdate()));
  }

  hostDisconnected(): void {
    this.#shown = false;
    for (const leave of this.#leave) leave();
    this.#leave = [];
  }
}

import { Observable } from "../state/observable.ts";
import { kept } from "../state/session.ts";

export type Theme = "auto" | "light" | "dark";
const order: Theme[] = ["auto", "light", "dark"];

/** Light, dark, or as the system says. */
class Themes extends Observable {
  now: Theme = "auto";

  start(): void {
    const was = kept.getItem("skein.theme");
    this.#set(order.find((t) => t === was) ?? "auto");
  }

  next(): void {
    this.#set(order[(order.indexOf(this.now) + 1) % order.length]!);
    try {
      kept.setItem("skein.theme", this.now);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  }

  #set(theme: Theme): void {
    this.now = theme;
    if (theme === "auto") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
    this.changed();
  }
}

export const themes = new Themes();

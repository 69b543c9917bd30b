import { api, SkeinError } from "../api/api.ts";
import { Observable } from "./observable.ts";

export type Scope = "read" | "write" | "approve" | "admin";

/** Who sits at the page, and what they may do. What they may not is not offered. */
class Who extends Observable {
  name = "";
  /** undefined: it is not known yet. */
  scopes: string[] | undefined;
  /** A token is needed, and none was shown. */
  stranger = false;

  may(scope: Scope): boolean {
    return this.scopes?.includes(scope) ?? false;
  }

  async ask(): Promise<void> {
    try {
      this.#is(await api.session());
    } catch (err) {
      if (!(err instanceof SkeinError && err.status === 401)) {
        setTimeout(() => void this.ask(), 2000);
        return;
      }
      // A cookie of another time may stand in the way where none is needed at all.
      await this.#again();
    }
  }

  async #again(): Promise<void> {
    try {
      await api.signOut();
      this.#is(await api.session());
    } catch {
      this.stranger = true;
      this.changed();
    }
  }

  async signIn(token: string): Promise<void> {
    this.#is(await api.signIn(token));
  }

  #is(session: { name: string; scopes: string[] }): void {
    this.name = session.name;
    this.scopes = session.scopes;
    this.stranger = false;
    this.changed();
  }
}

export const who = new Who();

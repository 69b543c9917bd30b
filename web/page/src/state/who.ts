import { api, SkeinError } from "../api/api.ts";
import { Observable } from "./observable.ts";

export type Scope = "read" | "write" | "approve" | "admin";

/** Who sits at the page, and what they may do. What they may not is not offered. */
class Who extends Observable {
  name = "";
  /** It was a token that said so. */
  token = false;
  /** undefined: it is not known yet. */
  scopes: string[] | undefined;
  /** A token is needed, and none was shown. */
  stranger = false;
  /** The token is good for some threads alone. */
  #some = false;

  may(scope: Scope): boolean {
    return this.scopes?.some((s) => s === scope || s === "admin") ?? false; // admin is all of them
  }

  /** Says whether new threads may be made: not with a token that is good for some alone. */
  get mayMake(): boolean {
    return this.may("write") && !this.#some;
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

  /** Leaves, so that another token can be shown. */
  async signOut(): Promise<void> {
    await api.signOut();
    this.scopes = undefined;
    this.stranger = true;
    this.changed();
  }

  #is(session: { name: string; scopes: string[]; threads?: string[]; token: boolean }): void {
    this.name = session.name;
    this.token = session.token;
    this.scopes = session.scopes;
    this.#some = session.threads !== undefined;
    this.stranger = false;
    this.changed();
  }
}

export const who = new Who();

import { notices } from "../state/notices.ts";

/** Copies a text, and says so. Where the page is not served securely the older way is taken. */
export async function copy(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (!copyByHand(text)) {
      notices.trouble("It could not be copied: the browser does not allow it.");
      return;
    }
  }
  notices.say(said);
}

function copyByHand(text: string): boolean {
  const field = document.createElement("textarea");
  const focused = document.activeElement as HTMLElement | null;
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}

/** Buttons in texts that copy the code they belong to. */
export function copyClicked(e: Event): void {
  const button = (e.target as Element).closest<HTMLElement>("[data-copies]");
  if (!button) return;
  const fold = button.closest("sk-fold") as (HTMLElement & { text: string }) | null;
  const text = fold ? fold.text : (button.closest(".code")?.querySelector("code")?.textContent ?? "");
  void copy(text, "The code is copied.");
}

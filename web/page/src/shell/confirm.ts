import { html, render } from "lit";

/** Asks before something is done that is not simply taken back. It gives whether it may be. */
export function confirmed(question: string, text: string, yes: string): Promise<boolean> {
  const before = document.activeElement as HTMLElement | null;
  const dialog = document.createElement("dialog");
  dialog.className = "sheet";
  dialog.setAttribute("aria-labelledby", "confirm-title");
  render(
    html`<header><h2 id="confirm-title">${question}</h2></header>
      <p>${text}</p>
      <form method="dialog" class="row"><button class="button bad" value="yes">${yes}</button><button class="button" value="no" autofocus>Leave it as it is</button></form>`,
    dialog,
  );
  (document.querySelector("main") ?? document.body).append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      before?.focus();
      resolve(dialog.returnValue === "yes");
    });
  });
}

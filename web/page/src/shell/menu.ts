import { html, nothing, render } from "lit";
import { icon } from "./icons.ts";

export interface Item {
  label: string;
  sign?: Parameters<typeof icon>[0];
  bad?: boolean;
  /** One of several, of which this is the one. */
  checked?: boolean;
  run?: () => unknown;
  href?: string;
}

/** Opens a menu under a button, with a word above it. Arrows move in it; Escape and a look elsewhere close it. */
export function openMenu(button: HTMLElement, items: Item[], said = ""): void {
  const menu = document.createElement("div");
  menu.className = "menu";
  menu.setAttribute("role", "menu");
  menu.popover = "auto";
  const close = () => menu.hidePopover();
  if (said) menu.setAttribute("aria-label", said);
  render(
    html`${said ? html`<p class="said" aria-hidden="true" dir="auto">${said}</p>` : nothing}${items.map((i) => {
      const inside = html`${i.sign ? icon(i.sign) : nothing}<bdi>${i.label}</bdi>`;
      if (i.href) return html`<a role="menuitem" href=${i.href} @click=${close}>${inside}</a>`;
      const role = i.checked === undefined ? "menuitem" : "menuitemradio";
      return html`<button role=${role} aria-checked=${i.checked === undefined ? nothing : i.checked} type="button" class=${i.bad ? "bad" : ""} @click=${() => (close(), i.run?.())}>${inside}</button>`;
    })}`,
    menu,
  );
  menu.addEventListener("toggle", (e) => {
    const open = (e as ToggleEvent).newState === "open";
    button.setAttribute("aria-expanded", String(open));
    if (open) return;
    const within = menu.contains(document.activeElement) || document.activeElement === document.body;
    menu.remove();
    if (within && button.isConnected) button.focus();
  });
  menu.addEventListener("keydown", (e) => {
    const all = [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]")];
    const i = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: i + 1, ArrowUp: i - 1, Home: 0, End: all.length - 1 }[e.key];
    e.stopPropagation();
    if (to === undefined) {
      if (e.key === "Tab") close();
      return;
    }
    e.preventDefault();
    all.at(to % all.length)?.focus();
  });
  (button.closest("main, nav") ?? document.body).append(menu);
  menu.showPopover();
  const at = button.getBoundingClientRect();
  const { offsetWidth: w, offsetHeight: h } = menu;
  const below = at.bottom + 4 + h <= innerHeight;
  menu.style.top = `${Math.max(8, below ? at.bottom + 4 : at.top - 4 - h)}px`;
  menu.style.left = `${Math.max(8, Math.min(at.right - w, innerWidth - w - 8))}px`;
  (menu.querySelector<HTMLElement>("[aria-checked=true]") ?? menu.querySelector<HTMLElement>("[role^=menuitem]"))?.focus();
}

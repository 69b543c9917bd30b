// Colours of the tokens for what is drawn on a canvas, which does not know of custom
// properties or of light-dark().

/** Gives colours by the names of their tokens, as they are now. */
export function colours<Name extends string>(host: HTMLElement, names: readonly Name[]): Record<Name, string> {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const out = {} as Record<Name, string>;
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    out[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out;
}

/** How much larger than usual the page's type is, on large screens or by the browser's settings. */
export const scale = (): number => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;

/** The type of a piece of the page, for a canvas. */
export const fontOf = (host: HTMLElement, size: number): string => `${size * scale()}px ${getComputedStyle(host).fontFamily}`;

/** Has fn called when the system changes between light and dark. It gives what ends that. */
export function onScheme(fn: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", fn);
  return () => dark.removeEventListener("change", fn);
}

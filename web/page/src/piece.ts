import { LitElement } from "lit";
import { directive, Directive, type ElementPart, type PartInfo, PartType } from "lit/directive.js";

/** An element of the page. It draws into light DOM, so that one set of style sheets serves all. */
export class Piece extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}

/** Defines an element once; a module may be evaluated again by a test. */
export function define(tag: string, type: CustomElementConstructor): void {
  if (!customElements.get(tag)) customElements.define(tag, type);
}

/**
 * Sets style properties on an element: html`<i ${styled({ "--share": "0.4" })}>`. The page's policy
 * forbids style attributes, also those that Lit's own styleMap would write.
 */
class Styled extends Directive {
  #set: string[] = [];

  constructor(info: PartInfo) {
    super(info);
    if (info.type !== PartType.ELEMENT) throw new Error("styled stands in a tag");
  }

  override render(_properties: Record<string, string>): void {}

  override update(part: ElementPart, [properties]: [Record<string, string>]): void {
    const style = (part.element as HTMLElement | SVGElement).style;
    for (const name of this.#set) if (!(name in properties)) style.removeProperty(name);
    for (const [name, value] of Object.entries(properties)) style.setProperty(name, value);
    this.#set = Object.keys(properties);
  }
}

export const styled = directive(Styled);

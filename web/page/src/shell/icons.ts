import { svg, html, type TemplateResult } from "lit";

// The page's few signs, drawn on a grid of 24. They say nothing to a screen reader:
// the button that has one has a name.

const paths = {
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  more: svg`<path d="M5 12h.01M12 12h.01M19 12h.01" stroke-width="2.6"/>`,
  back: svg`<path d="M15 5l-7 7 7 7"/>`,
  close: svg`<path d="M6 6l12 12M18 6L6 18"/>`,
  send: svg`<path d="M12 19V5M6 11l6-6 6 6"/>`,
  stop: svg`<rect x="7" y="7" width="10" height="10" rx="1.5" fill="currentColor"/>`,
  attach: svg`<path d="M20 11.5l-7.8 7.8a5 5 0 0 1-7.1-7.1l8.2-8.2a3.3 3.3 0 0 1 4.7 4.7l-8.2 8.2a1.7 1.7 0 0 1-2.4-2.4l7.2-7.2"/>`,
  copy: svg`<rect x="8" y="8" width="12" height="12" rx="2"/><path d="M16 8V6a2 2 0 0 0-2-2H6a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h2"/>`,
  link: svg`<path d="M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1"/>`,
  edit: svg`<path d="M4 20l1-4L16 5l3 3L8 19l-4 1z"/>`,
  fork: svg`<circle cx="7" cy="5.5" r="2"/><circle cx="17" cy="5.5" r="2"/><circle cx="7" cy="18.5" r="2"/><path d="M7 7.5v9M17 7.5c0 4-3 4.5-6 5.2-2.4.6-4 1.5-4 3.8"/>`,
  again: svg`<path d="M19 12a7 7 0 1 1-2.2-5.1M19 4v4.5h-4.5"/>`,
  trash: svg`<path d="M5 7h14M10 7V5h4v2M7 7l1 12h8l1-12"/>`,
  keys: svg`<rect x="3" y="6" width="18" height="12" rx="2"/><path d="M7 10h.01M11 10h.01M15 10h.01M8 14h8"/>`,
  light: svg`<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6l1.4 1.4M17 17l1.4 1.4M5.6 18.4L7 17M17 7l1.4-1.4"/>`,
  dark: svg`<path d="M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z"/>`,
  auto: svg`<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>`,
  down: svg`<path d="M12 5v14M6 13l6 6 6-6"/>`,
  save: svg`<path d="M12 4v11M7 10.5l5 5 5-5M5 20h14"/>`,
  agent: svg`<circle cx="12" cy="8" r="3.5"/><path d="M5 20c.6-4 3.2-6 7-6s6.4 2 7 6"/>`,
  file: svg`<path d="M7 3h7l5 5v13H7zM14 3v5h5"/>`,
};

export const icon = (name: keyof typeof paths): TemplateResult =>
  html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths[name]}</svg>`;

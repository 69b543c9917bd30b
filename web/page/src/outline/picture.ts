import { colours, fontOf, scale } from "../shell/colours.ts";
import { draw, heightOf, type InPrompt, type Inks, inks, type Picture } from "./draw.ts";
import { clamped, type Frame, levels, lineAt, panned, runs, type Span, whole, zoomed } from "./geometry.ts";
import type { Nodes } from "./nodes.ts";

const calm = 220;

/** How far the pointer may move in a click. */
const still = 5;

export interface Told {
  hover: (s: Span | undefined, x: number, y: number) => void;
  choose: (s: Span) => void;
  moved: () => void;
}

/** The canvas with the icicle: what it shows, how that moves, and what is pointed at. */
export class IciclePicture {
  frame: Frame = { length: 0, from: 0, to: 1, width: 0, row: 24 };
  prompt: InPrompt = { lines: new Map(), whole: Infinity };
  hits: readonly number[] = [];
  focus: Span | undefined;
  #hover: Span | undefined;
  #ctx: CanvasRenderingContext2D;
  #ink: Inks | undefined;
  #due = 0;
  #wish: ReturnType<typeof setTimeout> | undefined;
  #pointers = new Map<number, { x: number; y: number }>();
  #travelled = 0;
  #flight = 0;
  #watch: ResizeObserver;

  constructor(
    private readonly host: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly nodes: Nodes,
    private readonly told: Told,
  ) {
    this.#ctx = canvas.getContext("2d")!;
    this.#watch = new ResizeObserver(() => this.#measure());
    this.#watch.observe(host);
    canvas.addEventListener("wheel", this.#wheel, { passive: false });
    canvas.addEventListener("pointerdown", this.#down);
    canvas.addEventListener("pointermove", this.#move);
    canvas.addEventListener("pointerup", this.#up);
    canvas.addEventListener("pointercancel", this.#up);
    canvas.addEventListener("pointerleave", () => this.#pointAt(undefined, 0, 0));
  }

  close(): void {
    this.#watch.disconnect();
    cancelAnimationFrame(this.#due);
    cancelAnimationFrame(this.#flight);
    clearTimeout(this.#wish);
  }

  /** Takes another length; who looked at all of it, or at its end, goes on doing so. */
  lengthen(length: number): void {
    const f = this.frame;
    if (length === f.length) return;
    const all = f.length === 0 || (f.from === 0 && f.to >= f.length);
    this.frame = all ? whole({ ...f, length }) : clamped({ ...f, length });
    this.#measure();
  }

  /** Moves to a frame, in a moment where motion is welcome. */
  fly(to: Frame): void {
    cancelAnimationFrame(this.#flight);
    const from = this.frame;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.#set(to);
    const begun = performance.now();
    const step = (now: number) => {
      const t = Math.min(1, (now - begun) / calm);
      const eased = 1 - (1 - t) ** 3;
      // Widths change by the same factor in the same time, so that a long way looks even.
      const wide = (from.to - from.from) * ((to.to - to.from) / (from.to - from.from)) ** eased;
      const turn = to.to - to.from === from.to - from.from ? eased : (from.to - from.from - wide) / (from.to - from.from - (to.to - to.from));
      const at = from.from + (to.from - from.from) * turn;
      this.#set(t === 1 ? { ...to, width: this.frame.width, row: this.frame.row } : { ...this.frame, from: at, to: at + wide });
      if (t < 1) this.#flight = requestAnimationFrame(step);
    };
    this.#flight = requestAnimationFrame(step);
  }

  recolour(): void {
    this.#ink = undefined;
    this.redraw();
  }

  redraw(): void {
    cancelAnimationFrame(this.#due);
    this.#due = requestAnimationFrame(() => this.#draw());
  }

  #set(f: Frame): void {
    this.frame = f;
    this.redraw();
    this.told.moved();
  }

  #stop(f: Frame): void {
    cancelAnimationFrame(this.#flight);
    this.#set(f);
  }

  #measure(): void {
    const width = this.host.clientWidth;
    if (!width || !this.frame.length) return;
    const room = Math.min(520 * scale(), Math.max(240, innerHeight * 0.54));
    const row = Math.max(15 * scale(), Math.min(30 * scale(), Math.floor(room / levels(this.frame.length))));
    this.frame = clamped({ ...this.frame, width, row });
    const px = devicePixelRatio;
    const high = heightOf(this.frame);
    this.canvas.width = Math.round(width * px);
    this.canvas.height = Math.round(high * px);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${high}px`;
    this.#draw();
    this.told.moved();
  }

  #draw(): void {
    const f = this.frame;
    if (!f.width || !f.length) return;
    this.#ink ??= colours(this.host, inks);
    this.#ctx.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const p: Picture = { frame: f, line: (s) => this.nodes.get(s), prompt: this.prompt, hits: this.hits, hover: this.#hover, focus: this.focus };
    draw(this.#ctx, p, this.#ink, fontOf(this.host, f.row < 20 * scale() ? 10.5 : 12));
    // What passes by is not fetched: only what the picture comes to rest on.
    clearTimeout(this.#wish);
    this.#wish = setTimeout(() => this.nodes.want(runs(this.frame), f.length), 70);
  }

  #wheel = (e: WheelEvent): void => {
    e.preventDefault();
    const scale = e.deltaMode === 1 ? 16 : e.deltaMode === 2 ? 120 : 1;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY) || e.shiftKey) return this.#stop(panned(this.frame, (e.deltaX || e.deltaY) * scale));
    this.#stop(zoomed(this.frame, e.offsetX, Math.exp(-e.deltaY * scale * (e.ctrlKey ? 0.01 : 0.0022))));
  };

  #down = (e: PointerEvent): void => {
    this.canvas.setPointerCapture(e.pointerId);
    this.#pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
    if (this.#pointers.size === 1) this.#travelled = 0;
  };

  #move = (e: PointerEvent): void => {
    const was = this.#pointers.get(e.pointerId);
    if (!was) return this.#pointAt(lineAt(this.frame, e.offsetX, e.offsetY), e.offsetX, e.offsetY);
    const now = { x: e.offsetX, y: e.offsetY };
    this.#travelled += Math.abs(now.x - was.x) + Math.abs(now.y - was.y);
    const other = [...this.#pointers].find(([id]) => id !== e.pointerId)?.[1];
    this.#pointers.set(e.pointerId, now);
    if (this.#travelled <= still) return;
    this.#pointAt(undefined, 0, 0);
    if (!other) return this.#stop(panned(this.frame, was.x - now.x));
    const [before, after] = [Math.abs(was.x - other.x), Math.abs(now.x - other.x)];
    const middle = (now.x + other.x) / 2;
    this.#stop(panned(zoomed(this.frame, middle, Math.max(8, after) / Math.max(8, before)), (was.x - now.x) / 2));
  };

  #up = (e: PointerEvent): void => {
    const alone = this.#pointers.size === 1;
    if (!this.#pointers.delete(e.pointerId) || e.type === "pointercancel") return;
    const s = alone && this.#travelled <= still ? lineAt(this.frame, e.offsetX, e.offsetY) : undefined;
    if (s) this.told.choose(s);
  };

  #pointAt(s: Span | undefined, x: number, y: number): void {
    if (s?.id !== this.#hover?.id || s?.n !== this.#hover?.n) {
      this.#hover = s;
      this.redraw();
    }
    this.told.hover(s, x, y);
  }
}

import { colours, fontOf, scale } from "../shell/colours.ts";
import { type Column, columns, type CutsMade, cuts, type Made } from "./ledger.ts";
import { dragged, pixel, placeAt, type Room, short, ticks } from "./scale.ts";

// The ledger on a canvas: a column for each request, or for a few of them where they
// are many; a tick above it for each cut; a line for what they cost. It is drawn here,
// since a library for charts would be a sixth of all that the page may weigh.

const names = ["p-read", "p-write", "p-new", "ink", "ink-2", "line", "warn", "accent-soft"] as const;

/** Pixels of a column, with its gap. */
const least = 4;

/** The room around the columns, at the usual size of type. */
const usual = { top: 18, bottom: 22, left: 42, right: 8, costs: 54 };

const margins = (by: number): typeof usual => ({ top: usual.top * by, bottom: usual.bottom * by, left: usual.left * by, right: usual.right * by, costs: usual.costs * by });

export interface Told {
  hover: (place: number | undefined) => void;
  choose: (place: number) => void;
  /** Only a part is shown, or all is again. */
  ranged: (part: boolean) => void;
}

export class Chart {
  #ctx: CanvasRenderingContext2D;
  #all: readonly Made[] = [];
  #cuts: CutsMade[] = [];
  #columns: Column[] = [];
  #room: Room = { from: 0, to: 0, left: 0, right: 0 };
  #chosen: number | undefined;
  #hover: number | undefined;
  /** Places shown, [from, to); undefined: all of them. */
  #range: [number, number] | undefined;
  /** Where a drag began, and where it is. */
  #drag: [number, number] | undefined;
  #ink: Record<(typeof names)[number], string> | undefined;
  #watch: ResizeObserver;
  #margin = usual;
  #due = 0;

  constructor(
    readonly host: HTMLElement,
    private readonly told: Told,
  ) {
    const canvas = document.createElement("canvas");
    host.replaceChildren(canvas);
    this.#ctx = canvas.getContext("2d")!;
    this.#watch = new ResizeObserver(() => this.#soon());
    this.#watch.observe(host);
    canvas.addEventListener("pointerdown", (e) => this.#down(e));
    canvas.addEventListener("pointermove", (e) => this.#move(e));
    canvas.addEventListener("pointerup", (e) => this.#up(e));
    canvas.addEventListener("pointercancel", () => this.#leave());
    canvas.addEventListener("pointerleave", () => this.#leave());
  }

  close(): void {
    this.#watch.disconnect();
    cancelAnimationFrame(this.#due);
  }

  /** Shows the requests with the cuts among them; newest is the number of the thread's newest cut. */
  show(all: readonly Made[], chosen: number | undefined, newest: number): void {
    this.#cuts = cuts(all, newest);
    this.#all = all;
    this.#chosen = chosen;
    this.#soon();
  }

  /** Shows all again. */
  whole(): void {
    this.#range = undefined;
    this.told.ranged(false);
    this.#soon();
  }

  /** Draws anew with the colours as they are now. */
  recolour(): void {
    this.#ink = undefined;
    this.#soon();
  }

  #soon(): void {
    cancelAnimationFrame(this.#due);
    this.#due = requestAnimationFrame(() => this.#draw());
  }

  #down(e: PointerEvent): void {
    if (e.pointerType === "mouse" && e.button !== 0) return;
    this.#drag = [e.offsetX, e.offsetX];
  }

  #move(e: PointerEvent): void {
    if (this.#drag && e.pointerType === "mouse") this.#drag[1] = e.offsetX;
    this.#point(placeAt(this.#room, e.offsetX));
  }

  #up(e: PointerEvent): void {
    const drag = this.#drag;
    this.#drag = undefined;
    if (!drag) return;
    const range = e.pointerType === "mouse" ? dragged(this.#room, drag[0], e.offsetX) : undefined;
    const place = placeAt(this.#room, e.offsetX);
    if (range) {
      this.#range = range;
      this.told.ranged(true);
    } else if (place !== undefined) this.told.choose(place);
    this.#soon();
  }

  #leave(): void {
    this.#drag = undefined;
    this.#point(undefined);
  }

  #point(place: number | undefined): void {
    if (place !== this.#hover) this.told.hover(place);
    this.#hover = place;
    this.#soon();
  }

  #draw(): void {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (!width || !height || !this.#all.length) return;
    const ctx = this.#ctx;
    const px = devicePixelRatio;
    const { canvas } = ctx;
    if (canvas.width !== Math.round(width * px) || canvas.height !== Math.round(height * px)) {
      [canvas.width, canvas.height] = [Math.round(width * px), Math.round(height * px)];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    this.#ink ??= colours(this.host, names);
    ctx.setTransform(px, 0, 0, px, 0, 0);
    ctx.clearRect(0, 0, width, height);
    ctx.font = fontOf(this.host, 11.5);
    this.#margin = margins(scale());
    const [from, to] = [this.#range?.[0] ?? 0, Math.min(this.#all.length, this.#range?.[1] ?? Infinity)];
    const dear = this.#all.some((m) => m.usage?.cost);
    this.#room = { from, to, left: this.#margin.left, right: width - (dear ? this.#margin.costs : this.#margin.right) };
    this.#columns = columns(this.#all, from, to, Math.floor((this.#room.right - this.#room.left) / least));
    const bottom = height - this.#margin.bottom;
    this.#tokens(bottom);
    if (dear) this.#costs(bottom, width);
    this.#marks(bottom);
    this.#numbers(bottom);
  }

  /** The columns, and the axis of tokens. */
  #tokens(bottom: number): void {
    const [ctx, ink, room] = [this.#ctx, this.#ink!, this.#room];
    const high = bottom - this.#margin.top;
    const most = Math.max(1, ...this.#columns.map((c) => c.read + c.written + c.fresh)) * 1.04;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    for (const t of ticks(most, high / 45)) {
      const y = Math.round(bottom - (t / most) * high) + 0.5;
      ctx.fillStyle = ink.line;
      ctx.fillRect(room.left, y, room.right - room.left, 1);
      ctx.fillStyle = ink["ink-2"];
      ctx.fillText(short(t), room.left - 6, y);
    }
    for (const c of this.#columns) {
      const x = pixel(room, c.first);
      const full = pixel(room, c.last + 1) - x;
      const wide = Math.max(1, Math.min(40, full * 0.8));
      let y = bottom;
      for (const [n, colour] of [[c.read, ink["p-read"]], [c.written, ink["p-write"]], [c.fresh, ink["p-new"]]] as const) {
        const tall = (n / most) * high;
        ctx.fillStyle = colour;
        ctx.fillRect(x + (full - wide) / 2, y - tall, wide, tall);
        y -= tall;
      }
    }
  }

  /** The line of costs, and its axis. */
  #costs(bottom: number, width: number): void {
    const [ctx, ink, room] = [this.#ctx, this.#ink!, this.#room];
    const high = bottom - this.#margin.top;
    const most = (Math.max(...this.#columns.map((c) => c.cost)) || 1) * 1.04;
    ctx.fillStyle = ink["ink-2"];
    ctx.textAlign = "left";
    for (const t of ticks(most, high / 45)) ctx.fillText(`$${t}`, width - this.#margin.costs + 6, bottom - (t / most) * high);
    ctx.strokeStyle = ink.ink;
    ctx.lineWidth = 1.25;
    ctx.lineJoin = "round";
    ctx.beginPath();
    for (const c of this.#columns) ctx.lineTo(pixel(room, (c.first + c.last + 1) / 2), bottom - (c.cost / most) * high);
    ctx.stroke();
  }

  /** The ticks of cuts, the request that is shown, the one that is pointed at, what is dragged over. */
  #marks(bottom: number): void {
    const [ctx, ink, room] = [this.#ctx, this.#ink!, this.#room];
    ctx.fillStyle = ink.warn;
    for (const c of this.#cuts) {
      if (c.at < room.from || (c.at >= room.to && c.at !== this.#all.length)) continue;
      const x = Math.round(pixel(room, c.at));
      ctx.beginPath();
      ctx.moveTo(x - 4, this.#margin.top - 11);
      ctx.lineTo(x + 4, this.#margin.top - 11);
      ctx.lineTo(x, this.#margin.top - 4);
      ctx.fill();
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x - 0.5, this.#margin.top - 4, 1, bottom - this.#margin.top + 4);
      ctx.globalAlpha = 1;
    }
    const around = (place: number, thick: number) => {
      const x = pixel(room, place);
      const wide = Math.max(5, pixel(room, place + 1) - x);
      ctx.lineWidth = thick;
      ctx.strokeStyle = ink.ink;
      ctx.strokeRect(x - (wide - (pixel(room, place + 1) - x)) / 2, this.#margin.top - 2, wide, bottom - this.#margin.top + 3);
    };
    if (this.#hover !== undefined && !this.#drag) around(this.#hover, 1);
    if (this.#chosen !== undefined && this.#chosen >= room.from && this.#chosen < room.to) around(this.#chosen, 2);
    if (this.#drag && Math.abs(this.#drag[0] - this.#drag[1]) > 5) {
      ctx.globalAlpha = 0.25;
      ctx.fillStyle = ink.ink;
      ctx.fillRect(Math.min(...this.#drag), this.#margin.top, Math.abs(this.#drag[1] - this.#drag[0]), bottom - this.#margin.top);
      ctx.globalAlpha = 1;
    }
  }

  /** The numbers of requests below the columns. */
  #numbers(bottom: number): void {
    const [ctx, ink, room] = [this.#ctx, this.#ink!, this.#room];
    ctx.fillStyle = ink["ink-2"];
    ctx.textBaseline = "top";
    const shown = room.to - room.from;
    const step = Math.max(1, ticks(shown, (room.right - room.left) / 90)[1] ?? 1);
    for (let i = room.from; i < room.to; i++) {
      const number = this.#all[i]!.request.number;
      if (i !== room.from && number % step) continue;
      const x = pixel(room, i + 0.5);
      if (i !== room.from && x - room.left < 30) continue;
      ctx.textAlign = i === room.from ? "left" : x > room.right - 20 ? "right" : "center";
      ctx.fillText(String(number), i === room.from ? room.left : x, bottom + 6);
    }
  }
}

// When to try again: sooner at first, later and later, never all clients at once.

/** The times of a link, in milliseconds. */
export const pace = {
  min: 250, // before the first attempt
  max: 15_000,
  health: 60_000, // a link that was up this long begins anew
  ping: 20_000, // between two looks at whether a link is alive
  patience: 10_000, // for the answer
  snapshot: 60_000, // for a snapshot on a slow line, over WebSocket; doubled each time it was too short
};

/** Counts the attempts of one link. */
export class Retry {
  /** @param {typeof pace} times */
  constructor(times) {
    this.times = times;
    this.failures = 0;
    this.since = Infinity;
  }

  /** The link is up. */
  up() {
    this.since = Date.now();
  }

  /** The link is down: how long to wait, half of it by chance. */
  down() {
    if (Date.now() - this.since >= this.times.health) this.failures = 0;
    this.since = Infinity;
    const most = Math.min(this.times.max, this.times.min * 2 ** Math.min(this.failures++, 16));
    return most / 2 + (most / 2) * Math.random();
  }
}

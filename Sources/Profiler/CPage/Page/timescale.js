/** The shortest time that a view can show, in nanoseconds. */
const SHORTEST = 1000;

/** The time that is in sight, and where each moment of it is on a canvas. */
export class TimeScale {
  /** The pixels that show the view: those right of the labels. */
  left = 0;
  width = 1;

  /** @param span The whole time of the trace: `from` and `to`, in nanoseconds. */
  constructor(span) {
    this.span = span;
    this.view = { ...span };
  }

  get length() { return this.view.to - this.view.from; }

  get nanosecondsPerPixel() { return this.length / this.width; }

  x(time) { return this.left + (time - this.view.from) / this.nanosecondsPerPixel; }

  time(x) { return this.view.from + (x - this.left) * this.nanosecondsPerPixel; }

  /** Makes a time the view, as far as the trace has it. */
  show(from, to) {
    const { span } = this;
    const length = Math.min(Math.max(to - from, SHORTEST), span.to - span.from);
    const start = Math.min(Math.max(from, span.from), span.to - length);
    this.view = { from: start, to: start + length };
  }

  /** Makes `factor` times as much the view; the time at `x` stays where it is. */
  zoom(factor, x) {
    const time = this.time(x);
    const length = Math.max(SHORTEST, this.length * factor);
    const share = (time - this.view.from) / this.length;
    this.show(time - share * length, time + (1 - share) * length);
  }

  /** Moves the view by a share of its length. */
  pan(share) { this.show(this.view.from + share * this.length, this.view.to + share * this.length); }

  /** Shows a time with a margin on either side. A single moment is shown with a tenth of the current view around it. */
  reveal(from, to) {
    const margin = to > from ? Math.max((to - from) * 0.1, SHORTEST / 2) : this.length / 20;
    this.show(from - margin, to + margin);
  }
}

import { styleColour } from "./colours.js";
import { element, followPointer, prepareCanvas } from "./elements.js";
import { formatDuration } from "./format.js";
import { omittedBetween, omittedOf } from "./lanes.js";

/** The whole trace in one strip, with the part of it that is in sight. Dragging the strip moves that part. */
export class Minimap {
  #sums = null;

  /** @param timeline The timeline, whose tracks the strip sums. @param show Called with a time to show. */
  constructor(timeline, show) {
    Object.assign(this, { timeline, show });
    this.canvas = element("canvas", {
      class: "minimap", tabindex: "0", role: "slider", "aria-label": `${timeline.lead}Time in sight, of the whole trace`,
      "aria-valuemin": "0", "aria-valuemax": "100", pointerdown: (event) => this.#startDrag(event),
    });
  }

  draw() {
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width, height } = prepared;
    const { scale, range } = this.timeline;
    const { span, view, left } = scale;
    const length = span.to - span.from;
    const wide = Math.max(1, width - left);
    const x = (time) => left + ((time - span.from) / length) * wide;
    this.#sums ??= this.#sumUp(Math.max(1, Math.floor(wide / 2)));
    const bins = this.#sums;
    context.fillStyle = styleColour("--map");
    bins.forEach((share, bin) => {
      const tall = share * (height - 4);
      if (tall > 0) context.fillRect(left + (bin / bins.length) * wide, height - Math.max(1, tall), wide / bins.length, Math.max(1, tall));
    });
    const [x0, x1] = [x(view.from), x(view.to)];
    context.fillStyle = styleColour("--shade");
    context.fillRect(left, 0, x0 - left, height);
    context.fillRect(x1, 0, width - x1, height);
    context.fillStyle = styleColour("--accent");
    if (range) context.fillRect(x(range.from), height - 4, Math.max(2, x(range.to) - x(range.from)), 4);
    context.strokeStyle = styleColour("--accent");
    context.lineWidth = 2;
    context.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), height - 2);
    this.canvas.setAttribute("aria-valuenow", Math.round(((view.from - span.from) / length) * 100));
    this.canvas.setAttribute("aria-valuetext", `${formatDuration(view.from - span.from)} to ${formatDuration(view.to - span.from)}`);
  }

  /** The share of each part of the trace that work of the store fills. */
  #sumUp(count) {
    const bins = new Float64Array(count);
    const { scale: { span }, processes, trace, painter } = this.timeline;
    const length = (span.to - span.from) / count;
    const tracks = processes.flatMap(({ tracks }) => tracks).filter(({ style }) => style === "slices");
    for (const { starts, ends } of tracks.flatMap(({ whole }) => whole.levels)) {
      for (let index = 0; index < starts.length; index += 1) {
        const first = Math.max(0, Math.floor((starts[index] - span.from) / length));
        const last = Math.min(count - 1, Math.floor((ends[index] - span.from) / length));
        for (let bin = first; bin <= last; bin += 1) {
          const edge = span.from + bin * length;
          bins[bin] += Math.min(ends[index], edge + length) - Math.max(starts[index], edge);
        }
      }
    }
    const omitted = tracks.flatMap((track) => omittedOf(trace, painter.omitted, track, track.whole));
    return bins.map((time, bin) => {
      const from = span.from + bin * length;
      return Math.min(1, (time + omittedBetween(omitted, from, from + length)) / length);
    });
  }

  #startDrag(event) {
    const { span, view, length, left } = this.timeline.scale;
    const time = (x) => span.from + ((x - left) / (this.canvas.clientWidth - left)) * (span.to - span.from);
    const pressed = time(event.offsetX);
    const isInside = pressed >= view.from && pressed <= view.to;
    const grip = isInside ? pressed - view.from : length / 2;
    const move = ({ offsetX }) => this.show(time(offsetX) - grip, time(offsetX) - grip + length);
    followPointer(this.canvas, event, move);
    move(event);
  }
}

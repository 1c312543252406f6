import { styleColour } from "./colours.js";
import { element, followPointer, prepareCanvas } from "./elements.js";
import { formatDuration } from "./format.js";

/** The whole trace in one strip, with the part of it that is in sight. Dragging the strip moves that part. */
export class Minimap {
  #sums = null;

  /** @param scale The time in sight. @param processes The tracks, from `layOut`. @param show Called with a time to show. */
  constructor(scale, processes, show) {
    Object.assign(this, { scale, processes, show });
    this.canvas = element("canvas", {
      class: "minimap", tabindex: "0", role: "slider", "aria-label": "Time in sight, of the whole trace",
      "aria-valuemin": "0", "aria-valuemax": "100", pointerdown: (event) => this.#startDrag(event),
    });
  }

  draw() {
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width, height } = prepared;
    const { span, view } = this.scale;
    this.#sums ??= this.#sumUp(Math.max(1, Math.floor(width / 2)));
    const [bins, length] = [this.#sums, span.to - span.from];
    context.fillStyle = styleColour("--map");
    bins.forEach((share, bin) => {
      const tall = share * (height - 4);
      if (tall > 0) context.fillRect((bin / bins.length) * width, height - Math.max(1, tall), width / bins.length, Math.max(1, tall));
    });
    const x0 = ((view.from - span.from) / length) * width;
    const x1 = ((view.to - span.from) / length) * width;
    context.fillStyle = styleColour("--shade");
    context.fillRect(0, 0, x0, height);
    context.fillRect(x1, 0, width - x1, height);
    context.strokeStyle = styleColour("--accent");
    context.lineWidth = 2;
    context.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), height - 2);
    this.canvas.setAttribute("aria-valuenow", Math.round(((view.from - span.from) / length) * 100));
    this.canvas.setAttribute("aria-valuetext", `${formatDuration(view.from - span.from)} to ${formatDuration(view.to - span.from)}`);
  }

  /** The share of each part of the trace that work of the store fills. */
  #sumUp(count) {
    const bins = new Float64Array(count);
    const { span } = this.scale;
    const length = (span.to - span.from) / count;
    const lanes = this.processes.flatMap(({ tracks }) => tracks).filter(({ style }) => style === "slices").map(({ whole }) => whole);
    for (const { starts, ends } of lanes.flatMap(({ levels }) => levels)) {
      for (let index = 0; index < starts.length; index += 1) {
        const first = Math.max(0, Math.floor((starts[index] - span.from) / length));
        const last = Math.min(count - 1, Math.floor((ends[index] - span.from) / length));
        for (let bin = first; bin <= last; bin += 1) {
          const edge = span.from + bin * length;
          bins[bin] += Math.min(ends[index], edge + length) - Math.max(starts[index], edge);
        }
      }
    }
    return bins.map((time) => Math.min(1, time / length));
  }

  #startDrag(event) {
    const { span, view, length } = this.scale;
    const time = (x) => span.from + (x / this.canvas.clientWidth) * (span.to - span.from);
    const pressed = time(event.offsetX);
    const isInside = pressed >= view.from && pressed <= view.to;
    const grip = isInside ? pressed - view.from : length / 2;
    const move = ({ offsetX }) => this.show(time(offsetX) - grip, time(offsetX) - grip + length);
    followPointer(this.canvas, event, move);
    move(event);
  }
}

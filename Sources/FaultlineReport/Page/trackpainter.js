import { eventColours, kindColours, styleColour } from "./colours.js";
import { lowerBound, omittedSums } from "./lanes.js";

export const LEVEL_HEIGHT = 18;
export const LANE_GAP = 4;
export const GRAPH_HEIGHT = 34;
/** The width of the smallest interval that is drawn, in pixels. */
export const BIN = 2;
/** How strongly an event outside the selection is drawn. */
const FAINT = 0.18;

/**
 * Draws the events of a lane, in the time of its pixels: events that are too short to be seen are summed by interval.
 *
 * `marked` has for each row whether it is in the selection, or is `null` if all are.
 */
export class TrackPainter {
  selected = -1;
  marked = null;

  constructor(trace, scale) {
    Object.assign(this, { trace, scale });
    this.omitted = omittedSums(trace);
  }

  /** Draws a lane that has its place, with its top at `y`. */
  draw(context, placed, y) {
    switch (placed.track.style) {
      case "level": return this.#drawLevel(context, placed, y);
      case "load": return this.#drawLoad(context, placed, y);
      default:
        this.#drawOmitted(context, placed, y);
        placed.lane.levels.forEach((level, index) => this.#drawSlices(context, placed, level, y + index * LEVEL_HEIGHT));
    }
  }

  /** Draws the events of one level: each one that is wide enough, and the share of time that the others fill. */
  #drawSlices(context, placed, level, y) {
    const { rows, starts, ends, reaches, sums } = level;
    const { scale } = this;
    const { nanosecondsPerPixel } = scale;
    const isInstant = placed.track.style === "instants";
    // Scopes stay visible, whatever is selected within them.
    const isBand = placed.track.style === "bands";
    const height = LEVEL_HEIGHT - 2;
    let index = lowerBound(reaches, scale.view.from);
    while (index < rows.length && starts[index] < scale.view.to) {
      const row = rows[index];
      const x = scale.x(starts[index]);
      const wide = (ends[index] - starts[index]) / nanosecondsPerPixel;
      if (wide >= BIN * 2 && !isInstant) {
        const [left, right] = [Math.max(x, scale.left - 4), Math.min(x + wide, scale.left + scale.width + 4)];
        this.#drawSlice(context, row, isBand, left, y, right, height);
        index += 1;
        continue;
      }
      const next = Math.max(index + 1, lowerBound(starts, scale.time(x + BIN), index));
      const share = isInstant ? 1 : Math.min(1, (sums[next] - sums[index]) / (BIN * nanosecondsPerPixel));
      context.globalAlpha = isBand || this.#isMarked(rows, index, next) ? 1 : FAINT;
      context.fillStyle = eventColours(this.trace, row)[0];
      const tall = Math.max(3, height * (0.35 + 0.65 * share));
      context.fillRect(x, y + height - tall, BIN - 0.25, tall);
      index = next;
    }
    context.globalAlpha = 1;
  }

  #drawSlice(context, row, isBand, x, y, end, height) {
    const [fill, ink] = eventColours(this.trace, row);
    const wide = Math.max(1, end - x - 1);
    context.globalAlpha = isBand || this.marked === null || this.marked[row] ? 1 : FAINT;
    context.fillStyle = fill;
    context.fillRect(x, y, wide, height);
    if (row === this.selected) {
      context.lineWidth = 2;
      context.strokeStyle = styleColour("--ink");
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), height - 2);
    }
    const start = Math.max(x, this.scale.left);
    if (end - start > 40) {
      context.save();
      context.beginPath();
      context.rect(start, y, end - start - 4, height);
      context.clip();
      context.fillStyle = ink;
      context.fillText(this.trace.labelText(row), start + 4, y + height / 2 + 0.5);
      context.restore();
    }
  }

  #isMarked(rows, first, end) {
    if (this.marked === null) return true;
    // Among many events, the first few decide: the bin is two pixels wide.
    const last = Math.min(end, first + 64);
    for (let index = first; index < last; index += 1) if (this.marked[rows[index]]) return true;
    return false;
  }

  /** Draws the share of a sampled weight in each interval, as a graph. */
  #drawLoad(context, placed, y) {
    const { left, width, view, nanosecondsPerPixel } = this.scale;
    const [kind] = placed.track.kinds;
    const step = BIN * 2;
    const time = nanosecondsPerPixel * step;
    const shares = [];
    let most = kind === "cpu" ? time : 1;
    for (let x = 0; x < width; x += step) {
      const from = view.from + (x / step) * time;
      let sum = 0;
      for (const { starts, sums } of placed.lane.levels) {
        sum += sums[lowerBound(starts, from + time)] - sums[lowerBound(starts, from)];
      }
      shares.push(sum);
      most = Math.max(most, sum);
    }
    context.fillStyle = kindColours(kind)[0];
    shares.forEach((sum, index) => {
      const tall = (sum / most) * (GRAPH_HEIGHT - 4);
      if (tall > 0) context.fillRect(left + index * step, y + GRAPH_HEIGHT - Math.max(1, tall), step - 0.5, Math.max(1, tall));
    });
  }

  /** Draws the memory of the process as a line. */
  #drawLevel(context, placed, y) {
    const { scale } = this;
    const [{ rows, starts }] = placed.lane.levels;
    const column = this.trace.columns["memory.resident"];
    let most = 1;
    for (const size of column) most = Math.max(most, size);
    context.strokeStyle = kindColours("memory")[0];
    context.lineWidth = 1.5;
    context.beginPath();
    // One sample for each pixel in sight, and one on either side.
    const first = Math.max(0, lowerBound(starts, scale.view.from) - 1);
    let last = -Infinity;
    for (let index = first; index < rows.length; index += 1) {
      const x = scale.x(starts[index]);
      if (x - last < 1 && index < rows.length - 1) continue;
      const top = y + GRAPH_HEIGHT - (column[this.trace.places[rows[index]]] / most) * (GRAPH_HEIGHT - 6);
      if (last === -Infinity) context.moveTo(x, top); else context.lineTo(x, top);
      last = x;
      if (starts[index] > scale.view.to) break;
    }
    context.stroke();
  }

  /** Draws the events that the page does not have one by one, as the share of time that they fill. */
  #drawOmitted(context, placed, y) {
    const { scale, trace } = this;
    const { lane } = placed;
    for (const { thread, kind, times } of this.omitted) {
      const isOfLane = lane.thread >= 0 ? lane.thread === thread : trace.head.threads[thread].process === lane.process;
      if (!isOfLane || !placed.track.kinds.includes(kind)) continue;
      const length = (scale.span.to - scale.span.from) / times.length;
      context.fillStyle = kindColours(kind)[0];
      context.globalAlpha = 0.3;
      times.forEach((time, bin) => {
        const from = scale.span.from + bin * length;
        if (time === 0 || from + length < scale.view.from || from > scale.view.to) return;
        const [x, end] = [scale.x(from), scale.x(from + length)];
        const tall = Math.min(1, time / length) * (LEVEL_HEIGHT - 2);
        context.fillRect(x, y + LEVEL_HEIGHT - 2 - tall, Math.max(1, end - x), Math.max(1, tall));
      });
      context.globalAlpha = 1;
    }
  }
}

import { eventColours, kindColours } from "./colours.js";
import { BIN, FAINT, GraphPainter } from "./graphpainter.js";
import { lowerBound, omittedOf, omittedSums } from "./lanes.js";

export const LEVEL_HEIGHT = 18;
export const LANE_GAP = 4;

/**
 * Draws the events of a lane, in the time of its pixels: events that are too short to be seen are summed by interval.
 *
 * `marked` has for each row whether it is in the selection, or is `null` if all are.
 */
export class TrackPainter {
  marked = null;

  constructor(trace, scale) {
    Object.assign(this, { trace, scale });
    this.omitted = omittedSums(trace);
    this.graphs = new GraphPainter(trace, scale, this.omitted);
  }

  /** Draws a lane that has its place, with its top at `y`. */
  draw(context, placed, y) {
    switch (placed.track.style) {
      case "level": return this.graphs.drawLevel(context, placed.lane, y, this.marked);
      case "load": return this.graphs.drawLoad(context, placed, y, this.marked);
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

  /** Draws the events that the page does not have one by one, as the share of time that they fill. */
  #drawOmitted(context, placed, y) {
    const { scale, trace } = this;
    const { lane } = placed;
    for (const { kind, times, begin, length } of omittedOf(trace, this.omitted, placed.track, lane)) {
      context.fillStyle = kindColours(trace, kind)[0];
      context.globalAlpha = 0.3;
      times.forEach((time, bin) => {
        const from = begin + bin * length;
        if (time === 0 || from + length < scale.view.from || from > scale.view.to) return;
        const [x, end] = [scale.x(from), scale.x(from + length)];
        const tall = Math.min(1, time / length) * (LEVEL_HEIGHT - 2);
        context.fillRect(x, y + LEVEL_HEIGHT - 2 - tall, Math.max(1, end - x), Math.max(1, tall));
      });
      context.globalAlpha = 1;
    }
  }
}

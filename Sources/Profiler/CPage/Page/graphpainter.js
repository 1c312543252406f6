import { kindColours, styleColour } from "./colours.js";
import { formatCounted, formatSize } from "./format.js";
import { lowerBound, omittedBetween, omittedOf } from "./lanes.js";
import { keptShare } from "./weights.js";

export const GRAPH_HEIGHT = 34;
/** The width of the smallest interval that is drawn, in pixels. */
export const BIN = 2;
/** The width of a bar with the gap after it, in pixels. */
const BAR = BIN * 2;
/** The opacity of an event outside the selection. */
export const FAINT = 0.18;

/** Draws sampled values over time: CPU time, allocations and the memory of a process. */
export class GraphPainter {
  #marked = null;
  #found = new Map();

  /** @param omitted What the page does not have one by one; see `omittedSums`. */
  constructor(trace, scale, omitted) { Object.assign(this, { trace, scale, omitted }); }

  /** Draws a sampled weight over time as a graph, that of all samples faintly behind that of the selected ones. */
  drawLoad(context, { track, lane }, y, marked) {
    const [kind] = track.kinds;
    const [level] = lane.levels;
    const omitted = omittedOf(this.trace, this.omitted, track, lane);
    const all = this.#shares(kind, level, level.sums).map((sum, index) => {
      const from = this.scale.view.from + index * this.#step;
      return sum + omittedBetween(omitted, from, from + this.#step);
    });
    const cores = kind === "cpu" ? this.#cores(lane, omitted) : 0;
    const top = cores > 0 ? cores * this.#step : Math.max(1, ...all);
    this.#drawBars(context, kind, all, top, y, marked ? FAINT : 1);
    if (marked) {
      // The samples that the page has stand for those that it lacks.
      const share = keptShare(this.trace, this.trace.kindNumbers.get(kind));
      const selected = this.#shares(kind, level, this.#sumsOfMarked(level, marked)).map((sum) => sum / share);
      this.#drawBars(context, kind, selected, top, y, 1);
    }
    this.#drawScale(context, y, cores > 0 ? formatCounted(cores, "core") : formatSize(top));
  }

  /** The time of a bar, in nanoseconds. */
  get #step() { return this.scale.nanosecondsPerPixel * BAR; }

  #drawBars(context, kind, shares, top, y, alpha) {
    context.globalAlpha = alpha;
    context.fillStyle = kindColours(this.trace, kind)[0];
    shares.forEach((sum, index) => {
      const tall = Math.min(1, sum / top) * (GRAPH_HEIGHT - 4);
      if (tall > 0) context.fillRect(this.scale.left + index * BAR, y + GRAPH_HEIGHT - Math.max(1, tall), BAR - 0.5, Math.max(1, tall));
    });
    context.globalAlpha = 1;
  }

  /** The weight in the time of each bar. */
  #shares(kind, level, sums) {
    // Where samples are far apart, each stands for the CPU time since the one before it.
    const isSparse = kind === "cpu" && level.sums.at(-1) / level.sums.length > this.#step / 4;
    return isSparse ? this.#spread(level, sums) : this.#sumUp(level, sums);
  }

  #sumUp({ starts }, sums) {
    const time = this.#step;
    const shares = [];
    let low = lowerBound(starts, this.scale.view.from);
    for (let from = this.scale.view.from; from < this.scale.view.to; from += time) {
      const high = lowerBound(starts, from + time, low);
      shares.push(sums[high] - sums[low]);
      low = high;
    }
    return shares;
  }

  /** The weight in the time of each bar, if that of each sample is spread over the time before it. */
  #spread({ starts, sums: all }, sums) {
    const time = this.#step;
    const typical = all.at(-1) / starts.length;
    const { from, to } = this.scale.view;
    const shares = new Array(Math.ceil((to - from) / time)).fill(0);
    for (let index = lowerBound(starts, from); index < starts.length; index += 1) {
      const weight = sums[index + 1] - sums[index];
      const begin = starts[index] - weight;
      if (begin > to) {
        // Later samples begin later, unless they weigh far more than the others.
        if (starts[index] > to + 10 * typical) break;
        continue;
      }
      const [first, last] = [Math.floor((begin - from) / time), Math.floor((starts[index] - from) / time)];
      for (let bin = Math.max(0, first); bin <= last && bin < shares.length; bin += 1) {
        const edge = from + bin * time;
        shares[bin] += Math.max(0, Math.min(starts[index], edge + time) - Math.max(begin, edge));
      }
    }
    return shares;
  }

  /** The number of cores that a lane's graph of CPU time has room for: that used in the busiest hundredth of the trace. */
  #cores(lane, omitted) {
    lane.cores ??= this.#busiest(lane, omitted);
    return lane.cores;
  }

  #busiest({ levels: [{ starts, sums }] }, omitted) {
    const [begin, end] = this.trace.head.span;
    const typical = sums.at(-1) / Math.max(1, starts.length);
    const time = Math.max((end - begin) / 100, typical * 4);
    let most = 0;
    for (let from = begin; from < end; from += time) {
      const kept = sums[lowerBound(starts, from + time)] - sums[lowerBound(starts, from)];
      most = Math.max(most, kept + omittedBetween(omitted, from, from + time));
    }
    return Math.max(1, Math.ceil(most / time - 0.1));
  }

  /** The result of the selection for a level, which is kept until the selection changes. */
  #ofMarked(level, marked, find) {
    if (this.#marked !== marked) {
      this.#marked = marked;
      this.#found.clear();
    }
    if (!this.#found.has(level)) this.#found.set(level, find());
    return this.#found.get(level);
  }

  /** The sums of a level's events that are in the selection. */
  #sumsOfMarked(level, marked) {
    return this.#ofMarked(level, marked, () => {
      const sums = new Float64Array(level.sums.length);
      level.rows.forEach((row, index) => {
        sums[index + 1] = sums[index] + (marked[row] ? level.sums[index + 1] - level.sums[index] : 0);
      });
      return sums;
    });
  }

  /** States what the top of a graph stands for. */
  #drawScale(context, y, text) {
    const { left, width } = this.scale;
    const wide = context.measureText(text).width + 8;
    context.globalAlpha = 0.8;
    context.fillStyle = styleColour("--paper");
    context.fillRect(left + width - wide, y, wide, 15);
    context.globalAlpha = 1;
    context.fillStyle = styleColour("--quiet");
    context.fillText(text, left + width - wide + 4, y + 8);
  }

  /** Draws the memory of the process as a line. */
  drawLevel(context, lane, y, marked) {
    const { scale } = this;
    const [{ rows, starts }] = lane.levels;
    const column = this.trace.columns["memory.resident"];
    lane.most ??= rows.reduce((most, row) => Math.max(most, column[this.trace.places[row]]), 1);
    const { most } = lane;
    context.strokeStyle = kindColours(this.trace, "memory")[0];
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
    const isMarked = marked === null || this.#ofMarked(lane.levels[0], marked, () => rows.some((row) => marked[row]));
    context.globalAlpha = isMarked ? 1 : FAINT;
    context.stroke();
    context.globalAlpha = 1;
    this.#drawScale(context, y, formatSize(most));
  }
}

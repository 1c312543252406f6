import { eventColours, kindColours, styleColour } from "./colours.js";
import { element, oncePerFrame, prepareCanvas } from "./elements.js";
import { formatDuration, formatTick, tickStep } from "./format.js";
import { lowerBound } from "./lanes.js";

const LEVEL_HEIGHT = 18;
const LANE_GAP = 4;
const GRAPH_HEIGHT = 34;
const AXIS_HEIGHT = 22;
/** The width of the smallest interval that is drawn, in pixels. */
const BIN = 2;
/** The shortest time that a view can show, in nanoseconds. */
const SHORTEST = 1000;
/** The number of effects that get an arrow. */
const MOST_ARROWS = 200;

/**
 * The tracks of a trace over one time axis, drawn on a canvas.
 *
 * The view is the time that is in sight. A reader changes it with the wheel, by dragging, and with the keyboard.
 */
export class Timeline {
  /**
   * @param host The element to fill. @param trace The events. @param processes The tracks, from `layOut`.
   * @param actions Called for what a reader does: `select(row)`, `choose({ from, to })` with a range or `null`, and `move()`.
   * @param length The time to show, if it is longer than the trace.
   */
  constructor(host, trace, processes, actions, length = 0) {
    Object.assign(this, { host, trace, processes, actions });
    const [from, to] = trace.head.span;
    this.span = { from, to: Math.max(to, from + length) };
    this.view = { ...this.span };
    this.range = null;
    this.selected = -1;
    /** For each row, whether it is in the selection; `null` if all are. */
    this.marked = null;
    this.expanded = new Set();
    this.omitted = this.#omittedLanes();
    this.draw = oncePerFrame(() => this.#draw());
    this.#build();
    this.#listen();
    this.layOut();
    new ResizeObserver(this.draw).observe(host);
  }

  #build() {
    this.minimap = element("canvas", {
      class: "minimap", tabindex: "0", role: "slider", "aria-label": "Time in sight, of the whole trace",
      "aria-valuemin": "0", "aria-valuemax": "100",
    });
    this.canvas = element("canvas", {
      class: "tracks", tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": "Timeline. Zoom with W and S, pan with A and D, go from event to event with comma and full stop.",
    });
    this.labels = element("div", { class: "labels" });
    this.content = element("div", { class: "content" }, this.labels);
    this.scroller = element("div", { class: "scroller", tabindex: "-1" }, this.canvas, this.content);
    this.tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    this.host.replaceChildren(this.minimap, this.scroller, this.tip);
  }

  /** Places the tracks below one another, those of threads where a reader asked for them. */
  layOut() {
    let y = AXIS_HEIGHT;
    this.placed = [];
    const labels = [];
    const hasSeveral = this.processes.length > 1;
    for (const { process, tracks } of this.processes) {
      if (hasSeveral) {
        labels.push(this.#label(y, `process ${process}`, "process"));
        y += LEVEL_HEIGHT + LANE_GAP;
      }
      for (const track of tracks) {
        const key = `${process} ${track.name}`;
        const isOpen = this.expanded.has(key);
        labels.push(this.#trackLabel(y, key, track, isOpen));
        y = this.#placeLane(y, track, track.whole);
        if (!isOpen) continue;
        for (const lane of track.threads) {
          labels.push(this.#label(y, this.trace.threadNames[lane.thread], "thread"));
          y = this.#placeLane(y, track, lane);
        }
      }
    }
    this.height = y;
    this.content.style.height = `${y}px`;
    this.labels.replaceChildren(...labels);
    this.draw();
  }

  #placeLane(y, track, lane) {
    const isGraph = track.style === "load" || track.style === "level";
    const height = isGraph ? GRAPH_HEIGHT : lane.levels.length * LEVEL_HEIGHT;
    this.placed.push({ y, height, track, lane, isGraph });
    return y + height + LANE_GAP;
  }

  #label(y, text, kind) {
    const label = element("div", { class: `label ${kind}`, title: text }, text);
    label.style.top = `${y}px`;
    return label;
  }

  #trackLabel(y, key, track, isOpen) {
    if (track.threads.length === 0) return this.#label(y, track.name, "track");
    const button = element("button", {
      class: "label track", type: "button", "aria-expanded": isOpen,
      title: `${isOpen ? "Hide" : "Show"} the threads of ${track.name}`,
      click: () => {
        if (isOpen) this.expanded.delete(key); else this.expanded.add(key);
        this.layOut();
        [...this.labels.children].find((label) => label.dataset.key === key)?.focus();
      },
    }, `${isOpen ? "▾" : "▸"} ${track.name}`);
    button.dataset.key = key;
    button.style.top = `${y}px`;
    return button;
  }

  // MARK: The view

  /** The pixels of the canvas that show the view, right of the labels. Asking the page for its layout is too slow for a loop. */
  #left = 0;
  #width = 1;

  #measure() {
    this.#left = this.labels.clientWidth;
    this.#width = Math.max(1, this.canvas.clientWidth - this.#left);
  }

  #x(time) { return this.#left + ((time - this.view.from) / (this.view.to - this.view.from)) * this.#width; }
  #time(x) { return this.view.from + ((x - this.#left) / this.#width) * (this.view.to - this.view.from); }

  /** Shows a time, within the trace. */
  show(from, to) {
    const length = Math.min(Math.max(to - from, SHORTEST), this.span.to - this.span.from);
    const start = Math.min(Math.max(from, this.span.from), this.span.to - length);
    this.view = { from: start, to: start + length };
    this.draw();
    this.actions.move?.();
  }

  /** Zooms so that `factor` times as much is in sight, and the time at `x` stays where it is. */
  zoom(factor, x) {
    x ??= this.#left + this.#width / 2;
    const time = this.#time(x);
    const length = Math.max(SHORTEST, (this.view.to - this.view.from) * factor);
    const share = (time - this.view.from) / (this.view.to - this.view.from);
    this.show(time - share * length, time + (1 - share) * length);
  }

  /** Pans by a share of the visible time. */
  pan(share) {
    const distance = share * (this.view.to - this.view.from);
    this.show(this.view.from + distance, this.view.to + distance);
  }

  /** Shows a time with a margin. */
  reveal(from, to) {
    const margin = Math.max((to - from) * 0.1, SHORTEST / 2);
    this.show(from - margin, to + margin);
  }

  /** Shows an event, if it is out of sight or too short to be seen. */
  revealRow(row) {
    const [from, to] = [this.trace.start[row], this.trace.end(row)];
    const length = this.view.to - this.view.from;
    const isWide = ((to - from) / length) * this.#width >= BIN * 2;
    const isInSight = from >= this.view.from && to <= this.view.to;
    if (from === to) {
      // There is nothing to zoom to.
      if (!isInSight) this.show(from - length / 2, from + length / 2);
    } else if (!isWide) this.reveal(from - (to - from) * 20, to + (to - from) * 20);
    else if (!isInSight) this.show(from - (length - (to - from)) / 2, to + (length - (to - from)) / 2);
    const place = this.placeOf(row);
    if (!place) return;
    const { scrollTop, clientHeight } = this.scroller;
    if (place.y < scrollTop + AXIS_HEIGHT || place.y + LEVEL_HEIGHT > scrollTop + clientHeight) {
      this.scroller.scrollTop = place.y - clientHeight / 2;
    }
  }

  /** Where an event is drawn: its track and the top of its level, or `null` if no track shows it. */
  placeOf(row) {
    for (const placed of this.placed) {
      if (placed.isGraph) continue;
      for (const [level, { rows }] of placed.lane.levels.entries()) {
        if (rows[lowerBound(rows, row)] === row) return { placed, y: placed.y + level * LEVEL_HEIGHT };
      }
    }
    return null;
  }

  /** The next selected event of the same track, or the first one in sight; -1 if there is none. */
  neighbour(step) {
    const place = this.selected >= 0 ? this.placeOf(this.selected) : null;
    const lane = place ? place.placed.lane
      : (this.placed.find(({ isGraph, track }) => !isGraph && track.style !== "bands") ?? this.placed[0])?.lane;
    const isWanted = (row) => this.marked === null || this.marked[row] === 1;
    let next = -1;
    for (const { rows, starts } of lane?.levels ?? []) {
      let index = place ? lowerBound(rows, this.selected) + (step < 0 ? -1 : 0) : lowerBound(starts, this.view.from);
      if (place && step > 0 && rows[index] === this.selected) index += 1;
      while (index >= 0 && index < rows.length && !isWanted(rows[index])) index += place ? step : 1;
      const row = rows[index];
      if (row !== undefined && (next < 0 || (step > 0 || !place ? row < next : row > next))) next = row;
    }
    return next;
  }

  // MARK: Drawing

  #draw() {
    this.#measure();
    this.#drawMinimap();
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width, height } = prepared;
    const top = this.scroller.scrollTop;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.#drawAxis(context, width, height);
    context.save();
    context.beginPath();
    context.rect(this.#left, AXIS_HEIGHT, this.#width, height - AXIS_HEIGHT);
    context.clip();
    for (const placed of this.placed) {
      const y = placed.y - top;
      if (y > height || y + placed.height < 0) continue;
      context.strokeStyle = styleColour("--line");
      context.lineWidth = 1;
      context.strokeRect(this.#left, y + placed.height + LANE_GAP / 2 - 0.5, this.#width, 0);
      if (placed.track.style === "level") this.#drawLevel(context, placed, y);
      else if (placed.track.style === "load") this.#drawLoad(context, placed, y);
      else {
        this.#drawOmitted(context, placed, y);
        placed.lane.levels.forEach((level, index) => {
          this.#drawSlices(context, placed, level, y + index * LEVEL_HEIGHT);
        });
      }
    }
    if (this.selected >= 0) this.#drawArrows(context, top);
    this.#drawRange(context, height);
    context.restore();
  }

  #drawAxis(context, width, height) {
    const length = this.view.to - this.view.from;
    const step = tickStep((length / this.#width) * 110);
    context.fillStyle = styleColour("--quiet");
    context.strokeStyle = styleColour("--grid");
    context.beginPath();
    for (let time = Math.ceil((this.view.from - this.span.from) / step) * step; ; time += step) {
      const x = this.#x(time + this.span.from);
      if (x > width) break;
      context.moveTo(Math.round(x) + 0.5, AXIS_HEIGHT - 6);
      context.lineTo(Math.round(x) + 0.5, height);
      context.fillText(formatTick(time, step, this.view.to - this.span.from), x + 4, AXIS_HEIGHT / 2);
    }
    context.stroke();
  }

  /** Draws the events of one level: each one that is wide enough, and the share of time that the others fill. */
  #drawSlices(context, placed, level, y) {
    const { rows, starts, ends, reaches, sums } = level;
    const nanosecondsPerPixel = (this.view.to - this.view.from) / this.#width;
    const isInstant = placed.track.style === "instants";
    // Scopes stay visible, whatever is selected within them.
    const isBand = placed.track.style === "bands";
    const height = LEVEL_HEIGHT - 2;
    let index = lowerBound(reaches, this.view.from);
    while (index < rows.length && starts[index] < this.view.to) {
      const row = rows[index];
      const x = this.#x(starts[index]);
      const wide = (ends[index] - starts[index]) / nanosecondsPerPixel;
      if (wide >= BIN * 2 && !isInstant) {
        this.#drawSlice(context, row, isBand, Math.max(x, this.#left - 4), y, Math.min(x + wide, this.#left + this.#width + 4), height);
        index += 1;
        continue;
      }
      const binEnd = this.#time(x + BIN);
      const next = Math.max(index + 1, lowerBound(starts, binEnd, index));
      const share = isInstant ? 1 : Math.min(1, (sums[next] - sums[index]) / (BIN * nanosecondsPerPixel));
      context.globalAlpha = isBand || this.#isMarked(rows, index, next) ? 1 : 0.18;
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
    context.globalAlpha = isBand || this.marked === null || this.marked[row] ? 1 : 0.18;
    context.fillStyle = fill;
    context.fillRect(x, y, wide, height);
    if (row === this.selected) {
      context.lineWidth = 2;
      context.strokeStyle = styleColour("--ink");
      context.strokeRect(x + 1, y + 1, Math.max(1, wide - 2), height - 2);
    }
    const start = Math.max(x, this.#left);
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
    const [{ rows }] = placed.lane.levels;
    const kind = this.trace.kindName(rows[0]);
    const step = BIN * 2;
    const time = ((this.view.to - this.view.from) / this.#width) * step;
    const shares = [];
    let most = kind === "cpu" ? time : 1;
    for (let x = 0; x < this.#width; x += step) {
      const from = this.view.from + (x / step) * time;
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
      if (tall > 0) context.fillRect(this.#left + index * step, y + GRAPH_HEIGHT - Math.max(1, tall), step - 0.5, Math.max(1, tall));
    });
  }

  /** Draws the memory of the process as a line. */
  #drawLevel(context, placed, y) {
    const [{ rows, starts }] = placed.lane.levels;
    const column = this.trace.columns["memory.resident"];
    let most = 1;
    for (const size of column) most = Math.max(most, size);
    context.strokeStyle = kindColours("memory")[0];
    context.lineWidth = 1.5;
    context.beginPath();
    // One sample for each pixel in sight, and one on either side.
    const first = Math.max(0, lowerBound(starts, this.view.from) - 1);
    let last = -Infinity;
    for (let index = first; index < rows.length; index += 1) {
      const x = this.#x(starts[index]);
      if (x - last < 1 && index < rows.length - 1) continue;
      const top = y + GRAPH_HEIGHT - (column[this.trace.places[rows[index]]] / most) * (GRAPH_HEIGHT - 6);
      if (last === -Infinity) context.moveTo(x, top); else context.lineTo(x, top);
      last = x;
      if (starts[index] > this.view.to) break;
    }
    context.stroke();
  }

  /** The columns with the sums of events that the page does not show, by thread and kind. */
  #omittedLanes() {
    const lanes = [];
    for (const [name, times] of Object.entries(this.trace.columns)) {
      const [, thread, kind] = /^omitted (\d+) (\d+)$/.exec(name) ?? [];
      if (thread) lanes.push({ thread: Number(thread), kind: this.trace.kinds.get(Number(kind)).name, times });
    }
    return lanes;
  }

  #drawOmitted(context, placed, y) {
    const { lane } = placed;
    for (const { thread, kind, times } of this.omitted) {
      const isOfLane = lane.thread >= 0
        ? lane.thread === thread : this.trace.head.threads[thread].process === lane.process;
      if (!isOfLane || !placed.track.kinds.includes(kind)) continue;
      const length = (this.span.to - this.span.from) / times.length;
      context.fillStyle = kindColours(kind)[0];
      times.forEach((time, bin) => {
        const from = this.span.from + bin * length;
        if (time === 0 || from + length < this.view.from || from > this.view.to) return;
        const [x, end] = [this.#x(from), this.#x(from + length)];
        context.globalAlpha = 0.3;
        const tall = Math.min(1, time / length) * (LEVEL_HEIGHT - 2);
        context.fillRect(x, y + LEVEL_HEIGHT - 2 - tall, Math.max(1, end - x), Math.max(1, tall));
      });
      context.globalAlpha = 1;
    }
  }

  /** Draws arrows from the selected event's cause to it, and from it to its effects. */
  #drawArrows(context, top) {
    const row = this.selected;
    const pairs = [...this.trace.effects(row).subarray(0, MOST_ARROWS)].map((effect) => [row, effect]);
    if (this.trace.cause[row] >= 0) pairs.push([this.trace.cause[row], row]);
    context.strokeStyle = styleColour("--arrow");
    context.fillStyle = styleColour("--arrow");
    context.lineWidth = 1.25;
    for (const [from, to] of pairs) {
      const [start, end] = [this.placeOf(from), this.placeOf(to)];
      if (!start || !end) continue;
      const x0 = this.#x(Math.min(this.trace.end(from), this.trace.start[to]));
      const x1 = this.#x(this.trace.start[to]);
      if (Math.max(x0, x1) < this.#left || Math.min(x0, x1) > this.#left + this.#width) continue;
      const [y0, y1] = [start.y - top + LEVEL_HEIGHT / 2, end.y - top + LEVEL_HEIGHT / 2];
      const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
      context.beginPath();
      context.moveTo(x0, y0);
      context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x1, y1);
      context.lineTo(x1 - 6, y1 - 3);
      context.lineTo(x1 - 6, y1 + 3);
      context.fill();
    }
  }

  #drawRange(context, height) {
    if (!this.range) return;
    const [x0, x1] = [this.#x(this.range.from), this.#x(this.range.to)];
    context.fillStyle = styleColour("--shade");
    context.fillRect(this.#left, 0, x0 - this.#left, height);
    context.fillRect(x1, 0, this.#left + this.#width - x1, height);
    context.fillStyle = styleColour("--ink");
    context.fillRect(x0 - 1, 0, 1, height);
    context.fillRect(x1, 0, 1, height);
    context.fillText(formatDuration(this.range.to - this.range.from), x0 + 6, AXIS_HEIGHT + 10);
  }

  #drawMinimap() {
    const prepared = prepareCanvas(this.minimap);
    if (!prepared) return;
    const { context, width, height } = prepared;
    this.minimapSums ??= this.#minimapSums(Math.max(1, Math.floor(width / 2)));
    const [bins, length] = [this.minimapSums, this.span.to - this.span.from];
    context.fillStyle = styleColour("--map");
    bins.forEach((share, bin) => {
      const tall = share * (height - 4);
      if (tall > 0) context.fillRect((bin / bins.length) * width, height - Math.max(1, tall), width / bins.length, Math.max(1, tall));
    });
    const x0 = ((this.view.from - this.span.from) / length) * width;
    const x1 = ((this.view.to - this.span.from) / length) * width;
    context.fillStyle = styleColour("--shade");
    context.fillRect(0, 0, x0, height);
    context.fillRect(x1, 0, width - x1, height);
    context.strokeStyle = styleColour("--accent");
    context.lineWidth = 2;
    context.strokeRect(x0 + 1, 1, Math.max(2, x1 - x0 - 2), height - 2);
    const percent = (time) => Math.round(((time - this.span.from) / length) * 100);
    this.minimap.setAttribute("aria-valuenow", percent(this.view.from));
    this.minimap.setAttribute("aria-valuetext",
      `${formatDuration(this.view.from - this.span.from)} to ${formatDuration(this.view.to - this.span.from)}`);
  }

  /** The share of each part of the trace that work of the store fills. */
  #minimapSums(count) {
    const bins = new Float64Array(count);
    const length = (this.span.to - this.span.from) / count;
    for (const { tracks } of this.processes) {
      for (const { style, whole } of tracks) {
        if (style !== "slices") continue;
        for (const { starts, ends } of whole.levels) {
          for (let index = 0; index < starts.length; index += 1) {
            const first = Math.max(0, Math.floor((starts[index] - this.span.from) / length));
            const last = Math.min(count - 1, Math.floor((ends[index] - this.span.from) / length));
            for (let bin = first; bin <= last; bin += 1) {
              const edge = this.span.from + bin * length;
              bins[bin] += Math.min(ends[index], edge + length) - Math.max(starts[index], edge);
            }
          }
        }
      }
    }
    return bins.map((time) => Math.min(1, time / length));
  }

  // MARK: What a reader does

  #listen() {
    this.scroller.addEventListener("scroll", this.draw, { passive: true });
    this.canvas.addEventListener("wheel", (event) => this.#turnWheel(event), { passive: false });
    this.minimap.addEventListener("wheel", (event) => this.#turnWheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.#startDrag(event));
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.minimap.addEventListener("pointerdown", (event) => this.#startMinimapDrag(event));
  }

  /** The wheel scrolls the tracks; with Control or a pinch it zooms, and with Shift or sideways it pans. */
  #turnWheel(event) {
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const fits = this.height <= this.scroller.clientHeight;
    if (event.ctrlKey || event.metaKey || (fits && !event.shiftKey && Math.abs(y) > Math.abs(x))) {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-120, Math.min(120, y)) * 0.004), event.offsetX);
    } else if (event.shiftKey || Math.abs(x) > Math.abs(y)) {
      event.preventDefault();
      this.pan((x || y) / this.#width);
    }
  }

  #startDrag(event) {
    if (event.button > 1 || event.offsetX < this.#left) return;
    const start = { x: event.offsetX, y: event.offsetY, view: { ...this.view }, isPan: event.shiftKey || event.button === 1 };
    const scale = (this.view.to - this.view.from) / this.#width;
    let hasMoved = false;
    this.canvas.setPointerCapture(event.pointerId);
    const move = (moved) => {
      if (Math.abs(moved.offsetX - start.x) > 3) hasMoved = true;
      if (!hasMoved) return;
      if (start.isPan) {
        const distance = (start.x - moved.offsetX) * scale;
        this.show(start.view.from + distance, start.view.to + distance);
      } else {
        const times = [this.#time(start.x), this.#time(moved.offsetX)].sort((a, b) => a - b);
        this.range = { from: Math.max(times[0], this.span.from), to: Math.min(times[1], this.span.to) };
        this.draw();
      }
    };
    const end = (released) => {
      this.canvas.removeEventListener("pointermove", move);
      this.canvas.removeEventListener("pointerup", end);
      this.canvas.removeEventListener("pointercancel", end);
      if (hasMoved && !start.isPan) this.actions.choose(this.range);
      if (!hasMoved && released.type === "pointerup") this.#click(start.x, start.y);
    };
    this.canvas.addEventListener("pointermove", move);
    this.canvas.addEventListener("pointerup", end);
    this.canvas.addEventListener("pointercancel", end);
  }

  #click(x, y) {
    const row = this.rowAt(x, y);
    if (row >= 0) this.actions.select(row);
    else if (this.range) this.actions.choose(null);
  }

  /** The event that is drawn at a point of the canvas, or -1. */
  rowAt(x, y) {
    const height = y + this.scroller.scrollTop;
    const placed = this.placed.find((placed) => height >= placed.y && height < placed.y + placed.height);
    if (!placed || placed.isGraph || y < AXIS_HEIGHT) return -1;
    const level = placed.lane.levels[Math.floor((height - placed.y) / LEVEL_HEIGHT)];
    if (!level) return -1;
    const [from, to] = [this.#time(x - BIN), this.#time(x + BIN)];
    let best = -1;
    for (let index = lowerBound(level.reaches, from); index < level.rows.length && level.starts[index] <= to; index += 1) {
      const row = level.rows[index];
      if (level.ends[index] < from) continue;
      // The longest of the events in these pixels, and of those in the selection if there are any.
      const isBetter = best < 0 || this.#rank(row) > this.#rank(best);
      if (isBetter) best = row;
    }
    return best;
  }

  #rank(row) { return this.trace.duration[row] + (this.marked?.[row] ? 1e18 : 0); }

  #hover(event) {
    const row = event.buttons === 0 ? this.rowAt(event.offsetX, event.offsetY) : -1;
    this.tip.hidden = row < 0;
    this.canvas.style.cursor = row < 0 ? "crosshair" : "pointer";
    if (row < 0) return;
    const { trace } = this;
    this.tip.textContent = [
      `${trace.kindName(row)}  ${trace.labelText(row).slice(0, 300)}`, formatDuration(trace.duration[row]), trace.siteText(row),
    ].filter(Boolean).join("\n");
    const bounds = this.host.getBoundingClientRect();
    this.tip.style.left = `${Math.min(event.clientX - bounds.left + 14, bounds.width - this.tip.offsetWidth - 8)}px`;
    this.tip.style.top = `${Math.min(event.clientY - bounds.top + 16, bounds.height - this.tip.offsetHeight - 4)}px`;
  }

  #startMinimapDrag(event) {
    const time = (x) => this.span.from + (x / this.minimap.clientWidth) * (this.span.to - this.span.from);
    const length = this.view.to - this.view.from;
    const isInside = time(event.offsetX) >= this.view.from && time(event.offsetX) <= this.view.to;
    const grip = isInside ? time(event.offsetX) - this.view.from : length / 2;
    const move = (moved) => this.show(time(moved.offsetX) - grip, time(moved.offsetX) - grip + length);
    const end = () => {
      this.minimap.removeEventListener("pointermove", move);
      this.minimap.removeEventListener("pointerup", end);
    };
    this.minimap.setPointerCapture(event.pointerId);
    this.minimap.addEventListener("pointermove", move);
    this.minimap.addEventListener("pointerup", end);
    move(event);
  }
}

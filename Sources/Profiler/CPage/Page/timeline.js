import { styleColour } from "./colours.js";
import { element, oncePerFrame, prepareCanvas } from "./elements.js";
import { Gestures } from "./gestures.js";
import { BIN, GRAPH_HEIGHT } from "./graphpainter.js";
import { isGraph, lowerBound } from "./lanes.js";
import { Minimap } from "./minimap.js";
import { AXIS_HEIGHT, drawArrows, drawAxis, drawRange, drawSelected } from "./overlays.js";
import { TimeScale } from "./timescale.js";
import { LANE_GAP, LEVEL_HEIGHT, TrackPainter } from "./trackpainter.js";

/** The maximum distance of a sample from the pointer, in pixels. */
const SAMPLE_REACH = 6;

/**
 * The tracks of a trace over one time axis, drawn on a canvas.
 *
 * The view is the time that is in sight. A reader changes it with the wheel, by dragging, and with the keyboard.
 */
export class Timeline {
  range = null;
  /** The row of the selected event, or -1. */
  selected = -1;
  /** The tracks that show their threads. */
  expanded = new Set();

  /**
   * @param host The element to fill. @param trace The events. @param processes The tracks, from `layOut`.
   * @param actions Called for the reader's actions: `select(row)`, `move()`, and `choose({ from, to })` with a range or `null`.
   *   Without `choose`, a reader cannot choose ranges.
   * @param options `name` of the timeline, if a page has several, and the `length` of the time to show, if the trace is shorter.
   */
  constructor(host, trace, processes, actions, { name = "", length = 0 } = {}) {
    Object.assign(this, { host, trace, processes, actions });
    /** The beginning of the labels, which identifies the timeline. */
    this.lead = name && `${name}. `;
    const [from, to] = trace.head.span;
    this.scale = new TimeScale({ from, to: Math.max(to, from + length) });
    this.painter = new TrackPainter(trace, this.scale);
    this.draw = oncePerFrame(() => this.#draw());
    this.#build();
    this.layOut();
    new ResizeObserver(this.draw).observe(host);
  }

  get span() { return this.scale.span; }
  get view() { return this.scale.view; }

  /** For each row, whether it is in the selection; `null` if all are. */
  get marked() { return this.painter.marked; }
  set marked(flags) { this.painter.marked = flags; }

  #build() {
    this.minimap = new Minimap(this, (from, to) => this.show(from, to));
    this.canvas = element("canvas", {
      class: "tracks", tabindex: "0", role: "application", "aria-roledescription": "timeline",
      "aria-label": `${this.lead}Timeline. Zoom with W and S, pan with A and D, go from event to event with comma and full stop.`,
    });
    this.labels = element("div", { class: "labels" });
    this.content = element("div", { class: "content" }, this.labels);
    this.scroller = element("div", { class: "scroller", tabindex: "-1" }, this.canvas, this.content);
    this.scroller.addEventListener("scroll", this.draw, { passive: true });
    this.host.replaceChildren(this.minimap.canvas, this.scroller);
    this.gestures = new Gestures(this, this.host);
  }

  /** Places the tracks below one another, those of threads where a reader asked for them. */
  layOut() {
    let y = AXIS_HEIGHT;
    this.placed = [];
    const labels = [];
    const hasSeveral = this.processes.length > 1;
    for (const { process, tracks } of this.processes) {
      if (hasSeveral) {
        labels.push(this.#label(y, this.#processName(process), "process"));
        y += LEVEL_HEIGHT + LANE_GAP;
      }
      for (const track of tracks) {
        const key = `${process} ${track.name}`;
        const isOpen = this.expanded.has(key);
        labels.push(this.#trackLabel(y, key, track, isOpen));
        y = this.#placeLane(y, track, track.whole);
        if (!isOpen) continue;
        for (const lane of track.threads) {
          labels.push(this.#label(y, this.trace.threadLabels[lane.thread], "thread"));
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
    const height = isGraph(track) ? GRAPH_HEIGHT : lane.levels.length * LEVEL_HEIGHT;
    this.placed.push({ y, height, track, lane });
    return y + height + LANE_GAP;
  }

  #label(y, text, kind) {
    const label = element("div", { class: `label ${kind}`, title: text }, text);
    label.style.top = `${y}px`;
    return label;
  }

  #processName(process) {
    const program = this.trace.head.programs[process];
    return program ? `${program} ${process}` : `process ${process}`;
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

  // MARK: - The view

  /** Shows a time, within the trace. */
  show(from, to) {
    this.scale.show(from, to);
    this.#hasMoved();
  }

  /** Zooms so that `factor` times as much is in sight, and the time at `x` stays where it is. */
  zoom(factor, x = this.scale.left + this.scale.width / 2) {
    this.scale.zoom(factor, x);
    this.#hasMoved();
  }

  /** Pans by a share of the visible time. */
  pan(share) {
    this.scale.pan(share);
    this.#hasMoved();
  }

  /** Shows a time with a margin. */
  reveal(from, to) {
    this.scale.reveal(from, to);
    this.#hasMoved();
  }

  #hasMoved() {
    this.gestures.hideTip();
    this.draw();
    this.actions.move?.();
  }

  /** Brings an event into sight, without zooming unless it is longer than the view. */
  revealRow(row) {
    const [from, to] = [this.trace.start[row], this.trace.end(row)];
    const { length } = this.scale;
    if (to - from > length) this.reveal(from, to);
    else if (from < this.view.from || to > this.view.to) this.show((from + to - length) / 2, (from + to + length) / 2);
    const place = this.placeOf(row);
    if (!place) return;
    const { scrollTop, clientHeight } = this.scroller;
    if (place.y < scrollTop + AXIS_HEIGHT || place.y + LEVEL_HEIGHT > scrollTop + clientHeight) {
      this.scroller.scrollTop = place.y - clientHeight / 2;
    }
  }

  /** The place of an event: its track and the top of its level, or `null` if no track shows it. */
  placeOf(row) {
    for (const placed of this.placed) {
      for (const [level, { rows }] of placed.lane.levels.entries()) {
        if (rows[lowerBound(rows, row)] !== row) continue;
        return { placed, y: placed.y + level * LEVEL_HEIGHT, height: isGraph(placed.track) ? GRAPH_HEIGHT : LEVEL_HEIGHT - 2 };
      }
    }
    return null;
  }

  /** The next selected event of the same track, or the first one in sight; -1 if there is none. */
  neighbour(step) {
    const place = this.selected >= 0 ? this.placeOf(this.selected) : null;
    const lane = place ? place.placed.lane
      : (this.placed.find(({ track }) => track.style === "slices") ?? this.placed[0])?.lane;
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

  // MARK: - Drawing

  #draw() {
    const { scale } = this;
    // Asking the page for its layout is too slow for a loop.
    scale.left = this.labels.clientWidth;
    scale.width = Math.max(1, this.canvas.clientWidth - scale.left);
    this.minimap.draw();
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width, height } = prepared;
    const top = this.scroller.scrollTop;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    drawAxis(context, scale, width, height);
    context.save();
    context.beginPath();
    context.rect(scale.left, AXIS_HEIGHT, scale.width, height - AXIS_HEIGHT);
    context.clip();
    for (const placed of this.placed) {
      const y = placed.y - top;
      if (y > height || y + placed.height < 0) continue;
      context.strokeStyle = styleColour("--line");
      context.lineWidth = 1;
      context.strokeRect(scale.left, y + placed.height + LANE_GAP / 2 - 0.5, scale.width, 0);
      this.painter.draw(context, placed, y);
    }
    if (this.selected >= 0) {
      const placeOf = (row) => {
        const place = this.placeOf(row);
        return place && { y: place.y - top, height: place.height };
      };
      drawSelected(context, scale, this.trace, this.selected, placeOf);
      drawArrows(context, scale, this.trace, this.selected, placeOf);
    }
    context.restore();
    if (this.range) drawRange(context, scale, this.range, height);
  }

  /** The event that is drawn at a point of the canvas, or -1. */
  rowAt(x, y) {
    const height = y + this.scroller.scrollTop;
    const placed = this.placed.find((placed) => height >= placed.y && height < placed.y + placed.height);
    if (!placed || y < AXIS_HEIGHT) return -1;
    const level = placed.lane.levels[isGraph(placed.track) ? 0 : Math.floor((height - placed.y) / LEVEL_HEIGHT)];
    if (!level) return -1;
    const reach = isGraph(placed.track) ? SAMPLE_REACH : BIN;
    const [from, to] = [this.scale.time(x - reach), this.scale.time(x + reach)];
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
}

import { element, followPointer } from "./elements.js";

/** The way in pixels after which a press is a drag and not a click. */
const CLICK = 3;

/** The gestures of the pointer on a timeline: zooming, panning, choosing a range, and selecting an event. */
export class Gestures {
  /** @param host The element of the timeline, which gets the tip. */
  constructor(timeline, host) {
    Object.assign(this, { timeline, host });
    this.tip = element("div", { class: "tip", hidden: true, "aria-hidden": "true" });
    host.append(this.tip);
    const { canvas, minimap } = timeline;
    for (const part of [canvas, minimap.canvas]) {
      part.addEventListener("wheel", (event) => this.#turnWheel(event), { passive: false });
    }
    canvas.addEventListener("pointerdown", (event) => this.#startDrag(event));
    canvas.addEventListener("pointermove", (event) => this.#hover(event));
    canvas.addEventListener("pointerleave", () => this.hideTip());
  }

  /** Hides what the pointer is on, because that has moved or the reader has seen it. */
  hideTip() { this.tip.hidden = true; }

  /** The wheel scrolls the tracks; with Control or a pinch it zooms, and with Shift or sideways it pans. */
  #turnWheel(event) {
    const { timeline } = this;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const [x, y] = [event.deltaX * unit, event.deltaY * unit];
    const fits = timeline.height <= timeline.scroller.clientHeight;
    if (event.ctrlKey || event.metaKey || (fits && !event.shiftKey && Math.abs(y) > Math.abs(x))) {
      event.preventDefault();
      timeline.zoom(Math.exp(Math.max(-120, Math.min(120, y)) * 0.004), event.offsetX);
    } else if (event.shiftKey || Math.abs(x) > Math.abs(y)) {
      event.preventDefault();
      timeline.pan((x || y) / timeline.scale.width);
    }
  }

  /** Dragging chooses a range. With Shift or the middle button, or where no range can be chosen, it pans. */
  #startDrag(event) {
    const { timeline } = this;
    const { scale, actions } = timeline;
    if (event.button > 1 || event.offsetX < scale.left) return;
    this.hideTip();
    const start = { x: event.offsetX, y: event.offsetY, from: scale.view.from, length: scale.length };
    const isPan = event.shiftKey || event.button === 1 || !actions.choose;
    let hasMoved = false;
    const move = ({ offsetX }) => {
      hasMoved ||= Math.abs(offsetX - start.x) > CLICK;
      if (!hasMoved) return;
      if (isPan) {
        const from = start.from + (start.x - offsetX) * scale.nanosecondsPerPixel;
        timeline.show(from, from + start.length);
      } else {
        const [from, to] = [scale.time(start.x), scale.time(offsetX)].sort((a, b) => a - b);
        timeline.range = { from: Math.max(from, scale.span.from), to: Math.min(to, scale.span.to) };
        timeline.draw();
      }
    };
    followPointer(timeline.canvas, event, move, (released) => {
      if (hasMoved && !isPan) actions.choose(timeline.range);
      else if (!hasMoved && released.type === "pointerup") this.#click(start.x, start.y);
    });
  }

  #click(x, y) {
    const row = this.timeline.rowAt(x, y);
    if (row >= 0) this.timeline.actions.select(row);
    else if (this.timeline.range) this.timeline.actions.choose(null);
  }

  #hover(event) {
    const { timeline, tip } = this;
    const row = event.buttons === 0 ? timeline.rowAt(event.offsetX, event.offsetY) : -1;
    tip.hidden = row < 0;
    timeline.canvas.style.cursor = row >= 0 ? "pointer" : timeline.actions.choose ? "crosshair" : "grab";
    if (row < 0) return;
    tip.textContent = timeline.trace.summary(row).join("\n");
    const bounds = this.host.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX - bounds.left + 14, bounds.width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY - bounds.top + 16, bounds.height - tip.offsetHeight - 4)}px`;
  }
}

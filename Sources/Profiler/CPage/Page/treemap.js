import { element } from "./elements.js";
import { formatPercent, formatSize } from "./format.js";

/** The area that a box needs for its name, in pixels. */
const LEGIBLE = { width: 46, height: 16 };

/**
 * A treemap: a box for each part of a file, as large as its share of the bytes, with the boxes of its own parts within.
 *
 * The boxes are elements, so that their names can be read. One of them is reached with the Tab key, and the others from there with the
 * arrows.
 */
export class Treemap {
  constructor(host, { parts }) {
    this.host = host;
    this.root = { name: "file", kind: "file", remark: "", parts, size: parts.reduce((sum, part) => sum + part.size, 0) };
    this.caption = element("p", { class: "caption", role: "status" }, `All: ${formatSize(this.root.size)}`);
    this.map = element("div", {
      class: "treemap", role: "list", "aria-label": "What fills the file", keydown: (event) => this.#press(event),
    });
    host.replaceChildren(this.caption, this.map);
    new ResizeObserver(() => this.#draw()).observe(this.map);
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.map;
    const boxes = this.#boxes(this.root.parts, { x: 0, y: 0, width, height }, "");
    this.map.replaceChildren(...(boxes.length > 0 ? boxes : [element("p", { class: "empty", role: "listitem" }, "The file has no tables.")]));
    if (boxes.length > 0) boxes[0].tabIndex = 0;
  }

  /** The arrows go from box to box, in the order of their sizes within one another. */
  #press(event) {
    const boxes = [...this.map.children];
    const place = boxes.indexOf(document.activeElement);
    const next = {
      ArrowRight: place + 1, ArrowDown: place + 1, ArrowLeft: place - 1, ArrowUp: place - 1, Home: 0, End: boxes.length - 1,
    }[event.key];
    if (place < 0 || next === undefined || !boxes[next]) return;
    event.preventDefault();
    boxes[next].focus();
  }

  /** Makes the box that has the focus the one that the Tab key comes back to. */
  #enter(box, label) {
    for (const other of this.map.children) other.tabIndex = other === box ? 0 : -1;
    this.caption.textContent = label;
  }

  /** The boxes of parts within an area, and those of their own parts within theirs. @param owner What they are parts of. */
  #boxes(parts, area, owner) {
    return squarify(parts.filter(({ size }) => size > 0), area).flatMap(({ part, ...place }) => {
      const label = `${owner}${part.name}: ${formatSize(part.size)}, ${formatPercent(part.size / this.root.size)}. ${part.remark}`;
      const box = element("div", {
        class: `box ${part.kind}`, role: "listitem", tabindex: "-1", title: label, "aria-label": label,
        focus: ({ target }) => this.#enter(target, label), mouseenter: () => { this.caption.textContent = label; },
      }, place.width > LEGIBLE.width && place.height > LEGIBLE.height ? element("span", {}, part.name) : null);
      for (const [side, value] of Object.entries({ left: place.x, top: place.y, width: place.width, height: place.height })) {
        box.style[side] = `${value}px`;
      }
      const inner = { x: place.x + 3, y: place.y + 19, width: place.width - 6, height: place.height - 22 };
      return [box, ...(inner.width > 8 && inner.height > 8 ? this.#boxes(part.parts, inner, `${part.name}, `) : [])];
    });
  }
}

/** Divides an area among parts by their sizes, in boxes that are as square as possible (Bruls, Huizing and van Wijk, 2000). */
function squarify(parts, { x, y, width, height }) {
  const sorted = parts.toSorted((a, b) => b.size - a.size);
  const total = sorted.reduce((sum, { size }) => sum + size, 0);
  if (total === 0 || width <= 0 || height <= 0) return [];
  const scale = (width * height) / total;
  const placed = [];
  let area = { x, y, width, height };
  for (let first = 0; first < sorted.length;) {
    const side = Math.min(area.width, area.height);
    const worst = (sum, from, to) => {
      const [most, least] = [sorted[from].size * scale, sorted[to - 1].size * scale];
      const whole = sum * scale;
      return Math.max((side * side * most) / (whole * whole), (whole * whole) / (side * side * least));
    };
    let end = first + 1;
    let sum = sorted[first].size;
    while (end < sorted.length && worst(sum + sorted[end].size, first, end + 1) <= worst(sum, first, end)) {
      sum += sorted[end].size;
      end += 1;
    }
    const thick = (sum * scale) / side;
    const isColumn = area.width >= area.height;
    let offset = 0;
    for (const part of sorted.slice(first, end)) {
      const long = (part.size * scale) / thick;
      placed.push(isColumn
        ? { part, x: area.x, y: area.y + offset, width: thick, height: long }
        : { part, x: area.x + offset, y: area.y, width: long, height: thick });
      offset += long;
    }
    area = isColumn
      ? { x: area.x + thick, y: area.y, width: area.width - thick, height: area.height }
      : { x: area.x, y: area.y + thick, width: area.width, height: area.height - thick };
    first = end;
  }
  return placed;
}

import { fill, shape } from "./elements.js";
import { MODEL_SIZES, placeBoxes, placeEnds } from "./modellayout.js";

/** The number of properties in a box; those that changed come before others if there are more. */
const MOST_PROPERTIES = 14;

/** The sign that shows a change besides its colour, and its name. */
export const MODEL_MARKS = {
  added: { sign: "+", text: "added" }, removed: { sign: "−", text: "removed" }, changed: { sign: "~", text: "changed" },
};

/** The space around the diagram. */
const MARGIN = 44;

const ZOOMS = { least: 0.15, most: 3, step: 1.25 };

/** The drawing of a model: a box for each entity, and lines for relationships and inheritance. */
export class ModelDrawing {
  /** @param host The element that scrolls. @param choose Called with the name of an entity that a reader selects. */
  constructor(host, { entities, lines }, choose) {
    Object.assign(this, { host, entities, choose, zoom: 1 });
    this.boxes = new Map(entities.map((entity) => {
      const rows = shownProperties(entity);
      const more = entity.properties.length - rows.length;
      const count = rows.length + (more > 0 ? 1 : 0);
      return [entity.name, { entity, rows, more, height: MODEL_SIZES.head + count * MODEL_SIZES.row + MODEL_SIZES.foot }];
    }));
    const inheritance = entities.filter(({ parent }) => this.boxes.has(parent))
      .map(({ name, parent, mark }) => ({ source: name, destination: parent, isInheritance: true, mark: mark === "changed" ? null : mark }));
    this.lines = [...lines.filter(({ source, destination }) => this.boxes.has(source) && this.boxes.has(destination)), ...inheritance];
    this.size = placeBoxes(this.boxes, this.lines.map(({ source, destination }) => [source, destination]));
    this.#draw();
    host.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.scale(event.deltaY < 0 ? ZOOMS.step : 1 / ZOOMS.step);
    }, { passive: false });
  }

  #draw() {
    const [width, height] = [this.size.width + 2 * MARGIN, this.size.height + 2 * MARGIN];
    this.svg = shape("svg", { viewBox: `${-MARGIN} ${-MARGIN} ${width} ${height}`, class: "diagram" });
    const ends = placeEnds(this.lines, this.boxes);
    this.shapes = this.lines.map((line, index) => lineShape(line, ends[index]));
    this.svg.append(...this.shapes, ...[...this.boxes.values()].map((box) => this.#box(box)));
    fill(this.host, this.svg);
    this.fit();
  }

  #box(box) {
    const { entity, rows, more } = box;
    const row = (index, text, look) => shape("text", {
      x: 10, y: MODEL_SIZES.head + (index + 1) * MODEL_SIZES.row - 4, class: look,
    }, clipped(text, 34));
    const mark = entity.mark ? MODEL_MARKS[entity.mark] : null;
    const changed = entity.properties.filter((property) => property.mark).length;
    const summary = [entity.name, entity.isAbstract ? "abstract" : null, mark?.text, entity.objects,
      changed > 0 && entity.mark === "changed" ? `${changed} of ${entity.properties.length} properties changed` : null];
    box.shape = shape("g", {
      class: `box-shape ${entity.mark ?? ""}`, transform: `translate(${box.x} ${box.y})`, tabindex: 0, role: "button",
      "aria-pressed": "false", "aria-label": summary.filter(Boolean).join(", "),
    },
    shape("rect", { width: MODEL_SIZES.width, height: box.height, rx: 6 }),
    shape("path", { d: `M0 ${MODEL_SIZES.head}H${MODEL_SIZES.width}`, class: "rule" }),
    shape("text", { x: 10, y: 19, class: entity.isAbstract ? "title abstract" : "title" },
      clipped(`${mark ? `${mark.sign} ` : ""}${entity.name}`, 30)),
    rows.map((property, index) => row(index,
      `${property.mark ? `${MODEL_MARKS[property.mark].sign} ` : ""}${property.name}${property.isRelationship ? " → " : ": "}${property.words.split(",")[0]}`,
      `property ${property.mark ?? ""}`)),
    more > 0 ? row(rows.length, `… ${more} more`, "property more") : null);
    box.shape.addEventListener("click", () => this.choose(entity.name));
    box.shape.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.choose(entity.name);
    });
    return box.shape;
  }

  /** Highlights an entity with its lines and neighbours, and dims all others; `null` highlights none. */
  select(name) {
    const near = new Set([name]);
    this.lines.forEach(({ source, destination }, index) => {
      const isNear = source === name || destination === name;
      if (isNear) near.add(source).add(destination);
      this.shapes[index].classList.toggle("chosen", isNear);
      this.shapes[index].classList.toggle("dimmed", name !== null && !isNear);
    });
    for (const [other, { shape: group }] of this.boxes) {
      group.classList.toggle("chosen", other === name);
      group.classList.toggle("dimmed", name !== null && !near.has(other));
      group.setAttribute("aria-pressed", other === name);
    }
  }

  /** Scrolls an entity into sight. */
  show(name) { this.boxes.get(name)?.shape.scrollIntoView({ block: "nearest", inline: "nearest" }); }

  /** Shows the whole diagram, as large as it is readable. */
  fit() {
    const { clientWidth, clientHeight } = this.host;
    const whole = Math.min(clientWidth / (this.size.width + 2 * MARGIN), clientHeight / (this.size.height + 2 * MARGIN));
    this.zoom = whole > 0 ? Math.max(0.35, Math.min(1.2, whole)) : 1;
    this.scale(1);
  }

  scale(factor) {
    this.zoom = Math.max(ZOOMS.least, Math.min(ZOOMS.most, this.zoom * factor));
    this.svg.setAttribute("width", Math.floor((this.size.width + 2 * MARGIN) * this.zoom));
    this.svg.setAttribute("height", Math.floor((this.size.height + 2 * MARGIN) * this.zoom));
  }
}

/** The properties that a box has room for, in their order. */
function shownProperties({ properties }) {
  if (properties.length <= MOST_PROPERTIES) return properties;
  const ranked = [...properties].sort((first, second) => Number(Boolean(second.mark)) - Number(Boolean(first.mark)));
  const shown = new Set(ranked.slice(0, MOST_PROPERTIES - 1));
  return properties.filter((property) => shown.has(property));
}

/** A text that fits into a box: letters beyond the basic ones, and capitals, are wider. */
function clipped(text, most) {
  let width = 0;
  const letters = [...text];
  const end = letters.findIndex((letter) => { width += /[\u0000-\u007f]/.test(letter) && !/[MWmw@]/.test(letter) ? 1 : 1.8; return width > most; });
  return end < 0 ? text : `${letters.slice(0, Math.max(1, end - 1)).join("")}…`;
}

/** A line with its ends: a fork where there are many objects, a bar where there is one, a triangle at a parent. */
function lineShape(line, [start, end]) {
  const reach = start.box === end.box ? 60 : Math.max(40, Math.abs(end.x - start.x) / 2);
  const way = `M${start.x} ${start.y}C${start.x + start.direction * reach} ${start.y} ${end.x + end.direction * reach} ${end.y} ${end.x} ${end.y}`;
  const ends = line.isInheritance
    ? [triangle(end)]
    : [foot(start, line.comesFromMany || line.inverse === null), foot(end, line.isToMany)];
  const names = line.isInheritance
    ? `${line.source} is a ${line.destination}`
    : `${line.source}.${line.name} → ${line.destination}${line.inverse ? `.${line.inverse}` : ""}`;
  return shape("g", { class: `line-shape ${line.isInheritance ? "inheritance" : ""} ${line.mark ?? ""}` },
    shape("title", {}, line.mark ? `${names}, ${MODEL_MARKS[line.mark].text}` : names),
    shape("path", { d: way, class: "way" }), ends);
}

function foot({ x, y, direction }, isMany) {
  const d = isMany
    ? `M${x} ${y - 6}L${x + direction * 11} ${y}L${x} ${y + 6}`
    : `M${x + direction * 8} ${y - 6}V${y + 6}`;
  return shape("path", { d, class: "way" });
}

function triangle({ x, y, direction }) {
  return shape("path", { d: `M${x} ${y}L${x + direction * 12} ${y - 7}V${y + 7}Z`, class: "parent" });
}

// Elements of the page. Text from a trace only ever becomes a text node or an attribute's value, never markup.

/**
 * Creates an element.
 *
 * @param attributes Attributes by name; functions are listeners, `true` and `false` set and omit an attribute, and `aria-` attributes
 *   have these words.
 * @param children Elements and texts; `null`, `false` and `undefined` are left out.
 */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") created.addEventListener(key, value);
    else if (value === null || value === undefined) continue;
    // The states of assistive technology are words, and others are set or not.
    else if (typeof value !== "boolean" || key.startsWith("aria-")) created.setAttribute(key, value);
    else if (value) created.setAttribute(key, "");
  }
  created.append(...present(children));
  return created;
}

/** The children of an element in one list, without those that are left out. */
function present(children) { return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false); }

/** Creates an element of SVG, in the same way. */
export function shape(name, attributes = {}, ...children) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...present(children));
  return created;
}

/** Replaces what an element contains. */
export function fill(host, ...children) {
  host.replaceChildren(...present(children));
}

/** The page's element of an ID. */
export function find(id) { return document.getElementById(id); }

/** Calls a function once before the next frame, however often that is asked for. */
export function oncePerFrame(work) {
  let isPending = false;
  return () => {
    if (isPending) return;
    isPending = true;
    requestAnimationFrame(() => {
      isPending = false;
      work();
    });
  };
}

/** Follows a pressed pointer until it is released, even outside the element. `end` is called with the last event. */
export function followPointer(host, { pointerId }, move, end = () => {}) {
  const release = (event) => {
    host.removeEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) host.removeEventListener(name, release);
    end(event);
  };
  host.setPointerCapture(pointerId);
  host.addEventListener("pointermove", move);
  for (const name of ["pointerup", "pointercancel"]) host.addEventListener(name, release);
}

/**
 * Fits a canvas to the size of its place on the page, in the pixels of the screen.
 *
 * @returns The context to draw with, in units of the page, or `null` if the canvas is not shown.
 */
export function prepareCanvas(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  if (width === 0 || height === 0) return null;
  const ratio = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** The greatest height that all browsers give an element, in pixels. A longer list scrolls faster instead. */
const TALLEST = 8_000_000;

/**
 * A list that has elements only for the rows in sight, so that a million rows cost no more than fifty.
 *
 * The list is a grid for assistive technology: it says how many rows there are, and which one is active.
 */
export class VirtualList {
  #count = 0;
  #active = -1;

  /**
   * @param host The element that scrolls. @param rowHeight The height of a row in pixels.
   * @param makeRow Returns the element of a row. @param choose Called with the row that a reader chooses.
   */
  constructor(host, rowHeight, makeRow, choose) {
    Object.assign(this, { host, rowHeight, makeRow, choose });
    this.spacer = element("div", { class: "spacer", role: "presentation" });
    this.window = element("div", { class: "window", role: "rowgroup" });
    this.spacer.append(this.window);
    host.append(this.spacer);
    this.draw = oncePerFrame(() => this.#draw());
    host.addEventListener("scroll", this.draw, { passive: true });
    host.addEventListener("keydown", (event) => this.#press(event));
    new ResizeObserver(this.draw).observe(host);
  }

  get active() { return this.#active; }

  /** Shows a number of rows, from the first one on or from where the list is. */
  show(count, { keepsPlace = false } = {}) {
    this.#count = count;
    this.host.setAttribute("aria-rowcount", count + 1);
    this.spacer.style.height = `${Math.min(TALLEST, count * this.rowHeight)}px`;
    if (!keepsPlace) {
      this.host.scrollTop = 0;
      this.#active = -1;
    }
    this.#active = Math.min(this.#active, count - 1);
    this.draw();
  }

  /** Makes a row the active one, and scrolls it into sight. */
  activate(index) {
    this.#active = index;
    if (index >= 0) {
      const { first, last } = this.#sight();
      if (index <= first || index >= last - 1) this.#scroll(index - Math.floor((last - first) / 2));
    }
    this.draw();
  }

  /** The pixels of the list for each pixel of its scroll bar's way. */
  get #scale() {
    const view = this.host.clientHeight;
    const way = this.spacer.clientHeight - view;
    return way > 0 ? Math.max(1, (this.#count * this.rowHeight - view) / way) : 1;
  }

  #sight() {
    const first = Math.floor((this.host.scrollTop * this.#scale) / this.rowHeight);
    return { first, last: first + Math.ceil(this.host.clientHeight / this.rowHeight) };
  }

  #scroll(first) { this.host.scrollTop = (Math.max(0, first) * this.rowHeight) / this.#scale; }

  #draw() {
    const { first, last } = this.#sight();
    const rows = [];
    for (let index = first; index <= last && index < this.#count; index += 1) {
      const row = this.makeRow(index);
      row.style.height = `${this.rowHeight}px`;
      row.setAttribute("aria-rowindex", index + 2);
      row.id = `${this.host.id}-${index}`;
      if (index === this.#active) row.classList.add("active");
      row.setAttribute("aria-selected", index === this.#active);
      row.addEventListener("click", () => this.#choose(index));
      rows.push(row);
    }
    this.window.style.transform = `translateY(${this.host.scrollTop - ((this.host.scrollTop * this.#scale) % this.rowHeight)}px)`;
    this.window.replaceChildren(...rows);
    const isInSight = this.#active >= first && this.#active <= last && this.#active < this.#count;
    if (isInSight) this.host.setAttribute("aria-activedescendant", `${this.host.id}-${this.#active}`);
    else this.host.removeAttribute("aria-activedescendant");
  }

  #choose(index) {
    this.activate(index);
    this.choose(index);
  }

  #press(event) {
    const page = Math.max(1, Math.floor(this.host.clientHeight / this.rowHeight) - 1);
    const last = this.#count - 1;
    const next = {
      ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page, PageUp: this.#active - page,
      Home: 0, End: last,
    }[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    event.stopPropagation();
    this.#choose(Math.max(0, Math.min(last, next)));
  }
}

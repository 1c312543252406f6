import { childrenByNode } from "./calltree.js";
import { partColours, styleColour } from "./colours.js";
import { element, oncePerFrame, prepareCanvas } from "./elements.js";
import { describeRest, formatPercent, formatWeight } from "./format.js";

const HEIGHT = 19;
/** The meanings of the colours of functions. */
const CODE_PARTS = { program: "the program", store: "the store", sqlite: "SQLite", system: "system libraries", recorder: "Faultline's recorder" };
/** The width of the narrowest box that is drawn, in pixels. */
const NARROWEST = 0.5;

/** The call tree of the selected events as a flame graph: a box for each function, as wide as its share, on its callers. */
export class FlameGraph {
  #boxes = [];

  constructor(host, trace) {
    Object.assign(this, { host, trace, root: 0 });
    this.canvas = element("canvas", {
      class: "flames", tabindex: "0", role: "img", "aria-label": "Flame graph; the call tree has the same figures as text.",
    });
    this.caption = element("p", { class: "caption", role: "status" });
    this.scroller = element("div", { class: "flame-scroller" }, this.canvas);
    this.reset = element("button", { type: "button", disabled: true, click: () => {
      // The button is then disabled, and would lose the focus.
      this.canvas.focus();
      this.focus(0);
    } }, "Show all");
    this.marks = new Map(Object.keys(CODE_PARTS).map((part) => [part, element("span", { class: "mark" })]));
    const legend = element("p", { class: "legend" }, Object.entries(CODE_PARTS).map(([part, name]) =>
      element("span", {}, this.marks.get(part), name)));
    host.replaceChildren(element("div", { class: "flame-head" }, this.caption, this.reset), this.scroller, legend);
    this.draw = oncePerFrame(() => this.#draw());
    this.canvas.addEventListener("pointermove", (event) => this.#hover(this.#nodeAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.#hover(this.root));
    this.canvas.addEventListener("click", (event) => this.focus(this.#nodeAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.#press(event));
    new ResizeObserver(this.draw).observe(host);
  }

  show(tree, weight) {
    Object.assign(this, { tree, weight, children: childrenByNode(tree), root: 0 });
    this.reset.disabled = true;
    this.#describe(0);
    this.draw();
  }

  /** Lets a function take the whole width. */
  focus(node) {
    this.root = node;
    this.reset.disabled = node === 0;
    this.#describe(node);
    this.draw();
  }

  #draw() {
    if (!this.tree) return;
    for (const [part, mark] of this.marks) mark.style.background = partColours(part)[0];
    const depths = this.#depth(this.root);
    const path = [];
    for (let node = this.root; node > 0; node = this.tree.parents[node]) path.unshift(node);
    this.canvas.style.height = `${(path.length + depths + 1) * HEIGHT}px`;
    const prepared = prepareCanvas(this.canvas);
    if (!prepared) return;
    const { context, width } = prepared;
    context.font = "12px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.#boxes = [];
    // The callers of the function in focus are above it, as wide as the graph.
    path.forEach((node, level) => this.#drawBox(context, node, 0, level, width, level < path.length - 1));
    const place = (node, x, level) => {
      let left = x;
      for (const child of this.children[node]) {
        const wide = (this.tree.totals[child] / this.tree.totals[this.root]) * width;
        if (wide >= NARROWEST) {
          this.#drawBox(context, child, left, level, wide, false);
          place(child, left, level + 1);
        }
        left += wide;
      }
    };
    place(this.root, 0, path.length);
  }

  #drawBox(context, node, x, level, width, isCaller) {
    const [name, , , part] = this.trace.head.functions[this.tree.functions[node]];
    const [fill, ink] = partColours(part);
    const y = level * HEIGHT;
    this.#boxes.push({ node, x, y, width });
    context.globalAlpha = isCaller ? 0.55 : 1;
    context.fillStyle = fill;
    context.fillRect(x, y, Math.max(0.5, width - 1), HEIGHT - 1);
    if (width > 30) {
      context.save();
      context.beginPath();
      context.rect(x, y, width - 4, HEIGHT);
      context.clip();
      context.globalAlpha = 1;
      context.fillStyle = isCaller ? styleColour("--ink") : ink;
      context.fillText(name, x + 4, y + HEIGHT / 2);
      context.restore();
    }
    context.globalAlpha = 1;
  }

  /** The greatest number of functions on a path below a node. */
  #depth(node) {
    let deepest = 0;
    const pending = [[node, 0]];
    while (pending.length > 0) {
      const [next, level] = pending.pop();
      deepest = Math.max(deepest, level);
      for (const child of this.children[next]) pending.push([child, level + 1]);
    }
    return deepest;
  }

  #nodeAt(event) {
    const box = this.#boxes.findLast(({ x, y, width }) =>
      event.offsetX >= x && event.offsetX < x + width && event.offsetY >= y && event.offsetY < y + HEIGHT);
    return box?.node ?? 0;
  }

  #hover(node) {
    this.canvas.style.cursor = node > 0 ? "pointer" : "default";
    this.#describe(node);
  }

  #describe(node) {
    const { tree, weight } = this;
    if (!tree) return;
    if (tree.total === 0) this.caption.textContent = "No selected event has this weight.";
    else if (node === 0) {
      this.caption.textContent = describeRest(tree, weight) || `All: ${formatWeight(tree.total, weight)}`;
    } else {
      const [name, file, module] = this.trace.head.functions[tree.functions[node]];
      const share = formatPercent(tree.totals[node] / tree.total);
      this.caption.textContent = `${name}: ${formatWeight(tree.totals[node], weight)}, ${share}  ${file.split("/").at(-1) || module}`;
    }
  }

  /** The arrows go to the caller, to the heaviest callee and to the neighbours; Escape shows the whole graph. */
  #press(event) {
    if (!this.tree) return;
    const siblings = this.children[Math.max(0, this.tree.parents[this.root])];
    const place = siblings.indexOf(this.root);
    const next = {
      Escape: 0, Home: 0, ArrowUp: Math.max(0, this.tree.parents[this.root]), ArrowDown: this.children[this.root][0],
      ArrowRight: siblings[place + 1], ArrowLeft: siblings[place - 1],
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.focus(next);
  }
}

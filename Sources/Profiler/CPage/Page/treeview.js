import { childrenByNode } from "./calltree.js";
import { element, VirtualList } from "./elements.js";
import { describeRest, formatPercent, formatWeight } from "./format.js";

/** The number of levels that are open at first, along the heaviest path. */
const OPEN_LEVELS = 12;

/** The call tree of the selected events, as rows that open and close. */
export class TreeView {
  #rows = [];
  #open = new Set();

  constructor(host, trace) {
    Object.assign(this, { host, trace });
    const heads = ["Share", "Total", "Self", "Function"].map((title, index) =>
      element("div", { role: "columnheader", class: index < 3 ? "number" : "" }, title));
    this.scroller = element("div", { id: "tree-rows", class: "rows", role: "treegrid", tabindex: "0", "aria-label": "Call tree" },
      element("div", { class: "heads tree", role: "row", "aria-rowindex": 1 }, heads));
    this.empty = element("p", { class: "empty", hidden: true }, "No selected event has this weight.");
    this.note = element("p", { class: "caption", hidden: true });
    host.replaceChildren(this.note, this.scroller, this.empty);
    this.list = new VirtualList(this.scroller, 22, (index) => this.#makeRow(this.#rows[index]), () => {});
    this.scroller.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Shows a tree, with its heaviest path open. */
  show(tree, weight) {
    Object.assign(this, { tree, weight, children: childrenByNode(tree) });
    this.#open = new Set([0]);
    for (let node = 0, level = 0; level < OPEN_LEVELS && this.children[node].length > 0; level += 1) {
      node = this.children[node][0];
      this.#open.add(node);
    }
    this.empty.hidden = tree.total > 0;
    this.note.textContent = describeRest(tree, weight);
    this.note.hidden = this.note.textContent === "";
    this.#list();
  }

  #list(keepsPlace = false) {
    this.#rows = [];
    const add = (node, level) => {
      for (const child of this.children[node]) {
        this.#rows.push({ node: child, level });
        if (this.#open.has(child)) add(child, level + 1);
      }
    };
    add(0, 1);
    this.list.show(this.#rows.length, { keepsPlace });
  }

  #makeRow({ node, level }) {
    const { tree, weight } = this;
    const [name, file, module, part] = this.trace.head.functions[tree.functions[node]];
    const hasChildren = this.children[node].length > 0;
    const isOpen = this.#open.has(node);
    const bar = element("span", { class: "share-bar", "aria-hidden": "true" });
    bar.style.width = `${(tree.totals[node] / tree.total) * 100}%`;
    const label = element("div", { role: "gridcell", class: `function ${part}` },
      element("span", {
        class: "twist", "aria-hidden": "true", click: (event) => { event.stopPropagation(); this.#toggle(node); },
      }, hasChildren ? (isOpen ? "▾" : "▸") : ""), name, element("span", { class: "place" }, file.split("/").at(-1) || module));
    label.style.paddingLeft = `${(level - 1) * 12 + 4}px`;
    return element("div", {
      role: "row", class: "row tree", "aria-level": level, "aria-expanded": hasChildren ? isOpen : null,
      dblclick: () => this.#toggle(node),
    },
    element("div", { role: "gridcell", class: "number share" }, bar, formatPercent(tree.totals[node] / tree.total)),
    element("div", { role: "gridcell", class: "number" }, formatWeight(tree.totals[node], weight)),
    element("div", { role: "gridcell", class: "number" }, tree.owns[node] > 0 ? formatWeight(tree.owns[node], weight) : ""), label);
  }

  #toggle(node) {
    if (this.#open.has(node)) this.#open.delete(node); else this.#open.add(node);
    this.#list(true);
  }

  /** Right opens a row, and left closes it or goes to its caller. */
  #press(event) {
    const row = this.#rows[this.list.active];
    if (!row || !["ArrowRight", "ArrowLeft", "Enter", " "].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const isOpen = this.#open.has(row.node);
    if (event.key === "ArrowRight" ? !isOpen : event.key === "ArrowLeft" ? isOpen : true) this.#toggle(row.node);
    else if (event.key === "ArrowLeft") {
      const above = this.#rows.findIndex(({ node }) => node === this.tree.parents[row.node]);
      if (above >= 0) this.list.activate(above);
    }
  }
}

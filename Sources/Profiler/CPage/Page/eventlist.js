import { kindColours } from "./colours.js";
import { element, VirtualList } from "./elements.js";
import { formatCount, formatDuration, formatMilliseconds } from "./format.js";
import { lowerBound } from "./lanes.js";
import { entities } from "./selection.js";
import { DURATION_UNKNOWN } from "./trace.js";

/** The columns of the list: their keys, titles and widths, and whether they are numbers. */
const COLUMNS = [
  { key: "start", title: "Start (ms)", isNumber: true, width: "98px" }, { key: "duration", title: "Duration", isNumber: true, width: "74px" },
  { key: "kind", title: "Kind", width: "92px" }, { key: "entity", title: "Entity", width: "minmax(64px, .5fr)" },
  { key: "what", title: "What", width: "minmax(110px, 1.2fr)" }, { key: "rows", title: "Rows", isNumber: true, width: "52px" },
  { key: "caller", title: "Caller", width: "minmax(112px, 1fr)" }, { key: "thread", title: "Thread", width: "62px" },
];

/** The list of the selected events, in the columns of Instruments. */
export class EventList {
  rows = new Uint32Array();

  /** @param actions `select(row)`, and `sort(sort)` with a column and a direction. */
  constructor(host, trace, actions) {
    Object.assign(this, { host, trace, actions });
    this.sort = { column: "start", isDescending: false };
    // Statements of other programs are about no entity.
    this.columns = COLUMNS.filter(({ key }) => key !== "entity" || entities(trace).length > 0);
    this.heads = this.columns.map((column) => element("div", { role: "columnheader", class: column.isNumber ? "number" : "" },
      element("button", { type: "button", click: () => this.#sortBy(column) }, column.title)));
    this.scroller = element("div", {
      id: "event-rows", class: "rows", role: "grid", tabindex: "0", "aria-label": "Events", "aria-colcount": this.columns.length,
    }, element("div", { class: "heads", role: "row", "aria-rowindex": 1 }, this.heads));
    this.scroller.style.setProperty("--columns", this.columns.map(({ width }) => width).join(" "));
    this.empty = element("p", { class: "empty", hidden: true }, "No event meets all criteria.");
    host.replaceChildren(this.scroller, this.empty);
    this.list = new VirtualList(this.scroller, 24, (index) => this.#makeRow(this.rows[index]), (index) => {
      actions.select(this.rows[index]);
    });
    this.#markSort();
  }

  /** Shows rows, in the order of the list. */
  show(rows) {
    this.rows = rows;
    this.empty.hidden = rows.length > 0;
    this.list.show(rows.length);
  }

  /** Makes an event the active row, if it is among those shown. */
  activate(row) {
    if (row < 0) return this.list.activate(-1);
    const isInOrder = this.sort.column === "start" && !this.sort.isDescending;
    const index = isInOrder ? lowerBound(this.rows, row) : this.rows.indexOf(row);
    this.list.activate(this.rows[index] === row ? index : -1);
  }

  #sortBy({ key, isNumber }) {
    const isSame = this.sort.column === key;
    // The longest and the largest come first, but the earliest does.
    this.sort = { column: key, isDescending: isSame ? !this.sort.isDescending : isNumber === true && key !== "start" };
    this.#markSort();
    this.actions.sort(this.sort);
  }

  #markSort() {
    this.columns.forEach(({ key }, index) => {
      const order = key !== this.sort.column ? "none" : this.sort.isDescending ? "descending" : "ascending";
      this.heads[index].setAttribute("aria-sort", order);
    });
  }

  #makeRow(row) {
    const { trace } = this;
    const kind = trace.kindName(row);
    const mark = element("span", { class: "mark", "aria-hidden": "true" });
    mark.style.background = kindColours(trace, kind)[0];
    const remark = trace.remark(row);
    const rows = trace.rows(row);
    const texts = {
      start: formatMilliseconds(trace.start[row] - trace.head.span[0]),
      duration: trace.flags[row] & DURATION_UNKNOWN ? "–" : trace.duration[row] === 0 ? "" : formatDuration(trace.duration[row]),
      kind: [mark, kind], entity: trace.entityText(row),
      what: [trace.labelText(row), remark && element("span", { class: "remark" }, remark)],
      rows: rows === undefined ? "" : formatCount(rows), caller: fileAndLine(trace.siteText(row)),
      thread: trace.threadText(row),
    };
    const titles = { what: trace.labelText(row), caller: trace.siteText(row), thread: trace.threadNames[trace.thread[row]] };
    return element("div", { role: "row", class: "row" }, this.columns.map(({ key, isNumber }) =>
      element("div", { role: "gridcell", class: `${key}${isNumber ? " number" : ""}`, title: titles[key] || null }, texts[key])));
  }
}

/** A place such as `List.swift:42`, of which a narrow column cuts the file and not the line. */
function fileAndLine(text) {
  const colon = text.lastIndexOf(":");
  if (colon < 0) return text || "–";
  return [element("span", { class: "file" }, text.slice(0, colon)), text.slice(colon)];
}

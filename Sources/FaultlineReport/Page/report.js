import { Advice } from "./advice.js";
import { cacheChart, durationChart, growthChart } from "./charts.js";
import { Detail } from "./detail.js";
import { element, find } from "./elements.js";
import { EventList } from "./eventlist.js";
import { Filters } from "./filters.js";
import { FlameGraph } from "./flamegraph.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";
import { connectTabs, showHeader, showPanel } from "./page.js";
import { isWhole, wholeSelection } from "./selection.js";
import { hotspotTable, ruleTable } from "./tables.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";
import { TreeView } from "./treeview.js";
import { availableWeights, WEIGHTS } from "./weights.js";

/** The page of one trace: it joins the parts, and keeps what the reader has selected. */
export class ReportPage {
  #asked = 0;

  constructor() {
    this.number = 0;
    this.head = JSON.parse(find("head-0").textContent);
    this.selection = wholeSelection();
    this.selected = -1;
    this.treeOptions = { weight: "time", inverted: false, hidesLibraries: false };
  }

  /** What needs no events is shown at once. */
  showSummary() {
    const { data } = this.head;
    showHeader(data.program || "trace", data.facts, data.limits, this.#omitted());
    this.advice = new Advice(find("advice"), data, { follow: (index) => this.follow(index) });
    find("panel-hotspots").replaceChildren(hotspotTable(data.report));
    find("panel-rules").replaceChildren(ruleTable(data.report));
    connectTabs((name) => this.showPanel(name));
  }

  /** What the page leaves out. */
  #omitted() {
    const { omitted, eventCount } = this.head.data;
    if (!omitted) return [];
    return [[
      `The page shows the ${formatCount(eventCount - omitted.count)} longest of ${formatCount(eventCount)} events one by one. The others, of at most `
      + `${formatDuration(omitted.longest)} each, are summed in the tracks, and are missing from the list and the call tree. `
      + "Of samples and other events that take no time, an equal share is left out. "
      + "The findings and the hotspots rest on all events."]];
  }

  /** Reads the events, and shows what rests on them. */
  async open(assistant) {
    this.assistant = assistant;
    const base64 = find(`columns-${this.number}`).textContent;
    find("status").textContent = `Reading ${formatCounted(this.head.data.eventCount, "event")}…`;
    const { columns, lanes } = await assistant.ask("read", { number: this.number, head: this.head, base64 });
    this.trace = new Trace(this.head.data, columns);
    if (this.trace.count === 0) {
      find("status").textContent = "The trace has no events.";
      find("timeline").replaceChildren(element("p", { class: "empty" }, "There are no events to draw."));
      return;
    }
    this.timeline = new Timeline(find("timeline"), this.trace, lanes, {
      select: (row) => this.select(row), choose: (range) => this.choose(range),
    });
    this.list = new EventList(find("panel-events"), this.trace, {
      select: (row) => this.select(row, { fromList: true }), sort: () => this.refresh(),
    });
    this.detail = new Detail(find("detail"), this.trace, {
      select: (row) => this.go(row), filter: (criteria) => this.filter(criteria),
      zoom: (row) => this.timeline.reveal(this.trace.start[row], this.trace.end(row)),
    });
    this.tree = new TreeView(find("tree"), this.trace);
    this.flames = new FlameGraph(find("flames"), this.trace);
    this.filters = new Filters(this.trace, { filter: (criteria) => this.filter(criteria), clear: () => this.clear() });
    this.#buildTreeOptions();
    await this.refresh();
  }

  /** Redraws the canvases after a change of theme. */
  redraw() {
    this.timeline?.draw();
    this.flames?.draw();
  }

  // MARK: Selecting

  /** Selects an event, in the tracks, in the list and in the detail. */
  select(row, { fromList = false } = {}) {
    this.selected = row;
    this.timeline.selected = row;
    if (row < 0) {
      this.detail.clear();
      this.list.activate(-1);
    } else {
      this.detail.show(row);
      if (fromList) this.timeline.revealRow(row); else this.list.activate(row);
    }
    this.timeline.draw();
    find("announcement").textContent = row < 0 || fromList ? "" : this.trace.summary(row).join(", ");
  }

  /** Selects an event, and brings it into sight everywhere. */
  go(row) {
    if (row < 0) return;
    this.select(row);
    this.timeline.revealRow(row);
  }

  /** Filters everything below by a time range, or by none. */
  choose(range) {
    this.timeline.range = range;
    this.filter({ from: range?.from ?? null, to: range?.to ?? null });
    this.timeline.draw();
  }

  /** Shows the events that a finding rests on, or all with -1. */
  follow(index) {
    if (index >= this.head.data.findings.length) return;
    const next = this.selection.finding === index ? -1 : index;
    this.advice.mark(next);
    this.timeline.range = null;
    // All of its events, whatever else was selected before.
    this.filter({ ...wholeSelection(), finding: next }).then((isShown) => {
      if (isShown && next >= 0 && this.rows.length > 0) {
        const { trace, rows } = this;
        let end = 0;
        for (const row of rows) end = Math.max(end, trace.end(row));
        this.timeline.reveal(trace.start[rows[0]], end);
        this.showPanel("events");
      }
    });
  }

  /** Changes criteria of the selection. */
  filter(criteria) {
    Object.assign(this.selection, criteria);
    this.filters.show(this.selection);
    return this.refresh();
  }

  /** Finds the selected events again, and shows them everywhere. */
  async refresh() {
    const asked = (this.#asked += 1);
    document.body.dataset.pending = 1;
    const answer = await this.assistant.ask("select", {
      number: this.number, selection: this.selection, sort: this.list.sort,
    });
    // An answer to an earlier question is out of date.
    if (asked !== this.#asked) return false;
    const { rows, sorted, classes } = answer;
    this.rows = rows;
    this.classes = classes;
    this.timeline.marked = isWhole({ ...this.selection, from: null, to: null }) ? null : flags(this.trace.count, rows);
    this.timeline.draw();
    this.list.show(sorted);
    if (this.selected >= 0) this.list.activate(this.selected);
    find("status").textContent = isWhole(this.selection) ? "All events" : `${formatCounted(rows.length, "event")} selected`;
    this.#showDistribution();
    await this.refreshTree();
    document.body.dataset.pending = 0;
    return true;
  }

  async refreshTree() {
    const panel = document.querySelector("[role=tab][aria-selected=true]").dataset.panel;
    if (panel !== "tree" && panel !== "flames") return;
    const options = { ...this.treeOptions };
    document.body.dataset.pending = 1;
    const tree = await this.assistant.ask("tree", { number: this.number, options });
    this.tree.show(tree, options.weight);
    this.flames.show(tree, options.weight);
    document.body.dataset.pending = 0;
  }

  clear() {
    this.timeline.range = null;
    this.advice.mark(-1);
    return this.filter(wholeSelection());
  }

  /** Gives up one criterion: the range, then the finding, then all others. */
  giveUp() {
    if (this.timeline.range) return this.choose(null);
    if (this.selection.finding >= 0) return this.follow(this.selection.finding);
    if (!isWhole(this.selection)) return this.clear();
    return this.select(-1);
  }

  // MARK: Panels

  /** Shows one of the panels below the timeline. */
  showPanel(name) {
    showPanel(name);
    if (this.trace?.count > 0) this.refreshTree();
  }

  #buildTreeOptions() {
    const weights = availableWeights(this.trace);
    this.treeOptions.weight = weights[0] ?? "time";
    for (const panel of ["tree", "flames"]) {
      const select = element("select", {
        "aria-label": "Weight", change: ({ target }) => this.#setTree({ weight: target.value }),
      }, weights.map((weight) => element("option", { value: weight }, WEIGHTS[weight])));
      const box = (key, text) => element("label", {}, element("input", {
        type: "checkbox", "data-option": key, change: ({ target }) => this.#setTree({ [key]: target.checked }),
      }), ` ${text}`);
      find(`${panel}-options`).replaceChildren(
        select, box("inverted", panel === "tree" ? "Invert (bottom-up)" : "Invert"), box("hidesLibraries", "Hide system libraries"));
    }
  }

  #setTree(options) {
    Object.assign(this.treeOptions, options);
    for (const panel of ["tree", "flames"]) {
      const host = find(`${panel}-options`);
      host.querySelector("select").value = this.treeOptions.weight;
      for (const box of host.querySelectorAll("input")) box.checked = this.treeOptions[box.dataset.option];
    }
    this.refreshTree();
  }

  #showDistribution() {
    const chart = durationChart(this.classes);
    this.wholeCharts ??= this.#chartsOfAll();
    find("panel-charts").replaceChildren(
      element("section", {}, element("h3", {}, "Durations of the selected events"),
        chart ?? element("p", { class: "empty" }, "No selected event has a duration.")), ...this.wholeCharts);
  }

  /** The charts that rest on all events, whatever is selected. */
  #chartsOfAll() {
    const cache = cacheChart(this.trace);
    const growing = this.head.data.report.results.filter(({ growth }) => growth && growth.rows > 0)
      .sort((a, b) => b.growth.hundredfold.median - a.growth.hundredfold.median).slice(0, GROWING);
    return [
      growing.length > 0 && element("section", {}, element("h3", {}, "Fetches that grow with their table, of all events"), growing.map(growthChart)),
      cache && element("section", {}, element("h3", {}, "Row cache: share of all faults that it serves, by its size"), cache),
    ].filter(Boolean);
  }

  // MARK: Keyboard

  /** What the keys do; see `listenToKeys`. */
  get actions() {
    const { timeline } = this;
    if (!timeline) return {};
    return {
      zoom: (factor) => timeline.zoom(factor), pan: (share) => timeline.pan(share), choose: (range) => this.choose(range),
      step: (step) => this.go(timeline.neighbour(step)),
      zoomToSelection: () => {
        if (this.selected >= 0) timeline.reveal(this.trace.start[this.selected], this.trace.end(this.selected));
        else if (timeline.range) timeline.reveal(timeline.range.from, timeline.range.to);
      },
      goToCause: () => this.go(this.selected >= 0 ? this.trace.cause[this.selected] : -1),
      showAll: () => timeline.show(timeline.span.from, timeline.span.to),
      follow: (key) => this.follow(Number(key) - 1), search: () => find("search").focus(),
      clearSearch: () => this.filter({ text: "" }), giveUp: () => this.giveUp(),
    };
  }
}

/** The number of fetches whose growth is drawn, those first that would take longest. */
const GROWING = 4;

/** A flag for each row, 1 for those in `rows`. */
function flags(count, rows) {
  const flags = new Uint8Array(count);
  for (const row of rows) flags[row] = 1;
  return flags;
}

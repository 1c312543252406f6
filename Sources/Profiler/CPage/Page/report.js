import { readAddress, writeAddress } from "./address.js";
import { Advice } from "./advice.js";
import { ChartPanel } from "./chartpanel.js";
import { colourNamed } from "./colours.js";
import { Detail } from "./detail.js";
import { element, fill, find } from "./elements.js";
import { EventList } from "./eventlist.js";
import { Filters } from "./filters.js";
import { FlameGraph } from "./flamegraph.js";
import { formatCounted, formatDuration, formatPercent } from "./format.js";
import { connectTabs, omission, showHeader, showPanel } from "./page.js";
import { connectSplitters } from "./splitters.js";
import { describeSelection, isWhole, wholeSelection } from "./selection.js";
import { hotspotTable, ruleTable, selectedHotspotTable } from "./tables.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";
import { TreeOptions } from "./treeoptions.js";
import { TreeView } from "./treeview.js";

/** The page of one trace: it joins the parts, and keeps what the reader has selected. */
export class ReportPage {
  #asked = 0;

  constructor() {
    this.number = 0;
    this.head = JSON.parse(find("head-0").textContent);
    this.selection = wholeSelection();
    this.selected = -1;
    /** Whether the reader chose a range after an event. */
    this.isRangeLatest = false;
    /** The finding that the reader chose before the events were read, or -1. */
    this.awaited = -1;
  }

  /** Shows at once the parts that need no events. */
  showSummary() {
    const { data } = this.head;
    showHeader(data.program || "trace", data.facts, data.limits, omission(data));
    showTotals(data);
    this.advice = new Advice(find("advice"), data, data.eventCount > 0 ? { follow: (index) => this.follow(index) } : {});
    find("panel-hotspots").replaceChildren(hotspotTable(data.report));
    find("panel-rules").replaceChildren(ruleTable(data.report));
    connectTabs((name) => {
      this.showPanel(name);
      this.#remember();
    });
    connectSplitters();
    addEventListener("beforeprint", () => {
      for (const details of document.querySelectorAll("details.finding")) details.open = true;
    });
  }

  /** Reads the events, and shows what rests on them. */
  async open(assistant) {
    this.assistant = assistant;
    const base64 = find(`columns-${this.number}`).textContent;
    find("status").textContent = `Reading ${formatCounted(this.head.data.eventCount, "event")}…`;
    const { columns, lanes } = await assistant.ask("read", { number: this.number, head: this.head, base64 });
    this.trace = new Trace(this.head.data, columns);
    if (this.trace.count === 0) {
      // Controls without an effect and empty views would only raise questions.
      for (const id of ["filters", "panes", "tracks-splitter"]) find(id).hidden = true;
      const isProfile = this.head.data.report.totals.eventCount > 0;
      find("timeline").replaceChildren(element("p", { class: "empty" },
        isProfile ? "A profile has no single events, so there is no timeline." : "The trace has no events."));
      if (isProfile) this.#showSums();
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
      list: (criteria) => this.listOnly(criteria),
      zoom: (row) => this.timeline.reveal(this.trace.start[row], this.trace.end(row)),
    });
    this.tree = new TreeView(find("tree"), this.trace);
    this.flames = new FlameGraph(find("flames"), this.trace);
    this.filters = new Filters(this.trace, { filter: (criteria) => this.filter(criteria), clear: () => this.clear() });
    this.treeOptions = new TreeOptions([find("tree-options"), find("flames-options")], this.trace, () => this.refreshPanel());
    this.charts = new ChartPanel(find("panel-charts"), this.trace);
    this.#fitTimeline();
    await this.refresh();
    addEventListener("popstate", () => this.#restore());
    if (this.awaited >= 0) this.follow(this.awaited); else await this.#restore();
  }

  /** Gives the timeline the height of its tracks, if that is less than its share of the page. */
  #fitTimeline() {
    const needed = find("filters").offsetHeight + this.timeline.minimap.canvas.offsetHeight + this.timeline.height + 12;
    if (needed < find("tracks").offsetHeight) document.querySelector("main").style.setProperty("--tracks-height", `${needed}px`);
  }

  // MARK: - The page's address

  #isRestoring = false;

  /** Puts what the reader looks at into the page's address, so that the browser goes back to what came before. */
  #remember() {
    if (this.#isRestoring || !this.timeline) return;
    const address = writeAddress({
      finding: this.selection.finding, event: this.selected, range: this.timeline.range,
      panel: document.querySelector("[role=tab][aria-selected=true]").dataset.panel,
    });
    if (address !== location.hash) history.pushState(null, "", address || location.pathname);
  }

  /** Shows what the page's address says. */
  async #restore() {
    const { finding, event, range, panel } = readAddress(location.hash);
    this.#isRestoring = true;
    if (finding !== this.selection.finding) {
      if (finding >= 0 && finding < this.head.data.findings.length) await this.follow(finding); else await this.clear();
    }
    this.choose(range);
    if (event >= 0 && event < this.trace.count) this.go(event); else if (finding < 0) this.select(-1);
    if (find(`panel-${panel}`)) this.showPanel(panel);
    this.#isRestoring = false;
  }

  /** Leaves those panels that need no events. */
  #showSums() {
    find("panes").hidden = false;
    for (const name of ["events", "tree", "flames", "charts"]) find(`tab-${name}`).remove();
    this.showPanel("hotspots");
  }

  /** Redraws the canvases after a change of theme. */
  redraw() {
    showTotals(this.head.data);
    this.timeline?.draw();
    this.flames?.draw();
  }

  // MARK: - Selecting

  /** Selects an event, in the tracks, in the list and in the detail. */
  select(row, { fromList = false } = {}) {
    this.selected = row;
    this.isRangeLatest = false;
    this.timeline.selected = row;
    for (const id of ["detail", "detail-splitter"]) find(id).hidden = row < 0;
    this.#remember();
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
    this.isRangeLatest = range !== null;
    this.filter({ from: range?.from ?? null, to: range?.to ?? null });
    this.timeline.draw();
    this.#remember();
  }

  /** Shows the events that a finding rests on, or all with -1. */
  follow(index) {
    if (index >= this.head.data.findings.length) return;
    if (!this.timeline) {
      // The events are still being read.
      this.awaited = index;
      return this.advice.mark(index);
    }
    this.awaited = -1;
    const next = this.selection.finding === index ? -1 : index;
    return this.#selectOnly({ finding: next }).then((isShown) => {
      if (isShown && next >= 0 && this.rows.length > 0) {
        const { trace, rows } = this;
        let end = 0;
        for (const row of rows) end = Math.max(end, trace.end(row));
        this.timeline.reveal(trace.start[rows[0]], end);
        this.showPanel("events");
        // The event that was selected before may not belong to the finding.
        if (!rows.includes(this.selected)) this.select(rows[0]);
        find("tracks").scrollIntoView({ block: "nearest" });
      }
      this.#remember();
    });
  }

  /** Lists the events that meet some criteria. */
  async listOnly(criteria) {
    if (await this.#selectOnly(criteria)) this.showPanel("events");
  }

  /** Selects the events that meet some criteria, whatever else was selected before. */
  #selectOnly(criteria) {
    const selection = { ...wholeSelection(), ...criteria };
    this.timeline.range = null;
    this.advice.mark(selection.finding);
    return this.filter(selection);
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
    this.timeline.marked = isWhole({ ...this.selection, from: null, to: null }) ? null : flags(this.trace.count, rows);
    this.timeline.draw();
    this.list.show(sorted);
    if (this.selected >= 0) this.list.activate(this.selected);
    const criteria = describeSelection(this.trace, this.selection);
    find("status").textContent = [isWhole(this.selection) ? formatCounted(rows.length, "event") : `${formatCounted(rows.length, "event")} selected`, ...criteria].join(", ");
    find("status").title = find("status").textContent;
    this.charts.show(rows, classes);
    await this.refreshPanel();
    document.body.dataset.pending = 0;
    return true;
  }

  /** Fills the panel that is shown, if its contents take longer than others to find. */
  async refreshPanel() {
    const panel = document.querySelector("[role=tab][aria-selected=true]").dataset.panel;
    if (panel === "hotspots") return this.#showHotspots();
    if (panel !== "tree" && panel !== "flames") return;
    const { options } = this.treeOptions;
    document.body.dataset.pending = 1;
    const tree = await this.assistant.ask("tree", { number: this.number, options });
    this.tree.show(tree, options.weight);
    this.flames.show(tree, options.weight);
    document.body.dataset.pending = 0;
  }

  clear() { return this.#selectOnly({}); }

  /** Gives up one choice: the range, then the finding, then all filters, then the selected event. */
  giveUp() {
    if (this.timeline.range) return this.choose(null);
    if (this.selection.finding >= 0) return this.follow(this.selection.finding);
    if (!isWhole(this.selection)) return this.clear();
    return this.select(-1);
  }

  // MARK: - Panels

  /** Shows one of the panels below the timeline. */
  showPanel(name) {
    showPanel(name);
    if (this.trace?.count > 0) this.refreshPanel();
  }

  /** The hotspots of the selected events. Those of all are the report's, if the page lacks some events. */
  async #showHotspots() {
    const { omitted, report } = this.head.data;
    const panel = find("panel-hotspots");
    if (omitted && isWhole(this.selection)) return panel.replaceChildren(hotspotTable(report));
    const asked = this.#asked;
    document.body.dataset.pending = 1;
    const groups = await this.assistant.ask("hotspots", { number: this.number });
    if (asked !== this.#asked) return;
    const choose = (criteria) => {
      // The button that was pressed is replaced with its table.
      panel.focus();
      this.filter(criteria);
    };
    fill(panel, omitted && element("p", { class: "caption" }, "Of the events that the page shows one by one:"),
      selectedHotspotTable(this.trace, groups, choose));
    document.body.dataset.pending = 0;
  }

  // MARK: - Keyboard

  /** The actions of the keys; see `listenToKeys`. */
  get actions() {
    const { timeline } = this;
    if (!timeline) return {};
    return {
      zoom: (factor) => timeline.zoom(factor), pan: (share) => timeline.pan(share), choose: (range) => this.choose(range),
      step: (step) => this.go(timeline.neighbour(step)),
      zoomToSelection: () => {
        // The reader's last choice counts.
        const isEvent = this.selected >= 0 && !(this.isRangeLatest && timeline.range);
        if (isEvent) timeline.reveal(this.trace.start[this.selected], this.trace.end(this.selected));
        else if (timeline.range) timeline.reveal(timeline.range.from, timeline.range.to);
      },
      goToCause: () => this.go(this.selected >= 0 ? this.trace.cause[this.selected] : -1),
      showAll: () => timeline.show(timeline.span.from, timeline.span.to),
      follow: (key) => this.follow(Number(key) - 1), search: () => find("search").focus(),
      clearSearch: () => this.filter({ text: "" }), giveUp: () => this.giveUp(),
    };
  }
}

/** Shows the totals of the trace in words, and where its time went as a bar. */
function showTotals({ totals, time, kinds }) {
  find("totals").replaceChildren(...totals.map((text) => element("li", {}, text)));
  find("totals").hidden = totals.length === 0;
  find("time").hidden = time.parts.length === 0;
  const parts = time.parts.map(({ name, kind, time: own }) => {
    const part = element("span", { class: "part", title: `${name}: ${formatDuration(own)}` });
    part.style.width = `${(own / time.whole) * 100}%`;
    part.style.background = colourNamed(kinds.find((known) => known.name === kind)?.colour)[0];
    return { part, name, own };
  });
  fill(find("time"), element("div", { class: "split", role: "img", "aria-label": "Where the time went" }, parts.map(({ part }) => part)),
    element("p", { class: "legend" }, parts.map(({ part, name, own }) => {
      const mark = element("span", { class: "mark" });
      mark.style.background = part.style.background;
      return element("span", {}, mark, `${name} ${formatPercent(own / time.whole)}`);
    })));
}

/** A flag for each row, 1 for those in `rows`. */
function flags(count, rows) {
  const flags = new Uint8Array(count);
  for (const row of rows) flags[row] = 1;
  return flags;
}

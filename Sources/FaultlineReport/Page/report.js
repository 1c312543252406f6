import { Advice } from "./advice.js";
import { cacheChart, durationChart, growthChart } from "./charts.js";
import { Detail } from "./detail.js";
import { element, find } from "./elements.js";
import { EventList } from "./eventlist.js";
import { FlameGraph } from "./flamegraph.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";
import { listenToKeys } from "./keys.js";
import { connectTabs, showHeader, showPanel } from "./page.js";
import { entities, isWhole, wholeSelection } from "./selection.js";
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
    this.#showHotspots();
    this.#showRules();
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
      select: (row) => this.select(row), filter: (criteria) => this.filter(criteria),
      zoom: (row) => this.timeline.reveal(this.trace.start[row], this.trace.end(row)),
    });
    this.tree = new TreeView(find("tree"), this.trace);
    this.flames = new FlameGraph(find("flames"), this.trace);
    this.#buildFilters();
    this.#buildTreeOptions();
    await this.refresh();
    listenToKeys(() => this.timeline, this.actions);
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
    this.#showFilters();
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

  // MARK: Filters

  #buildFilters() {
    const { trace } = this;
    const option = (value, text) => element("option", { value }, text);
    const fill = (id, first, entries, key) => {
      find(id).replaceChildren(option("", first), ...entries.map(([value, text]) => option(value, text)));
      find(id).addEventListener("change", (event) => this.filter({ [key]: Number(event.target.value) || 0 }));
    };
    const kinds = trace.head.kinds.filter(({ number }) => trace.kindCounts[number] > 0);
    find("filter-kind").replaceChildren(option("", "All kinds"), ...kinds.map(({ number, name }) => option(number, name)));
    find("filter-kind").addEventListener("change", ({ target }) => {
      this.filter({ kinds: target.value === "" ? [] : [Number(target.value)] });
    });
    fill("filter-entity", "All entities", entities(trace), "entity");
    find("filter-entity").hidden = find("filter-entity").options.length < 2;
    fill("filter-thread", "All threads", trace.threadNames.map((name, number) => [number, name]).slice(1), "thread");
    find("filter-thread").hidden = trace.head.threads.length < 3;
    fill("filter-site", "All lines", [...new Map(trace.head.sites.map((site, number) => [site[3], number]).slice(1))]
      .map(([text, number]) => [number, text]).sort((a, b) => a[1].localeCompare(b[1], undefined, { numeric: true })), "site");
    const durations = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    fill("filter-duration", "Any duration", durations.map((time) => [time, `at least ${formatDuration(time)}`]), "leastDuration");
    let timer = 0;
    find("search").addEventListener("input", ({ target }) => {
      clearTimeout(timer);
      document.body.dataset.pending = 1;
      this.selection.text = target.value;
      timer = setTimeout(() => this.filter({}), 120);
    });
    find("filters").addEventListener("submit", (event) => event.preventDefault());
    find("clear").addEventListener("click", () => {
      // The button is disabled when there is nothing to clear, and would lose the focus.
      find("search").focus();
      this.clear();
    });
  }

  /** Shows the selection in the controls. */
  #showFilters() {
    const { selection } = this;
    find("filter-kind").value = selection.kinds[0] ?? "";
    find("filter-entity").value = selection.entity || "";
    find("filter-thread").value = selection.thread || "";
    find("filter-site").value = this.#siteOption(selection.site);
    find("filter-duration").value = selection.leastDuration || "";
    if (find("search").value !== selection.text) find("search").value = selection.text;
    find("clear").disabled = isWhole(selection);
  }

  /** The option of a line, which several sites can share. */
  #siteOption(number) {
    const text = this.trace.head.sites[number][3];
    return [...find("filter-site").options].find((option) => option.text === text && option.value !== "")?.value ?? "";
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

  #showHotspots() {
    const { groups } = this.head.data.report;
    const columns = ["Kind", "What", "Count", "p50", "p99", "Rows", "Total", "Call site"];
    const isNumber = (index) => index >= 2 && index <= 6;
    const operations = groups.filter(({ kind }) => kind !== "sql" && kind !== "cacheMiss");
    const shown = operations.every(({ kind }) => kind === "wait") ? groups : operations;
    find("panel-hotspots").replaceChildren(element("table", { class: "hotspots" },
      element("thead", {}, element("tr", {}, columns.map((title, index) =>
        element("th", { scope: "col", class: isNumber(index) ? "number" : "" }, title)))),
      element("tbody", {}, shown.slice(0, 200).map((group) => {
        const { durations } = group;
        const kind = { rowCache: "fault (cached)", gone: "fault (gone)" }[group.source] ?? group.kind;
        const cells = [
          kind, group.subject, formatCount(durations.count + (group.untimed ?? 0)), formatDuration(durations.p50),
          formatDuration(durations.p99), formatCount(group.counts.rows), formatDuration(durations.total), group.site?.text ?? "–",
        ];
        return element("tr", {}, cells.map((text, index) => element("td", { class: isNumber(index) ? "number" : "" }, text)));
      }))));
  }

  #showRules() {
    const { checks } = this.head.data.report;
    const state = (check) => {
      if (!check.isApplicable) return `not applicable: the trace lacks ${check.missing.join(", ")}`;
      if (check.findings > 0) return formatCounted(check.findings, "finding");
      return check.examined ? "nothing found" : "nothing to examine";
    };
    find("panel-rules").replaceChildren(element("table", { class: "hotspots" },
      element("thead", {}, element("tr", {}, ["Rule", "Examined", "Result"].map((title) => element("th", { scope: "col" }, title)))),
      element("tbody", {}, checks.filter(({ rule }) => rule !== "R24").map((check) => element("tr", {},
        element("td", {}, `${check.rule} ${check.name}`), element("td", {}, check.examined ?? ""),
        element("td", {}, state(check), check.obstacles.map((text) => element("p", { class: "obstacle" }, text))))))));
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
      growing.length > 0 && element("section", {}, element("h3", {}, "Fetches that grow with their table"), growing.map(growthChart)),
      cache && element("section", {}, element("h3", {}, "Row cache: share of faults that it serves, by its size"), cache),
    ].filter(Boolean);
  }

  // MARK: Keyboard

  /** What the keys do; see `listenToKeys`. */
  get actions() {
    return {
      step: (step) => {
        const row = this.timeline.neighbour(step);
        if (row >= 0) {
          this.select(row);
          this.timeline.revealRow(row);
        }
      },
      zoomToSelection: () => {
        const { range } = this.timeline;
        if (this.selected >= 0) this.timeline.reveal(this.trace.start[this.selected], this.trace.end(this.selected));
        else if (range) this.timeline.reveal(range.from, range.to);
      },
      goToCause: () => {
        const cause = this.selected >= 0 ? this.trace.cause[this.selected] : -1;
        if (cause >= 0) {
          this.select(cause);
          this.timeline.revealRow(cause);
        }
      },
      showAll: () => this.timeline.show(this.timeline.span.from, this.timeline.span.to),
      follow: (index) => this.follow(index), search: () => find("search").focus(), clearSearch: () => this.filter({ text: "" }),
      giveUp: () => this.giveUp(),
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

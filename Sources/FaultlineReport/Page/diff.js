import { findingCard } from "./advice.js";
import { element, find } from "./elements.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";
import { listenToKeys } from "./keys.js";
import { connectTabs, showHeader, showPanel } from "./page.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";

const STATES = { new: "New", stayed: "Still there", gone: "Fixed" };

/** The page of two traces: their tracks one above the other, and what changed between them. */
export class DiffPage {
  constructor() {
    this.heads = [0, 1].map((number) => JSON.parse(find(`head-${number}`).textContent));
    this.document = JSON.parse(find("document").textContent);
    this.timelines = [];
  }

  showSummary() {
    const [before, after] = this.heads.map(({ data }) => data);
    showHeader(`${before.program || "trace"} and ${after.program || "trace"}`, this.document.remarks.join(" "));
    this.#showTotals();
    this.#showFindings();
    this.#showOperations();
    this.#showPlans();
    connectTabs(showPanel);
  }

  /** Reads the events of both traces, and draws their tracks at the same scale. */
  async open(assistant) {
    const longest = Math.max(...this.heads.map(({ data }) => data.span[1] - data.span[0]));
    for (const [number, head] of this.heads.entries()) {
      const base64 = find(`columns-${number}`).textContent;
      const { columns, lanes } = await assistant.ask("read", { number, head, base64 });
      const trace = new Trace(head.data, columns);
      find(`facts-${number}`).textContent = head.data.facts;
      const timeline = new Timeline(find(`timeline-${number}`), trace, lanes, {
        select: (row) => this.#select(number, row), choose: () => {}, move: () => this.#follow(number),
      }, longest);
      this.timelines.push(timeline);
    }
    listenToKeys(() => this.timelines[0], {
      step: () => {}, zoomToSelection: () => {}, goToCause: () => {}, follow: () => {}, search: () => {},
      showAll: () => this.timelines[0].show(this.timelines[0].span.from, this.timelines[0].span.to), giveUp: () => this.#select(0, -1),
    });
    find("status").textContent = "";
  }

  redraw() { for (const timeline of this.timelines) timeline.draw(); }

  /** Shows the same part of the other trace. */
  #follow(number) {
    if (this.isFollowing || this.timelines.length < 2) return;
    this.isFollowing = true;
    const [moved, other] = [this.timelines[number], this.timelines[1 - number]];
    const from = other.span.from + moved.view.from - moved.span.from;
    other.show(from, from + moved.view.to - moved.view.from);
    this.isFollowing = false;
  }

  /** Selects an event, and says what it is. */
  #select(number, row) {
    this.timelines.forEach((timeline, other) => {
      timeline.selected = other === number ? row : -1;
      timeline.draw();
    });
    const { trace } = this.timelines[number];
    find("status").textContent = row < 0 ? "" : [
      trace.kindName(row), trace.labelText(row), formatDuration(trace.duration[row]), trace.siteText(row),
    ].filter(Boolean).join("  ");
  }

  #showTotals() {
    find("totals").replaceChildren(element("table", { class: "hotspots" },
      element("thead", {}, element("tr", {}, ["", "Before", "After", "Change"].map((title, index) =>
        element(title ? "th" : "td", { scope: title ? "col" : null, class: index > 0 ? "number" : "" }, title)))),
      element("tbody", {}, this.document.totals.map(([name, ...values]) => element("tr", {},
        element("th", { scope: "row" }, name), values.map((value) => element("td", { class: "number" }, value)))))));
  }

  #showFindings() {
    const { findings, rules } = this.document;
    const count = (state) => findings.filter((change) => change.state === state).length;
    const parts = Object.entries(STATES).filter(([state]) => count(state) > 0).map(([state, name]) => `${name}: ${count(state)}`);
    find("advice").replaceChildren(
      element("h2", {}, "Findings"), element("p", { class: "lead" }, parts.length > 0 ? `${parts.join(", ")}.` : "Neither trace has a finding."),
      element("ol", { class: "cards" }, findings.map(({ state, finding }, index) =>
        findingCard({ findings: [], rules, sources: this.heads[1].data.sources }, finding, index, { state: [state, STATES[state] ?? state] }))));
  }

  #showOperations() {
    const { operations, verdicts } = this.document;
    const numbers = (side) => side === null ? ["–", "–", "–"]
      : [formatCount(side.count), formatDuration(side.median), formatDuration(side.total)];
    const table = ([verdict, title]) => {
      const shown = operations.filter((operation) => operation.verdict === verdict);
      if (shown.length === 0) return null;
      const titles = ["Kind", "What", "Count before", "after", "Median before", "after", "Total before", "after", "Changes", "Call site"];
      const isNumber = (index) => index >= 2 && index <= 7;
      return element("section", {}, element("h3", { class: `verdict ${verdict}` }, `${title} (${shown.length})`),
        element("table", { class: "hotspots" }, element("thead", {}, element("tr", {}, titles.map((title, index) =>
          element("th", { scope: "col", class: isNumber(index) ? "number" : "" }, title)))),
        element("tbody", {}, shown.slice(0, 200).map((operation) => {
          const [before, after] = [numbers(operation.before), numbers(operation.after)];
          const cells = [
            operation.kind, operation.subject, ...[0, 1, 2].flatMap((index) => [before[index], after[index]]),
            operation.changes.map(([name, before, after, change]) => `${name} ${before} → ${after}${change ? ` (${change})` : ""}`).join(", ")
              || (operation.time && operation.time !== "same" ? operation.time : ""),
            operation.site ?? "–",
          ];
          return element("tr", {}, cells.map((text, index) => element("td", { class: isNumber(index) ? "number" : "" }, text)));
        }))));
    };
    const same = operations.filter(({ verdict }) => verdict === "same").length;
    find("panel-operations").replaceChildren(...verdicts.map(table).filter(Boolean),
      element("p", { class: "empty" }, `${formatCounted(same, "operation")} did not change.`));
  }

  #showPlans() {
    const { plans } = this.document;
    find("panel-plans").replaceChildren(...(plans.length === 0
      ? [element("p", { class: "empty" }, "SQLite ran all statements by the same plans.")]
      : plans.map((plan) => element("section", {}, element("h3", {}, plan.shape || plan.statement),
        element("p", {}, plan.site ?? ""), ["before", "after"].map((side) => [
          element("h4", {}, side), element("pre", { class: "plan", tabindex: "0" }, plan[side].join("\n"))])))));
  }
}

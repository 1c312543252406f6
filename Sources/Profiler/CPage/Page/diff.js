import { findingCard } from "./advice.js";
import { element, find } from "./elements.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";
import { connectTabs, omission, showHeader, showPanel } from "./page.js";
import { table } from "./tables.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";

const NAMES = ["Before", "After"];
const STATES = { new: "New", still: "Still there", gone: "Fixed" };

/** The page of two traces: their tracks one above the other, and what changed between them. */
export class DiffPage {
  constructor() {
    this.heads = [0, 1].map((number) => JSON.parse(find(`head-${number}`).textContent));
    this.document = JSON.parse(find("document").textContent);
    this.timelines = [];
    /** The number of the timeline in which an event was selected last. */
    this.current = 0;
  }

  showSummary() {
    const [before, after] = this.heads.map(({ data }) => data);
    const limits = this.heads.flatMap(({ data }, number) =>
      [...data.limits, ...omission(data)].map((limit) => [`${NAMES[number]}: `, ...limit]));
    showHeader(`${before.program || "trace"} and ${after.program || "trace"}`, this.document.remarks.join(" "), limits);
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
        select: (row) => this.#select(number, row), move: () => this.#follow(number),
      }, { name: NAMES[number], length: longest });
      this.timelines.push(timeline);
    }
    find("status").textContent = "";
  }

  /** The actions of the keys; see `listenToKeys`. Both timelines follow the first one. */
  get actions() {
    const [timeline] = this.timelines;
    if (!timeline) return {};
    return {
      zoom: (factor) => timeline.zoom(factor), pan: (share) => timeline.pan(share),
      step: (step) => this.#step(step),
      showAll: () => timeline.show(timeline.span.from, timeline.span.to), giveUp: () => this.#select(0, -1),
    };
  }

  /** Goes along a track of the timeline that has the focus, or else of the one with the selected event. */
  #step(step) {
    const focused = this.timelines.findIndex((timeline) => timeline.host.contains(document.activeElement));
    const number = focused >= 0 ? focused : this.current;
    const row = this.timelines[number].neighbour(step);
    if (row < 0) return;
    this.#select(number, row);
    this.timelines[number].revealRow(row);
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
    if (row >= 0) this.current = number;
    find("status").textContent = row < 0 ? "" : this.timelines[number].trace.summary(row).join("  ");
  }

  #showTotals() {
    find("totals").replaceChildren(table(["", "Before", "After", "Change"], this.document.totals, (index) => index > 0));
  }

  #showFindings() {
    const { findings, rules } = this.document;
    const count = (state) => findings.filter((change) => change.state === state).length;
    const parts = Object.entries(STATES).filter(([state]) => count(state) > 0).map(([state, name]) => `${name}: ${count(state)}`);
    find("advice").replaceChildren(
      element("h2", {}, "Findings"), element("p", { class: "lead" }, parts.length > 0 ? `${parts.join(", ")}.` : "Neither trace has a finding."),
      element("ol", { class: "cards" }, findings.map(({ state, finding }, index) =>
        findingCard({ findings: [], rules, sources: this.heads[state === "gone" ? 0 : 1].data.sources }, finding, index, { state: [state, STATES[state]] }))));
  }

  #showOperations() {
    const { operations, verdicts } = this.document;
    const numbers = (side) => side === null ? ["–", "–", "–"]
      : [formatCount(side.count), formatDuration(side.median), formatDuration(side.total)];
    const titles = ["Kind", "What", "Count before", "after", "Median before", "after", "Total before", "after", "Changes", "Call site"];
    const change = ([name, before, after, change]) => `${name} ${before} → ${after}${change ? ` (${change})` : ""}`;
    const cells = (operation) => {
      const [before, after] = [numbers(operation.before), numbers(operation.after)];
      return [
        operation.kind, operation.subject, ...[0, 1, 2].flatMap((index) => [before[index], after[index]]),
        operation.changes.map(change).join(", ") || (operation.time && operation.time !== "same" ? operation.time : ""),
        operation.site ?? "–",
      ];
    };
    const section = ([verdict, title]) => {
      const shown = operations.filter((operation) => operation.verdict === verdict);
      return shown.length > 0 && element("section", {}, element("h3", { class: `verdict ${verdict}` }, `${title} (${shown.length})`),
        table(titles, shown.map(cells), (index) => index >= 2 && index <= 7));
    };
    const same = operations.filter(({ verdict }) => verdict === "same").length;
    find("panel-operations").replaceChildren(...verdicts.map(section).filter(Boolean),
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

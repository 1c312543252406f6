import { element } from "./elements.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";

// Tables of what the report says.

/** The number of rows that a table shows at most. */
const MOST_ROWS = 200;

/** A table. @param isNumber Returns whether a column, by its index, has numbers. */
export function table(titles, rows, isNumber = () => false) {
  const look = (index) => ({ class: isNumber(index) ? "number" : null });
  return element("table", { class: "hotspots" },
    element("thead", {}, element("tr", {}, titles.map((title, index) =>
      element(title ? "th" : "td", { scope: title ? "col" : null, ...look(index) }, title)))),
    element("tbody", {}, rows.slice(0, MOST_ROWS).map((cells) =>
      element("tr", {}, cells.map((cell, index) => element("td", look(index), cell))))));
}

/** The groups of equal operations, those first that took longest. */
export function hotspotTable({ groups }) {
  const operations = groups.filter(({ kind }) => kind !== "sql" && kind !== "cacheMiss");
  const shown = operations.every(({ kind }) => kind === "wait") ? groups : operations;
  const rows = shown.map(({ durations, kind, source, subject, untimed, counts, site }) => [
    { rowCache: "fault (cached)", gone: "fault (gone)" }[source] ?? kind, subject, formatCount(durations.count + (untimed ?? 0)),
    formatDuration(durations.p50), formatDuration(durations.p99), formatCount(counts.rows), formatDuration(durations.total),
    site?.text ?? "–",
  ]);
  return table(["Kind", "What", "Count", "p50", "p99", "Rows", "Total", "Call site"], rows, (index) => index >= 2 && index <= 6);
}

/** The rules, with what each examined and found. */
export function ruleTable({ checks }) {
  const state = (check) => {
    if (!check.isApplicable) return `not applicable: the trace lacks ${check.missing.join(", ")}`;
    if (check.findings > 0) return formatCounted(check.findings, "finding");
    return check.examined ? "nothing found" : "nothing to examine";
  };
  return table(["Rule", "Examined", "Result"], checks.filter(({ rule }) => rule !== "R24").map((check) => [
    `${check.rule} ${check.name}`, check.examined ?? "",
    [state(check), check.obstacles.map((text) => element("p", { class: "obstacle" }, text))],
  ]));
}

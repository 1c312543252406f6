import { element } from "./elements.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";
import { withoutParts } from "./hotspots.js";

// Tables of the report's contents.

/** The number of rows that a table shows at most. */
const MOST_ROWS = 200;

/** A table. @param isNumber Returns whether a column, by its index, has numbers. */
export function table(titles, rows, isNumber = () => false) {
  const look = (index) => ({ class: isNumber(index) ? "number" : null });
  const more = rows.length - MOST_ROWS;
  return element("div", {}, element("table", { class: "hotspots" },
    element("thead", {}, element("tr", {}, titles.map((title, index) =>
      element(title ? "th" : "td", { scope: title ? "col" : null, ...look(index) }, title)))),
    element("tbody", {}, rows.slice(0, MOST_ROWS).map((cells) =>
      element("tr", {}, cells.map((cell, index) => element("td", look(index), cell)))))),
  more > 0 && element("p", { class: "more" }, `And ${formatCount(more)} more.`));
}

const HOTSPOT_TITLES = ["Kind", "What", "Count", "p50", "p99", "Rows", "Total", "Call site"];

/** The operations of a whole trace that are alike, as the report has them. */
export function hotspotTable({ groups }) {
  return table(HOTSPOT_TITLES, withoutParts(groups).map(({ durations, kind, source, subject, untimed, counts, site }) => [
    { rowCache: "fault (cached)", gone: "fault (gone)" }[source] ?? kind, subject,
    ...figures({ ...durations, count: durations.count + (untimed ?? 0), rows: counts.rows }), site?.text ?? "–",
  ]), isFigure);
}

/** The operations among some events that are alike. @param choose Called with the criteria for those of a row. */
export function selectedHotspotTable(trace, groups, choose) {
  return table(HOTSPOT_TITLES, groups.map((group) => [
    group.remark ? `${group.kind} (${group.remark})` : group.kind,
    element("button", {
      type: "button", class: "link",
      click: () => choose({ operation: { key: group.key, text: `${group.kind} ${trace.head.strings[group.label]}` } }),
    }, trace.head.strings[group.label]),
    ...figures(group), trace.head.sites[group.site][3] || "–",
  ]), isFigure);
}

function figures({ count, p50, p99, rows, total }) {
  return [formatCount(count), formatDuration(p50), formatDuration(p99), formatCount(rows), formatDuration(total)];
}

function isFigure(column) { return column >= 2 && column <= 6; }

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

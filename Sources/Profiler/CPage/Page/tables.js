import { element } from "./elements.js";
import { formatCount, formatCounted, formatDuration, formatPercent } from "./format.js";
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

/** The columns of hotspots: a title, and the number by which a click on it sorts. */
const HOTSPOT_COLUMNS = [
  ["Share", ({ total }) => total], ["Kind"], ["What"], ["Count", ({ count }) => count], ["p50", ({ p50 }) => p50], ["p99", ({ p99 }) => p99],
  ["Rows", ({ rows }) => rows], ["Total", ({ total }) => total], ["Call site"],
];

/** The operations of a whole trace that are alike, as the report has them. */
export function hotspotTable({ groups }) {
  return sortableHotspots(withoutParts(groups).map(({ durations, kind, source, subject, untimed, counts, site }) => ({
    ...durations, count: durations.count + (untimed ?? 0), rows: counts.rows,
    kind: { rowCache: "fault (cached)", gone: "fault (gone)" }[source] ?? kind, what: subject, site: site?.text ?? "–",
  })));
}

/** The operations among some events that are alike. @param choose Called with the criteria for those of a row. */
export function selectedHotspotTable(trace, groups, choose) {
  return sortableHotspots(groups.map((group) => ({
    ...group, kind: group.remark ? `${group.kind} (${group.remark})` : group.kind, site: trace.head.sites[group.site][3] || "–",
    what: element("button", {
      type: "button", class: "link", title: trace.head.strings[group.label],
      click: () => choose({ operation: { key: group.key, text: `${group.kind} ${trace.head.strings[group.label]}` } }),
    }, trace.head.strings[group.label]),
  })));
}

/** A table of operations with their shares as bars, which a click on a title sorts by its numbers. */
function sortableHotspots(entries) {
  const all = entries.reduce((sum, { total }) => sum + total, 0);
  const host = element("div", {});
  const show = (column) => {
    const [, key] = HOTSPOT_COLUMNS[column];
    const sorted = entries.toSorted((a, b) => key(b) - key(a));
    const titles = HOTSPOT_COLUMNS.map(([title, key], index) => key === undefined ? title : element("button", {
      type: "button", "aria-label": `Sort by ${title}`,
      click: () => {
        show(index);
        host.querySelectorAll("thead th")[index].querySelector("button").focus();
      },
    }, title));
    host.replaceChildren(table(titles, sorted.map(({ kind, what, count, p50, p99, rows, total, site }) => [
      shareBar(total / Math.max(1, all)), kind, what, formatCount(count), formatDuration(p50), formatDuration(p99), formatCount(rows),
      formatDuration(total), site,
    ]), isFigure));
    host.querySelectorAll("thead th").forEach((head, index) => {
      if (HOTSPOT_COLUMNS[index][1]) head.setAttribute("aria-sort", index === column ? "descending" : "none");
    });
  };
  show(0);
  return host;
}

function shareBar(share) {
  const bar = element("span", { class: "share-bar", "aria-hidden": "true" });
  bar.style.width = `${Math.min(1, share) * 100}%`;
  return element("span", { class: "share" }, bar, formatPercent(share));
}

function isFigure(column) { return column === 0 || (column >= 3 && column <= 7); }

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

import { batchCurveChart } from "./charts.js";
import { element, fill } from "./elements.js";
import { formatCount, formatCounted, formatDuration, formatPercent, formatSize, spelledOut, withVisibleDirections } from "./format.js";
import { sourceExcerpt } from "./source.js";

/** The findings as cards: what to change, why, the code to paste, and what it saves. */
export class Advice {
  /**
   * @param head The description of a trace. @param actions `follow(index)`, called for a finding to show the events that it rests
   *   on, or all events again if it shows them already. Without it, there are no events to show.
   */
  constructor(host, head, actions) {
    Object.assign(this, { host, head, actions });
    this.cards = head.findings.map((finding, index) => findingCard(head, finding, index, { follow: actions.follow }));
    const serious = head.findings.filter(({ finding }) => finding.severity !== "note").length;
    fill(host,
      element("h2", {}, "What to change"),
      element("p", { class: "lead" }, this.#lead(serious)),
      element("ol", { class: "cards findings" }, this.cards),
      unexplained(head.report.unexplained));
  }

  #lead(serious) {
    const { findings } = this.head;
    if (findings.length === 0) return "No rule found anything to change. The list of rules says what each of them examined.";
    const notes = findings.length - serious;
    const parts = [serious > 0 && formatCounted(serious, "finding"), notes > 0 && formatCounted(notes, "note")].filter(Boolean);
    return `${parts.join(" and ")}, by severity and then by what they save.`;
  }

  /** Marks the finding whose events are shown, or none with -1. */
  mark(index) {
    this.cards.forEach((card, position) => {
      const isShown = position === index;
      card.classList.toggle("chosen", isShown);
      card.querySelector(".follow")?.setAttribute("aria-pressed", isShown);
      if (!isShown) return;
      card.querySelector("details").open = true;
      card.scrollIntoView({ block: "nearest" });
    });
  }
}

/** The work that takes much of the run, and that no finding explains. */
function unexplained(works) {
  if (works.length === 0) return null;
  return [
    element("h2", {}, "Not explained"),
    element("p", { class: "lead" }, "These operations take much of the time, and no rule explains why."),
    element("ul", { class: "cards" }, works.map(({ group, otherSites, explanation }) => element("li", { class: "card unexplained" },
      element("h3", {}, group.kind === "sql" ? group.subject : `${group.kind} ${group.subject}`),
      element("p", { class: "where" }, [group.site, ...otherSites].slice(0, 4).flatMap((site, index) => [
        index > 0 && ", ", element("code", {}, site?.text ?? "call site unknown")]),
        otherSites.length > 3 && ` and ${formatCount(otherSites.length - 3)} more`),
      element("p", {}, explanation.join(" "))))),
  ];
}

/**
 * The card of a finding: a line with the change, the place and what it saves, which unfolds. The first one is unfolded.
 *
 * @param head What the page knows of rules and sources. @param options `follow(index)` to show its events, if the page has them;
 *   `state`, a class and a word for a finding that two traces are compared by.
 */
export function findingCard(head, entry, index, { follow, state }) {
  const { finding } = entry;
  const place = finding.change?.text ?? "call site unknown";
  const canFollow = follow && index < MARKED_FINDINGS;
  const summary = element("summary", {},
    element("div", { class: "card-head" },
      state && element("span", { class: `state ${state[0]}` }, state[1]),
      element("span", { class: `severity ${finding.severity}` }, finding.severity),
      finding.share >= 0.005 && element("span", { class: "run-share" }, `${formatPercent(finding.share)} of the run`),
      shortSaving(finding.saving),
      element("span", { class: "rule", title: finding.ruleName }, finding.rule)),
    element("h3", {}, `${index + 1}. `, sentence(entry.title), "."),
    element("p", { class: "where" }, "Change ", element("code", {}, place)));
  return element("li", { class: `card ${finding.severity}`, id: `finding-${index + 1}` },
    element("details", { class: "finding", open: index === 0 }, summary,
      finding.change && sourceExcerpt(head.sources, finding.change, 2),
      entry.explanation.map((words) => element("p", {}, sentence(words))),
      seenAt(finding),
      finding.batchCurve && batchCurveChart(finding.batchCurve),
      finding.code.length > 0 ? codeToWrite(finding.code, entry.language) : element("p", { class: "fix" }, "→ ", sentence(entry.fix)),
      entry.alternatives.map((words) => element("p", { class: "alternative" }, "or: ", sentence(words))),
      entry.saving && element("p", { class: "saving" }, entry.saving),
      entry.measured && element("div", { class: "measured" },
        element("p", {}, entry.measured.outcome === "not tried" ? "Not tried:" : ["Measured: ", element("strong", {}, entry.measured.outcome)]),
        entry.measured.sentences.map((text) => element("p", {}, text))),
      entry.reservations.map((words) => element("p", { class: "reservation" }, sentence(words))),
      element("div", { class: "buttons" },
        canFollow && element("button", { type: "button", class: "follow", "aria-pressed": false, click: () => follow(index) }, "Show its events"),
        finding.code.length > 0 && copyButton(finding.code.join("\n"))),
      aboutRule(head.rules, finding, entry)));
}

/** The largest part of a saving, in two words. */
function shortSaving({ time, trips, memory }) {
  const part = time?.median > 0 ? formatDuration(time.median) : trips > 0 ? formatCounted(trips, "trip") : memory > 0 ? formatSize(memory) : "";
  return part && element("span", { class: "short-saving" }, `saves ${part}`);
}

function seenAt(finding) {
  const places = finding.seenAt.filter(({ site }) => site && site.text !== finding.change?.text);
  if (places.length === 0) return null;
  return element("p", { class: "seen" }, "Observed at ", places.slice(0, 3).flatMap(({ site, count, time }, index) => [
    index > 0 && ", ", element("code", {}, site.text), ` (${formatCount(count)}×${time > 0 ? `, ${formatDuration(time)}` : ""})`,
  ]), places.length > 3 && ` and ${formatCount(places.length - 3)} more`, ".");
}

function codeToWrite(lines, language) {
  return element("pre", { class: "code to-write", tabindex: "0", "aria-label": `Code to write${language ? ` in ${language}` : ""}` },
    withVisibleDirections(lines.join("\n")));
}

function copyButton(text) {
  return element("button", {
    type: "button", class: "copy",
    click: async (event) => {
      const button = event.currentTarget;
      await navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; }, () => { button.textContent = "Select it to copy"; });
    },
  }, "Copy the code");
}

/** The rule's description, on demand. */
function aboutRule(rules, finding, entry) {
  const rule = rules.find((rule) => rule.id === finding.rule);
  if (!rule) return null;
  return element("details", {}, element("summary", {}, `${finding.ruleName}: why, and how sure`),
    finding.code.length > 0 && element("p", {}, sentence(entry.fix)),
    element("p", {}, rule.trigger), element("p", {}, rule.evidence), element("p", {}, rule.saving),
    finding.evidence.length > 0 && element("table", { class: "fields" }, element("tbody", {}, finding.evidence.map(({ name, value, unit }) =>
      element("tr", {}, element("th", { scope: "row" }, spelledOut(name)),
        element("td", {}, EVIDENCE[unit]?.(value) ?? formatCount(value)))))),
    element("ul", { class: "guards" }, rule.guards.map((guard) => element("li", {}, guard))));
}

/** The number of findings whose events are marked in the columns. */
const MARKED_FINDINGS = 48;

const EVIDENCE = {
  nanoseconds: formatDuration, share: (value) => `${Math.round(value * 100)} %`,
  bytes: (value) => `${formatCount(value)} bytes`,
};

/** A sentence whose names, code and lines are set apart. */
export function sentence(pieces) {
  return pieces.map((piece) => {
    if (typeof piece === "string") return piece;
    const [kind, text] = piece;
    return kind === "quantity" ? text : element("code", {}, text);
  });
}

import { sentence } from "./advice.js";
import { element, find } from "./elements.js";
import { formatCount, formatDuration } from "./format.js";

// The parts that all kinds of pages have: the header and the tabs.

/**
 * Fills the header with the title, a summary, and the limits of the data.
 *
 * @param limits Sentences in pieces.
 */
export function showHeader(title, facts, ...limits) {
  find("title").textContent = title;
  find("facts").textContent = facts;
  const items = limits.flat().map((limit) => element("li", {}, sentence(limit)));
  find("limits").replaceChildren(...items);
  find("limits").hidden = items.length === 0;
}

/** The events that a page leaves out of a trace, as sentences in pieces: one or none. */
export function omission({ omitted, eventCount }) {
  if (!omitted) return [];
  const areSampled = ["cpu", "allocation"].some((kind) => omitted.kinds[kind]);
  return [[
    `The page shows ${formatCount(eventCount - omitted.count)} of ${formatCount(eventCount)} events one by one: the longest, and a share of `
    + `those without a duration${areSampled ? ", such as samples" : ""}. The tracks show the others as totals; the list and the call tree `
    + "lack them. "
    + (omitted.longest > 0 ? `None of the others took longer than ${formatDuration(omitted.longest)}. ` : "")
    + (areSampled ? "The call tree scales the samples up. " : "")
    + "The findings and the hotspots of the whole trace cover all events."]];
}

/** Shows one of the panels that belong to the tabs. */
export function showPanel(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isShown = tab.dataset.panel === name;
    tab.setAttribute("aria-selected", isShown);
    tab.tabIndex = isShown ? 0 : -1;
    find(`panel-${tab.dataset.panel}`).hidden = !isShown;
  }
}

/** Lets the tabs act as tabs do: a click, the arrows, Home and End show their panels. */
export function connectTabs(show) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => show(tab.dataset.panel));
    tab.addEventListener("keydown", (event) => {
      // A page can do without some of the tabs.
      const tabs = [...document.querySelectorAll("[role=tab]")];
      const index = tabs.indexOf(tab);
      const place = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
      if (place === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      const next = tabs.at(place % tabs.length);
      show(next.dataset.panel);
      next.focus();
    });
  }
}

import { sentence } from "./advice.js";
import { element, find } from "./elements.js";

// What all kinds of pages have: the header and the tabs.

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

/** Shows one of the panels that belong to the tabs. */
export function showPanel(name) {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const isShown = tab.dataset.panel === name;
    tab.setAttribute("aria-selected", isShown);
    tab.tabIndex = isShown ? 0 : -1;
    find(`panel-${tab.dataset.panel}`).hidden = !isShown;
  }
}

/** Lets the tabs act as tabs do: a click or the arrows show their panels. */
export function connectTabs(show) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => show(tab.dataset.panel));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.stopPropagation();
      const next = tabs[(index + step + tabs.length) % tabs.length];
      show(next.dataset.panel);
      next.focus();
    });
  });
}

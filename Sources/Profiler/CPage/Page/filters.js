import { element, find } from "./elements.js";
import { formatDuration } from "./format.js";
import { entities, isWhole } from "./selection.js";

/** The time after the last keystroke before a search begins, in milliseconds. */
const PAUSE = 120;

/** The controls above the tracks, with which a reader selects events. */
export class Filters {
  /** @param actions `filter(criteria)` with what changes, and `clear()`. */
  constructor(trace, actions) {
    Object.assign(this, { trace, actions });
    const { threads, sites, kinds } = trace.head;
    this.#fill("kind", "All kinds", kinds.filter(({ number }) => trace.kindCounts[number] > 0).map(({ number, name }) => [number, name]),
      (value) => ({ kinds: value === "" ? [] : [Number(value)] }));
    this.#fill("entity", "All entities", entities(trace), (value) => ({ entity: Number(value) }));
    find("filter-entity").hidden = find("filter-entity").options.length < 2;
    this.#fill("thread", "All threads", trace.threadNames.map((name, number) => [number, name]).slice(1),
      (value) => ({ thread: Number(value) }));
    find("filter-thread").hidden = threads.length < 3;
    const lines = [...new Map(sites.map((site, number) => [site[3], number]).slice(1))].map(([text, number]) => [number, text]);
    this.#fill("site", "All lines", lines.sort((a, b) => a[1].localeCompare(b[1], undefined, { numeric: true })),
      (value) => ({ site: Number(value) }));
    const durations = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    this.#fill("duration", "Any duration", durations.map((time) => [time, `at least ${formatDuration(time)}`]),
      (value) => ({ leastDuration: Number(value) }));
    this.#listen();
  }

  #fill(name, all, entries, criteria) {
    const select = find(`filter-${name}`);
    select.replaceChildren(element("option", { value: "" }, all), ...entries.map(([value, text]) => element("option", { value }, text)));
    // A letter then acts on the timeline again, as it did before the pointer went to the control.
    let isByPointer = false;
    select.addEventListener("pointerdown", () => { isByPointer = true; });
    select.addEventListener("keydown", () => { isByPointer = false; });
    select.addEventListener("change", () => {
      if (isByPointer) select.blur();
      // The search waits for a pause in typing, so it may not have this text yet.
      this.actions.filter({ ...criteria(select.value), text: find("search").value });
    });
  }

  #listen() {
    const search = find("search");
    let timer = 0;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      document.body.dataset.pending = 1;
      timer = setTimeout(() => this.actions.filter({ text: search.value }), PAUSE);
    });
    find("filters").addEventListener("submit", (event) => event.preventDefault());
    find("clear").addEventListener("click", () => {
      // The button is disabled when there is nothing to clear, and would lose the focus.
      search.focus();
      this.actions.clear();
    });
  }

  /** Shows a selection in the controls. */
  show(selection) {
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
}

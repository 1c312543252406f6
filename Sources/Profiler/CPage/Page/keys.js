import { element, find } from "./elements.js";

/** The keys in the order of the help, each with an action of the page, with its argument or else the key itself. */
const KEYS = [
  { keys: ["w", "ArrowUp"], shown: "W, ↑", text: "Zoom in", action: "zoom", argument: 0.7 },
  { keys: ["s", "ArrowDown"], shown: "S, ↓", text: "Zoom out", action: "zoom", argument: 1 / 0.7 },
  { keys: ["a", "ArrowLeft"], shown: "A, ←", text: "Pan to earlier", action: "pan", argument: -0.2 },
  { keys: ["d", "ArrowRight"], shown: "D, →", text: "Pan to later", action: "pan", argument: 0.2 },
  { keys: [","], shown: ",", text: "Go to the previous event of the same track", action: "step", argument: -1 },
  { keys: ["."], shown: ".", text: "Go to the next event of the same track", action: "step", argument: 1 },
  { keys: ["f"], shown: "F", text: "Zoom to the selected event or range", action: "zoomToSelection" },
  { keys: ["0"], shown: "0", text: "Show the whole trace", action: "showAll" },
  { keys: [..."123456789"], shown: "1 to 9", text: "Show the events of a finding", action: "follow" },
  { keys: ["c"], shown: "C", text: "Go to the event's cause", action: "goToCause" },
  { keys: ["/"], shown: "/", text: "Search", action: "search" },
  { keys: ["Escape"], shown: "Esc", text: "Clear the range, then the finding, the filters and the selected event", action: "giveUp" },
  { keys: ["?"], shown: "?", text: "This list" },
];

/** The gestures of the pointer, each with an action that a page may lack. */
const POINTER = [
  { shown: "Drag", text: "Select a time range, which filters the views below", action: "choose" },
  { shown: "Shift and drag", text: "Pan", action: "pan" },
  { shown: "Ctrl and wheel, pinch", text: "Zoom at the pointer; without Ctrl if all tracks are visible", action: "zoom" },
  { shown: "Shift and wheel, swipe", text: "Pan", action: "pan" },
  { shown: "Click", text: "Select an event", action: "zoom" },
];

/** Fills the dialog with the keys that have an effect on the page, and opens it. */
export function showHelp(actions) {
  const dialog = find("help");
  const list = (entries) => element("dl", {}, entries.filter(({ action }) => !action || actions[action])
    .flatMap(({ shown, text }) => [element("dt", {}, shown), element("dd", {}, text)]));
  dialog.replaceChildren(
    element("h2", { id: "help-title" }, "Keyboard and mouse"), list(KEYS), list(POINTER),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")));
  dialog.showModal();
}

/**
 * Lets the keyboard act on a page, except while a reader writes into a field.
 *
 * @param page Its `actions` are functions by name, those of the tables above that it has.
 */
export function listenToKeys(page) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
    const { actions } = page;
    // Letters mean nothing to a checkbox.
    const isField = event.target.matches?.("input:not([type=checkbox]), select, textarea");
    if (isField) {
      if (event.key !== "Escape") return;
      event.preventDefault();
      if (event.target.type === "search") actions.clearSearch?.();
      return event.target.blur();
    }
    if (event.key === "?") return showHelp(actions);
    // Elsewhere, the arrows scroll and go through lists.
    const isTimeline = event.target === document.body || event.target.closest?.("#tracks canvas, #tracks .scroller");
    if (event.key.startsWith("Arrow") && !isTimeline) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const { action, argument } = KEYS.find(({ keys }) => keys.includes(key)) ?? {};
    if (!actions[action]) return;
    event.preventDefault();
    actions[action](argument ?? key);
  });
}

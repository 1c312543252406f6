import { element, find } from "./elements.js";

/** What the keyboard does, in the order of the help. */
const KEYS = [
  ["W, ↑", "Zoom in"], ["S, ↓", "Zoom out"], ["A, ←", "Pan to earlier"], ["D, →", "Pan to later"],
  [", and .", "Go to the previous or the next event of the same track"], ["F", "Zoom to the selected event or range"],
  ["0", "Show the whole trace"], ["1 to 9", "Show the events of a finding"], ["C", "Go to the event's cause"],
  ["/", "Search"], ["Esc", "Give up the range, the finding and the search, one after the other"], ["?", "This list"],
];

const MOUSE = [
  ["Drag", "Select a time range, which filters everything below"], ["Shift and drag", "Pan"],
  ["Ctrl and wheel, pinch", "Zoom at the pointer; without Ctrl too if all tracks are in sight"],
  ["Shift and wheel, swipe", "Pan"], ["Click", "Select an event"],
];

/** Fills the dialog with the keys, and opens it. */
export function showHelp() {
  const dialog = find("help");
  const list = (entries) => element("dl", {}, entries.flatMap(([key, text]) => [element("dt", {}, key), element("dd", {}, text)]));
  dialog.replaceChildren(
    element("h2", { id: "help-title" }, "Keyboard and mouse"), list(KEYS), list(MOUSE),
    element("form", { method: "dialog" }, element("button", { autofocus: true }, "Close")));
  dialog.showModal();
}

/**
 * Lets the keyboard act on the page, except while a reader writes into a field.
 *
 * @param actions Functions by name; see the calls.
 */
export function listenToKeys(timeline, actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find("help").open) return;
    const isField = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "Escape") {
      if (!isField) return actions.giveUp();
      event.preventDefault();
      if (event.target.type === "search") actions.clearSearch?.();
      return event.target.blur();
    }
    if (isField) return;
    // Elsewhere, the arrows scroll and go through lists.
    const isTimeline = event.target === document.body || event.target.closest?.("#tracks canvas, #tracks .scroller");
    const act = {
      w: () => timeline().zoom(0.7), s: () => timeline().zoom(1 / 0.7), a: () => timeline().pan(-0.2), d: () => timeline().pan(0.2),
      ArrowUp: () => timeline().zoom(0.7), ArrowDown: () => timeline().zoom(1 / 0.7),
      ArrowLeft: () => timeline().pan(-0.2), ArrowRight: () => timeline().pan(0.2),
      ",": () => actions.step(-1), ".": () => actions.step(1), f: actions.zoomToSelection, 0: actions.showAll, c: actions.goToCause,
      "/": actions.search, "?": showHelp,
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) {
      if (event.key.startsWith("Arrow") && !isTimeline) return;
      event.preventDefault();
      act();
    } else if (/^[1-9]$/.test(event.key)) actions.follow(Number(event.key) - 1);
  });
}

import { find, followPointer } from "./elements.js";

/** The pixels by which an arrow moves a splitter. */
const STEP = 24;

/** The splitters of the page: the property of the style that each changes, the direction in which it grows, and its limits. */
const SPLITTERS = [
  { id: "advice-splitter", part: "advice", property: "--advice-width", isUpright: true, sign: 1, least: 220 },
  { id: "tracks-splitter", part: "tracks", property: "--tracks-height", isUpright: false, sign: 1, least: 90 },
  { id: "detail-splitter", part: "detail", property: "--detail-width", isUpright: true, sign: -1, least: 200 },
];

/** Lets a reader change the sizes of the page's parts with the pointer and with the arrows. */
export function connectSplitters() {
  for (const splitter of SPLITTERS) connect(find(splitter.id), splitter);
}

function connect(handle, { part, property, isUpright, sign, least }) {
  const size = () => find(part).getBoundingClientRect()[isUpright ? "width" : "height"];
  const most = () => document.querySelector("main").getBoundingClientRect()[isUpright ? "width" : "height"] - 2 * least;
  const set = (pixels) => {
    const fitting = Math.round(Math.max(least, Math.min(most(), pixels)));
    document.querySelector("main").style.setProperty(property, `${fitting}px`);
    handle.setAttribute("aria-valuenow", fitting);
  };
  handle.setAttribute("aria-valuemin", least);
  handle.setAttribute("aria-valuenow", Math.round(size()));
  handle.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    const [start, before] = [isUpright ? event.clientX : event.clientY, size()];
    followPointer(handle, event, ({ clientX, clientY }) => set(before + sign * ((isUpright ? clientX : clientY) - start)));
  });
  handle.addEventListener("keydown", (event) => {
    const step = { ArrowRight: STEP, ArrowDown: STEP, ArrowLeft: -STEP, ArrowUp: -STEP }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(size() + sign * step);
  });
}

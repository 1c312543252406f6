// Colours of slices that readers with any colour vision can tell apart (after Okabe and Ito), with the ink that is legible on each.
// Graphs of samples are no slices, and share colours with them.

const KIND_COLOURS = {
  fetch: ["#0072b2", "#ffffff"], batch: ["#56b4e9", "#06202f"], fault: ["#e69f00", "#2b1d00"],
  cacheHits: ["#f2cf7e", "#2b1d00"], cacheMiss: ["#c4420a", "#ffffff"], save: ["#009e73", "#00140e"],
  sql: ["#5c6470", "#ffffff"], wait: ["#cc79a7", "#2e0a1e"], merge: ["#aaddbb", "#00140e"],
  refresh: ["#aaddbb", "#00140e"], release: ["#b3b8bf", "#10131a"], eviction: ["#b3b8bf", "#10131a"],
  use: ["#b3b8bf", "#10131a"], cpu: ["#0072b2", "#ffffff"], allocation: ["#c4420a", "#ffffff"],
  memory: ["#009e73", "#00140e"], migration: ["#7b61ff", "#0a0620"],
};

const SCOPE_COLOURS = {
  screen: ["#a9c3e0", "#0d1f33"], request: ["#93b59f", "#0f2915"], bulk: ["#e2c490", "#2f2005"],
  test: ["#b3a0f5", "#231038"], setup: ["#dcdcdc", "#1c1e21"], other: ["#9aa0ad", "#10151c"],
};

/** The colour of an event's slice, and of the text on it. */
export function eventColours(trace, row) {
  const kind = trace.kindName(row);
  return kind === "scope" ? SCOPE_COLOURS[trace.word(row, "kind")] ?? SCOPE_COLOURS.other : kindColours(kind);
}

export function kindColours(kind) { return KIND_COLOURS[kind] ?? KIND_COLOURS.release; }

/** The colours of the parts of a program in the flame graph. */
export const PART_COLOURS = {
  program: ["#0072b2", "#ffffff"], store: ["#e69f00", "#2b1d00"], sqlite: ["#5c6470", "#ffffff"],
  recorder: ["#aaddbb", "#00140e"], system: ["#d3d7dd", "#20242b"],
};

/** The value of a colour of the page's style, which depends on the theme. */
export function styleColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

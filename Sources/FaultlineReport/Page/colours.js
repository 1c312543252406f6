// Colours that stay apart for readers with any colour vision (after Okabe and Ito), with the ink that is legible on each.

const KIND_COLOURS = {
  fetch: ["#0072b2", "#ffffff"], batch: ["#56b4e9", "#06202f"], fault: ["#e69f00", "#2b1d00"],
  cacheHits: ["#f2cf7e", "#2b1d00"], cacheMiss: ["#c4420a", "#ffffff"], save: ["#009e73", "#00140e"],
  sql: ["#7a6bb5", "#ffffff"], wait: ["#cc79a7", "#2e0a1e"], merge: ["#5b8a72", "#00140e"],
  refresh: ["#5b8a72", "#00140e"], release: ["#8a8f98", "#10131a"], eviction: ["#8a8f98", "#10131a"],
  use: ["#8a8f98", "#10131a"], cpu: ["#0072b2", "#ffffff"], allocation: ["#c4420a", "#ffffff"],
  memory: ["#009e73", "#00140e"], migration: ["#7a5195", "#ffffff"],
};

const SCOPE_COLOURS = {
  screen: ["#a9c3e0", "#0d1f33"], request: ["#a8d0ad", "#0f2915"], bulk: ["#e2c490", "#2f2005"],
  test: ["#c9b3e2", "#231038"], setup: ["#b9bcc1", "#1c1e21"], other: ["#b2c2c8", "#15242a"],
};

/** The colour of an event's slice, and of the text on it. */
export function eventColours(trace, row) {
  const kind = trace.kindName(row);
  return kind === "scope" ? SCOPE_COLOURS[trace.word(row, "kind")] ?? SCOPE_COLOURS.other : kindColours(kind);
}

export function kindColours(kind) { return KIND_COLOURS[kind] ?? ["#8a8f98", "#10131a"]; }

/** The colours of the parts of a program in the flame graph. */
export const PART_COLOURS = {
  program: ["#0072b2", "#ffffff"], store: ["#e69f00", "#2b1d00"], sqlite: ["#7a6bb5", "#ffffff"],
  recorder: ["#8a8f98", "#10131a"], system: ["#c9ced6", "#20242b"],
};

/** The value of a colour of the page's style, which depends on the theme. */
export function styleColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

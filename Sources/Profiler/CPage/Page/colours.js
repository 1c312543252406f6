// Colours of slices that readers with any colour vision can tell apart (after Okabe and Ito), with the ink that is legible on each.
// Graphs of samples are not slices, and share colours with them.

const PALETTE = {
  blue: ["#0072b2", "#ffffff"], sky: ["#56b4e9", "#06202f"], amber: ["#e69f00", "#2b1d00"], sand: ["#f2cf7e", "#2b1d00"],
  vermilion: ["#c4420a", "#ffffff"], green: ["#009e73", "#00140e"], slate: ["#5c6470", "#ffffff"], rose: ["#cc79a7", "#2e0a1e"],
  mint: ["#aaddbb", "#00140e"], grey: ["#b3b8bf", "#10131a"], violet: ["#7b61ff", "#0a0620"],
};

const SCOPE_COLOURS = {
  screen: ["#a9c3e0", "#0d1f33"], request: ["#93b59f", "#0f2915"], bulk: ["#e2c490", "#2f2005"],
  test: ["#b3a0f5", "#231038"], setup: ["#dcdcdc", "#1c1e21"], other: ["#9aa0ad", "#10151c"],
};

/** The colour of an event's slice, and of the text on it. */
export function eventColours(trace, row) {
  const kind = trace.kindName(row);
  return kind === "scope" ? SCOPE_COLOURS[trace.word(row, "kind")] ?? SCOPE_COLOURS.other : kindColours(trace, kind);
}

export function kindColours(trace, kind) { return PALETTE[trace.kinds.get(trace.kindNumbers.get(kind)).colour] ?? PALETTE.grey; }

/** The colours of the parts of a program in the flame graph. */
export const PART_COLOURS = {
  program: PALETTE.blue, store: PALETTE.amber, sqlite: PALETTE.slate, recorder: PALETTE.mint, system: ["#d3d7dd", "#20242b"],
};

/** The value of a colour of the page's style, which depends on the theme. */
export function styleColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

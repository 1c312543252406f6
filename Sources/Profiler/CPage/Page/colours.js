// Colours of slices that readers with any colour vision can tell apart (after Okabe and Ito), with the ink that is legible on each.
// Graphs of samples are not slices, and share colours with them.

const PALETTE = {
  blue: ["#0072b2", "#ffffff"], sky: ["#56b4e9", "#06202f"], amber: ["#e69f00", "#2b1d00"], sand: ["#f2cf7e", "#2b1d00"],
  vermilion: ["#c4420a", "#ffffff"], green: ["#009e73", "#00140e"], slate: ["#5c6470", "#ffffff"], rose: ["#cc79a7", "#2e0a1e"],
  mint: ["#aaddbb", "#00140e"], grey: ["#b3b8bf", "#10131a"], violet: ["#7b61ff", "#0a0620"],
};

/** Colours that stand out from a dark page as the others do from a light one; where there is none, the same serves both. */
const DARK_PALETTE = {
  blue: ["#2f8fd8", "#ffffff"], sky: ["#9bd3f5", "#06202f"], vermilion: ["#e8703f", "#1c0a03"], green: ["#22b98d", "#00140e"], slate: ["#a3b0c4", "#0d1117"],
  mint: ["#3f5f4e", "#e6f5ec"], grey: ["#6f7885", "#ffffff"], violet: ["#9c88ff", "#0a0620"],
};

const SCOPE_COLOURS = {
  screen: ["#a9c3e0", "#0d1f33"], request: ["#93b59f", "#0f2915"], bulk: ["#e2c490", "#2f2005"],
  test: ["#b3a0f5", "#231038"], setup: ["#dcdcdc", "#1c1e21"], other: ["#9aa0ad", "#10151c"],
};

const DARK_SCOPE_COLOURS = {
  screen: ["#2f4a68", "#dbe8f6"], request: ["#345342", "#dcefe3"], bulk: ["#5c4a26", "#f4e7cd"],
  test: ["#4a3f7a", "#e7e1ff"], setup: ["#3a3d42", "#e3e5e8"], other: ["#454b57", "#e3e6ec"],
};

let darkSystem;

/** Whether the page is dark: by the reader's choice, or else the system's. */
export function isDark() {
  darkSystem ??= matchMedia("(prefers-color-scheme: dark)");
  return (document.documentElement.dataset.theme ?? (darkSystem.matches ? "dark" : "light")) === "dark";
}

/** The colour of that name in the schema, and of the text on it. */
export function colourNamed(name) { return (isDark() ? DARK_PALETTE[name] : undefined) ?? PALETTE[name] ?? PALETTE.grey; }

/** The colour of an event's slice, and of the text on it. */
export function eventColours(trace, row) {
  const kind = trace.kindName(row);
  if (kind !== "scope") return kindColours(trace, kind);
  const colours = isDark() ? DARK_SCOPE_COLOURS : SCOPE_COLOURS;
  return colours[trace.word(row, "kind")] ?? colours.other;
}

export function kindColours(trace, kind) { return colourNamed(trace.kinds.get(trace.kindNumbers.get(kind)).colour); }

const PART_COLOURS = { program: "blue", store: "amber", sqlite: "slate", recorder: "mint" };

/** The colour of a part of a program in the flame graph, and of the text on it. System libraries are the faintest. */
export function partColours(part) {
  if (PART_COLOURS[part]) return colourNamed(PART_COLOURS[part]);
  return isDark() ? ["#333a45", "#c7cedb"] : ["#d3d7dd", "#20242b"];
}

/** The value of a colour of the page's style, which depends on the theme. */
export function styleColour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

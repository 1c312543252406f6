import { element } from "./elements.js";
import { withVisibleDirections } from "./format.js";

/**
 * The source around a line, as far as the page contains it: an element, or `null`.
 *
 * @param sources Runs of lines by the path of their file. @param site A file, a line and what the line is called.
 * @param margin The number of lines before and after it.
 */
export function sourceExcerpt(sources, { file, line, text }, margin) {
  if (!sources || line === 0) return null;
  // A call site that the compiler recorded names its file by module, and the sources by path.
  const name = file.split("/").at(-1);
  const path = Object.hasOwn(sources, file) ? file : Object.keys(sources).find((path) => path.endsWith(`/${name}`));
  const run = path === undefined ? undefined : sources[path].find(([first, lines]) => line >= first && line < first + lines.length);
  if (!run) return null;
  const from = Math.max(run[0], line - margin);
  const lines = run[1].slice(from - run[0], line + margin + 1 - run[0]);
  const indents = lines.filter((text) => text.trim() !== "").map((text) => /^[ \t]*/.exec(text)[0].length);
  const indent = Math.min(...indents);
  return element("pre", { class: "code", tabindex: "0", "aria-label": `Source of ${text}` }, lines.map((text, index) =>
    element("span", { class: from + index === line ? "line here" : "line" },
      element("span", { class: "lineno" }, String(from + index)), `${withVisibleDirections(text.slice(indent))}\n`)));
}

import { kindColours } from "./colours.js";
import { element, fill } from "./elements.js";
import { formatCount, formatCounted, formatDuration, formatField, formatSize, formatStart, spelledOut, withVisibleDirections } from "./format.js";
import { sourceExcerpt } from "./source.js";
import { DURATION_UNKNOWN } from "./trace.js";

/** The number of effects that are listed. */
const MOST_LINKS = 12;
/** The number of statements that are shown. */
const MOST_STATEMENTS = 3;
/** The number of entries of a list that are shown, and of frames of a stack. */
const MOST_ENTRIES = 50;
const MOST_FRAMES = 200;

/** The parts of an event's duration that the recorder measures, in the order in which they happen. */
const TIME_PARTS = {
  fetch: ["wait", "prepare", "step", "materialise", "pending"], batch: ["wait", "prepare", "step"],
  fault: ["wait", "prepare", "step"], save: ["lockWait", "commit"], sql: ["wait", "syncTime"],
};

const PART_NAMES = {
  wait: "waiting", lockWait: "waiting for the lock", prepare: "preparing", step: "stepping through rows",
  materialise: "creating objects", pending: "comparing unsaved objects", commit: "COMMIT", syncTime: "waiting for the disk",
};

/** The names of the rest of an event's time, by its kind. */
const REST_NAMES = {
  fetch: "prefetching and keeping rows", batch: "prefetching and placing rows", fault: "filling objects",
  save: "checking, writing and merging", sql: "running in SQLite",
};

/** The extended detail of the selected event: where it came from, where its time went, and what the recorder counted. */
export class Detail {
  /** @param actions `select(row)`, `filter(criteria)` for more like it, `list(criteria)` for these events alone, and `zoom(row)`. */
  constructor(host, trace, actions) {
    Object.assign(this, { host, trace, actions });
    this.clear();
  }

  clear() {
    fill(this.host,
      element("p", { class: "empty" }, "Select an event in the timeline or in the list to see its stack, its SQL and its cause."));
  }

  show(row) {
    const { trace } = this;
    const kind = trace.kindName(row);
    const name = element("span", { class: "badge" }, kind);
    [name.style.background, name.style.color] = kindColours(trace, kind);
    fill(this.host,
      element("h2", {}, name, " ", element("span", { class: "what" }, trace.labelText(row))),
      element("p", { class: "summary" }, this.#summary(row)),
      element("div", { class: "buttons" },
        element("button", { type: "button", click: () => this.actions.zoom(row) }, "Zoom to it"),
        trace.site[row] > 0 && element("button", {
          type: "button", click: () => this.actions.filter({ site: trace.site[row] }),
        }, `All at ${trace.siteText(row)}`),
        kind === "scope" && element("button", {
          type: "button", class: "inside", click: () => this.actions.list({ within: row }),
        }, "List what happened in it")),
      this.#timeSplit(row, kind), this.#sql(row), this.#links(row), this.#stack(row), this.#fields(row, kind), this.#lists(row));
    this.host.scrollTop = 0;
  }

  #summary(row) {
    const { trace } = this;
    const parts = [`at ${formatStart(trace.start[row] - trace.head.span[0])} ms`];
    if (trace.flags[row] & DURATION_UNKNOWN) parts.push("of unknown duration");
    else if (trace.duration[row] > 0) parts.push(`for ${formatDuration(trace.duration[row])}`);
    parts.push(`on thread ${trace.threadText(row)}`);
    const context = trace.head.strings[trace.context[row]];
    if (context) parts.push(`in context ${context}`);
    if (trace.scope[row] >= 0) parts.push(`in scope ${trace.labelText(trace.scope[row])}`);
    const sentence = parts.join(", ");
    return sentence[0].toUpperCase() + sentence.slice(1) + ".";
  }

  // MARK: - Time

  #timeSplit(row, kind) {
    const total = this.trace.duration[row];
    const parts = (TIME_PARTS[kind] ?? []).map((name) => [name, this.trace.field(row, name) ?? 0]).filter(([, time]) => time > 0);
    if (total === 0 || parts.length === 0) return null;
    const rest = total - parts.reduce((sum, [, time]) => sum + time, 0);
    const names = { ...PART_NAMES, rest: REST_NAMES[kind] };
    if (rest > 0) parts.push(["rest", rest]);
    const bar = parts.map(([name, time]) => {
      const part = element("span", { class: `part ${name}`, title: `${names[name]}: ${formatDuration(time)}` });
      part.style.flexGrow = time;
      return part;
    });
    const words = parts.map(([name, time]) => `${names[name]} ${formatDuration(time)}`).join(", ");
    return section("Where the time went", element("div", { class: "split", role: "img", "aria-label": words }, bar),
      element("ul", { class: "legend" }, parts.map(([name, time]) =>
        element("li", {}, element("span", { class: `part ${name}` }), `${names[name]} ${formatDuration(time)}`))));
  }

  // MARK: - SQL

  /** The statement, its plan, and what SQLite counted; for an operation of the store, those of its statements. */
  #sql(row) {
    const { trace } = this;
    const rows = this.#statements(row);
    if (rows.length === 0) return null;
    const shown = rows.slice(0, MOST_STATEMENTS);
    const more = rows.length - shown.length;
    return section("SQL", shown.map((statement) => [
      block("sql", "Statement", trace.text(statement, "statement")),
      block("plan", "Query plan", trace.text(statement, "plan")),
      block("sql", "Statement with its values", trace.text(statement, "values")),
      statement !== row && element("p", { class: "counters" }, this.#counters(statement)),
    ]), more > 0 && element("p", { class: "more" }, `And ${formatCounted(more, "more statement")}.`));
  }

  /** The statements of an event: itself, or those that ran because of it. */
  #statements(row) {
    const { trace } = this;
    const sql = trace.kindNumbers.get("sql");
    if (trace.kind[row] === sql) return [row];
    const found = [];
    // The statement of a fault is that of its cache miss. A fetch's faults have statements of their own.
    for (const effect of trace.effects(row)) {
      if (trace.kind[effect] === sql) found.push(effect);
      else if (trace.parent[effect] === row && trace.kindName(effect) === "cacheMiss") found.push(...this.#statements(effect));
    }
    return found;
  }

  /** SQLite's counters for a statement, in words. */
  #counters(row) {
    const { trace } = this;
    const fields = trace.kinds.get(trace.kind[row]).fields.filter(({ unit }) => ["count", "bytes", "ns", "flag"].includes(unit));
    const counted = fields.map(({ name, unit }) => counterText(name, trace.field(row, name), unit)).filter(Boolean);
    return [`took ${formatDuration(trace.duration[row])}`, ...counted].join(", ");
  }

  // MARK: - Causes and effects

  #links(row) {
    const { trace } = this;
    const effects = trace.effects(row);
    const cause = trace.cause[row];
    if (cause < 0 && effects.length === 0) return null;
    const link = (target) => element("li", {}, element("button", {
      type: "button", class: "link",
      click: () => {
        this.actions.select(target);
        // The button is gone, and the focus would go to the page.
        this.host.focus();
      },
    }, `${trace.kindName(target)} ${trace.labelText(target)}`.slice(0, 160)), ` ${formatDuration(trace.duration[target])}`);
    const more = effects.length - MOST_LINKS;
    return [
      cause >= 0 && section("Cause", element("ul", { class: "links" }, link(cause))),
      effects.length > 0 && section(`Effects (${formatCount(effects.length)})`,
        element("ul", { class: "links" }, [...effects.subarray(0, MOST_LINKS)].map(link)),
        more > 0 && element("p", { class: "more" }, `And ${formatCount(more)} more.`),
        trace.kindName(row) !== "scope" && element("button", { type: "button", class: "all-effects", click: () => this.actions.list({ within: row }) }, "List it with all its effects")),
    ];
  }

  // MARK: - Stack and source

  #stack(row) {
    const all = this.trace.frames(row);
    if (all.length === 0) return null;
    const start = Math.max(0, all.findIndex(({ part }) => part !== "recorder"));
    const frames = all.slice(start, start + MOST_FRAMES);
    const first = Math.max(0, frames.findIndex(({ part }) => part === "program"));
    const source = element("div", { class: "source" });
    const choose = (button, frame) => {
      for (const other of button.closest(".stack").querySelectorAll("button")) other.setAttribute("aria-pressed", other === button);
      fill(source, this.#source(frame));
    };
    const items = frames.map((frame, index) => element("li", { class: `frame ${frame.part}` },
      element("button", {
        type: "button", class: "link", "aria-pressed": index === first, click: ({ currentTarget }) => choose(currentTarget, frame),
      }, frame.name), " ", element("span", { class: "place" }, place(frame))));
    fill(source, this.#source(frames[first]));
    // The called functions come first on the stack, but only the program's own line can be changed.
    return section("Stack", element("div", { class: "stack" },
      first > 0 && element("details", {}, element("summary", {}, `${formatCounted(first, "frame")} within the store and its libraries`),
        element("ol", {}, items.slice(0, first))),
      element("ol", {}, items.slice(first)),
      all.length > start + MOST_FRAMES && element("p", { class: "more" }, `And ${formatCount(all.length - start - MOST_FRAMES)} more frames.`)), source);
  }

  /** The source around a frame's line, under its place. */
  #source(frame) {
    const excerpt = sourceExcerpt(this.trace.head.sources, { ...frame, text: place(frame) }, 6);
    return [element("p", { class: "place" }, place(frame)),
      excerpt ?? element("p", { class: "more" }, "The page does not contain the source of this line.")];
  }

  // MARK: - Fields

  #fields(row, kind) {
    const { trace } = this;
    const { fields } = trace.kinds.get(trace.kind[row]);
    const shown = fields.flatMap((field) => {
      const value = trace.field(row, field.name);
      if (value === undefined || value === 0 && field.unit !== "word") return [];
      switch (field.unit) {
        case "event": case "hash": case "sql": case "plan": return [];
        case "text": return [[field, trace.head.strings[value]]];
        case "word": return field.words[value] ? [[field, field.words[value]]] : [];
        default: return [[field, formatField(isTime(field) ? value - trace.head.span[0] : value, field.unit)]];
      }
    });
    if (shown.length === 0) return null;
    return section("Recorded", element("table", { class: "fields" }, element("tbody", {}, shown.map(([field, text]) =>
      element("tr", { title: field.summary }, element("th", { scope: "row" }, spelledOut(field.name)), element("td", {}, text))))));
  }

  #lists(row) {
    const text = this.trace.head.strings[this.trace.lists[row]];
    if (!text) return null;
    return Object.entries(JSON.parse(text)).map(([name, entries]) => {
      const keys = Object.keys(entries[0]).filter((key) => entries.some((entry) => !isHash(key, entry[key])));
      return section(titled(spelledOut(name)), element("table", { class: "entries" },
        element("thead", {}, element("tr", {}, keys.map((key) => element("th", { scope: "col" }, spelledOut(key))))),
        element("tbody", {}, entries.slice(0, MOST_ENTRIES).map((entry) =>
          element("tr", {}, keys.map((key) => element("td", {}, entryText(key, entry[key]))))))),
      entries.length > MOST_ENTRIES && element("p", { class: "more" }, `And ${formatCount(entries.length - MOST_ENTRIES)} more.`));
    });
  }
}

function section(title, ...content) { return element("section", {}, element("h3", {}, title), content); }

/** A text that keeps its lines, or nothing if it is empty. */
function block(kind, label, text) {
  return text && element("pre", { class: kind, role: "region", tabindex: "0", "aria-label": label }, withVisibleDirections(text));
}

/** A counter in words, such as `3 sorts`, or `null` if it counted nothing. */
function counterText(name, value, unit) {
  const words = spelledOut(name);
  if (!value) return null;
  if (unit === "flag") return words;
  return unit === "count" ? `${formatCount(value)} ${numbered(words, value)}` : `${words} ${formatField(value, unit)}`;
}

/** The noun of a field's name, which is a plural, for a number of them. */
function numbered(plural, number) { return number === 1 ? plural.replace(/(x)es$|s$/, "$1") : plural; }

/** Whether a field is a moment of the trace and not a duration. */
function isTime({ name }) { return name === "firstUse" || name === "lastUse"; }

/** A value of a list, which has no unit of its own. */
function entryText(key, value) {
  if (typeof value !== "number") return String(value ?? "");
  return /^duration$|time$/i.test(key) ? formatDuration(value) : /bytes$/i.test(key) ? formatSize(value) : formatCount(value);
}

function titled(text) { return text[0].toUpperCase() + text.slice(1); }

function isHash(key, value) { return key === "values" || (typeof value === "string" && /^[0-9a-f]{16}$/.test(value)); }

/** A frame's place: `List.swift:42`, or its library. */
function place({ file, line, module }) {
  const name = file.split("/").at(-1);
  return name ? (line > 0 ? `${name}:${line}` : name) : module;
}

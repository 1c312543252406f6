import { NO_ROW } from "./columns.js";
import { formatCount, formatCounted, formatDuration } from "./format.js";

/**
 * The events of a trace, as rows in the order in which they began, an event before those within it.
 *
 * Rows are numbers. `start`, `duration`, `kind` and the other columns are typed arrays with one value for each row.
 * Fields that only one kind of event has are in columns of their own, and `field` finds a row's value in them.
 */
export class Trace {
  /** @param head The description that the page contains. @param columns Typed arrays by name. */
  constructor(head, columns) {
    this.head = head;
    this.columns = columns;
    this.count = columns.kind.length;
    for (const name of ["kind", "start", "duration", "runDelay", "thread", "context", "site", "path", "label", "lists",
      "flags", "weights", "findings"]) this[name] = columns[name];
    this.kinds = new Map(head.kinds.map((kind) => [kind.number, kind]));
    Object.assign(this, nameThreads(head.threads));
    this.kindNumbers = new Map(head.kinds.map((kind) => [kind.name, kind.number]));
    this.#place();
    this.parent = this.#targets("parent");
    this.scope = this.#targets("scope");
    this.cause = this.#causes();
  }

  /** The place of each row among the rows of its kind. */
  #place() {
    const counts = new Uint32Array(256);
    this.places = new Uint32Array(this.count);
    for (let row = 0; row < this.count; row += 1) this.places[row] = counts[this.kind[row]]++;
    this.kindCounts = counts;
  }

  /** A column of references to rows, with -1 for none. */
  #targets(name) {
    const distances = this.columns[name];
    const targets = new Int32Array(this.count).fill(-1);
    for (let row = 0; row < this.count; row += 1) if (distances[row] !== NO_ROW) targets[row] = row - distances[row];
    return targets;
  }

  /**
   * The event that caused each one, or -1: a batch's fetch, the fetch that produced a fault's object, a miss's fault, and for
   * other events the one during which they happened.
   */
  #causes() {
    const causes = Int32Array.from(this.parent);
    const fields = { batch: "fetch", fault: "origin", cacheHits: "origin", cacheMiss: "fault", use: "fetch", release: "fetch" };
    const columns = new Map(
      Object.entries(fields).map(([kind, field]) => [this.kindNumbers.get(kind), this.columns[`${kind}.${field}`]]));
    for (let row = 0; row < this.count; row += 1) {
      const distance = columns.get(this.kind[row])?.[this.places[row]];
      if (distance !== undefined && distance !== NO_ROW) causes[row] = row - distance;
    }
    return causes;
  }

  kindName(row) { return this.kinds.get(this.kind[row]).name; }

  end(row) { return this.start[row] + this.duration[row]; }

  /** The value of a field of the row's kind, or `undefined` if it has none of that name. */
  field(row, name) {
    const column = this.columns[`${this.kindName(row)}.${name}`];
    return column === undefined ? undefined : column[this.places[row]];
  }

  /** The row that a field refers to, or -1. */
  target(row, name) {
    const distance = this.field(row, name);
    return distance === undefined || distance === NO_ROW ? -1 : row - distance;
  }

  /** The text that a field refers to, or an empty text. */
  text(row, name) { return this.head.strings[this.field(row, name) ?? 0]; }

  /** The word for a field whose values have names. */
  word(row, name) {
    const field = this.kinds.get(this.kind[row]).fields.find((field) => field.name === name);
    return field?.words?.[this.field(row, name)] ?? "";
  }

  /** The subject of the event, in a few words. */
  labelText(row) { return this.head.strings[this.label[row]]; }

  /** The line of the program, such as `List.swift:42`, or an empty text. */
  siteText(row) { return this.head.sites[this.site[row]][3]; }

  /** The kind of an event, its duration and its origin, as texts. */
  summary(row) {
    const time = this.duration[row] > 0 && formatDuration(this.duration[row]);
    return [this.kindName(row), this.labelText(row).slice(0, 300), time, this.siteText(row)].filter(Boolean);
  }

  /** The thread's name among those of its process. */
  threadText(row) { return this.threadLabels[this.thread[row]]; }

  /** The entity that the event is about, or an empty text. */
  entityText(row) { return this.head.strings[this.field(row, "entity") ?? 0]; }

  /** The rows that a list shows for an event, or `undefined` for kinds that have none. */
  rows(row) {
    if (this.flags[row] & ROWS_UNKNOWN) return undefined;
    switch (this.kindName(row)) {
      case "fault": case "cacheHits": return this.field(row, "filled");
      case "save": return this.field(row, "inserted") + this.field(row, "updated") + this.field(row, "deleted");
      case "use": return this.field(row, "loadedRows");
      case "merge": return this.field(row, "refreshed");
      case "refresh": return this.field(row, "objects");
      default: return this.field(row, "rows");
    }
  }

  /** The difference between an event and others with its label, in a few words. */
  remark(row) {
    if (this.field(row, "error")) return "failed";
    switch (this.kindName(row)) {
      case "fetch": return this.field(row, "batchSize") ? `by ${this.field(row, "batchSize")}` : "";
      case "batch": return `from ${this.field(row, "firstIndex")}`;
      case "fault": return { rowCache: "row cache", store: "store", gone: "gone" }[this.word(row, "source")];
      case "cacheHits": return formatCounted(this.field(row, "hits"), "hit");
      case "sql": return this.word(row, "type");
      case "use": return `${formatCount(this.field(row, "touchedRows"))} of ${formatCount(this.field(row, "rows"))} touched`;
      case "scope": return this.word(row, "kind");
      default: return "";
    }
  }

  /** The rows that an event caused, in the order in which they began. */
  effects(row) {
    this.effectsIndex ??= this.#indexEffects();
    const { first, rows } = this.effectsIndex;
    return rows.subarray(first[row], first[row + 1]);
  }

  /** For each row, where its effects are among all effects. */
  #indexEffects() {
    const first = new Uint32Array(this.count + 1);
    for (const cause of this.cause) if (cause >= 0) first[cause + 1] += 1;
    for (let row = 0; row < this.count; row += 1) first[row + 1] += first[row];
    const next = first.slice();
    const rows = new Uint32Array(first[this.count]);
    for (let row = 0; row < this.count; row += 1) if (this.cause[row] >= 0) rows[next[this.cause[row]]++] = row;
    return { first, rows };
  }

  /** The frames of an event's call path, innermost first: functions with their lines. */
  frames(row) {
    const frames = [];
    for (let step = this.path[row]; step !== 0; step = this.columns.callers[step]) {
      const [number, line] = this.head.frames[this.columns.frames[step]];
      const [name, file, module, part] = this.head.functions[number];
      frames.push({ name, file, module, part, line });
    }
    return frames;
  }
}

/** The bits of `flags`. */
export const DURATION_UNKNOWN = 1;
export const ROWS_UNKNOWN = 2;

/**
 * The names of threads: `threadLabels` among those of their process, and `threadNames` among all.
 *
 * Threads that a program does not name have the program's name, and their numbers distinguish them.
 */
function nameThreads(threads) {
  const name = (thread) => (thread.isMain ? "main" : thread.name || String(thread.thread));
  const key = (thread) => `${thread.process} ${name(thread)}`;
  const counts = new Map();
  for (const thread of threads) counts.set(key(thread), (counts.get(key(thread)) ?? 0) + 1);
  const isUnique = (thread) => counts.get(key(thread)) === 1;
  const hasSeveral = new Set(threads.slice(1).map((thread) => thread.process)).size > 1;
  return {
    threadLabels: threads.map((thread) => (isUnique(thread) ? name(thread) : String(thread.thread))),
    threadNames: threads.map((thread) => {
      const own = isUnique(thread) ? name(thread) : `${name(thread)} ${thread.thread}`;
      return hasSeveral ? `${own} of ${thread.process}` : own;
    }),
  };
}

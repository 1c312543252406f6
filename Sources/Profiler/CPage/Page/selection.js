import { likeness } from "./hotspots.js";

// Which events a reader looks at, and in which order.

/** A selection of all events: the criteria that a reader can set. */
export function wholeSelection() {
  return {
    from: null, to: null, text: "", kinds: [], entity: 0, leastDuration: 0, thread: 0, site: 0, operation: null, within: -1, finding: -1,
  };
}

/** Whether a selection leaves out no event. */
export function isWhole(selection) {
  const whole = wholeSelection();
  return Object.keys(whole).every((key) => JSON.stringify(selection[key]) === JSON.stringify(whole[key]));
}

/** The parts of a selection that neither the controls above the timeline nor the timeline show, in words. */
export function describeSelection(trace, { operation, within, finding }) {
  return [
    finding >= 0 && `of finding ${finding + 1}`,
    within >= 0 && `within ${trace.kindName(within)} ${trace.labelText(within)}`, operation?.text,
  ].filter(Boolean);
}

/** The rows that a selection contains, in the order in which they began. */
export function select(trace, selection) {
  const kinds = selection.kinds.length > 0 ? new Set(selection.kinds) : null;
  const isFound = selection.text.trim() === "" ? null : searcher(trace, selection.text.trim().toLowerCase());
  const keyOf = selection.operation ? likeness(trace) : null;
  const inside = selection.within >= 0 ? insideOf(trace, selection.within) : null;
  const entity = selection.entity > 0 ? entityOf(trace) : null;
  // A line is a site of its own by its module's name and by its path.
  const sites = selection.site > 0 ? trace.head.sites.map((site) => site[3] === trace.head.sites[selection.site][3]) : null;
  const mark = selection.finding >= 0 ? 2 ** selection.finding : 0;
  const rows = new Uint32Array(trace.count);
  let count = 0;
  for (let row = 0; row < trace.count; row += 1) {
    if (selection.to !== null && trace.start[row] > selection.to) break;
    if (selection.from !== null && trace.start[row] + trace.duration[row] < selection.from) continue;
    if (kinds && !kinds.has(trace.kind[row])) continue;
    if (trace.duration[row] < selection.leastDuration) continue;
    if (selection.thread > 0 && trace.thread[row] !== selection.thread) continue;
    if (sites && !sites[trace.site[row]]) continue;
    if (keyOf && keyOf(row) !== selection.operation.key) continue;
    if (inside && !inside[row]) continue;
    // A bit operation would cut the number to 32 bits.
    if (mark > 0 && Math.floor(trace.findings[row] / mark) % 2 === 0) continue;
    if (entity && entity(row) !== selection.entity) continue;
    if (isFound && !isFound(row)) continue;
    rows[count++] = row;
  }
  return rows.slice(0, count);
}

/**
 * Searches events: each word of a text must occur in the kind, the entity, the subject, the line, the thread or the context.
 *
 * @returns A function from a row to whether it has all words.
 */
function searcher(trace, text) {
  const kinds = [];
  for (const { number, name } of trace.kinds.values()) kinds[number] = name;
  const { strings, sites } = trace.head;
  const lines = sites.map((site) => `${site[3]} ${site[2]}`);
  const columns = [
    [(row) => trace.label[row], strings], [entityOf(trace), strings], [(row) => trace.context[row], strings],
    [(row) => trace.kind[row], kinds], [(row) => trace.thread[row], trace.threadNames], [(row) => trace.site[row], lines],
  ];
  const words = text.split(/\s+/).map((word) => {
    // Many events share few texts, so each text is searched once.
    const flags = new Map([strings, kinds, trace.threadNames, lines].map((texts) =>
      [texts, texts.map((candidate) => candidate.toLowerCase().includes(word))]));
    return columns.map(([numberOf, texts]) => [numberOf, flags.get(texts)]);
  });
  return (row) => words.every((found) => found.some(([numberOf, flags]) => flags[numberOf(row)]));
}

/** A flag for each row: whether it is an event, or happened because of it or within it. */
function insideOf(trace, row) {
  const inside = new Uint8Array(trace.count);
  inside[row] = 1;
  // The cause of an event, and the events that enclose it, begin before it.
  for (let next = row + 1; next < trace.count; next += 1) {
    const [cause, parent, scope] = [trace.cause[next], trace.parent[next], trace.scope[next]];
    if ((cause >= 0 && inside[cause]) || (parent >= 0 && inside[parent]) || (scope >= 0 && inside[scope])) inside[next] = 1;
  }
  return inside;
}

/** The column of the entity of each kind that has one, by the kind's number. */
function entityColumns(trace) {
  return new Map(trace.head.kinds.map((kind) => [kind.number, trace.columns[`${kind.name}.entity`]]));
}

/** A function from a row to the number of its entity's name, or 0. */
function entityOf(trace) {
  const columns = entityColumns(trace);
  return (row) => columns.get(trace.kind[row])?.[trace.places[row]] ?? 0;
}

/** The entities of a trace: pairs of the string's number and the name, by name. */
export function entities(trace) {
  trace.entities ??= findEntities(trace);
  return trace.entities;
}

function findEntities(trace) {
  const numbers = new Set();
  for (const column of entityColumns(trace).values()) for (const number of column ?? []) numbers.add(number);
  return [...numbers].filter((number) => number > 0).map((number) => [number, trace.head.strings[number]])
    .sort((a, b) => a[1].localeCompare(b[1]));
}

/** Sorts rows by a column of the event list, those without a value last; equal ones stay in the order in which they began. */
export function sortRows(trace, rows, column, isDescending) {
  const rank = (texts) => {
    const inOrder = [...new Set(texts)].sort(new Intl.Collator(undefined, { numeric: true }).compare);
    const positions = new Map(inOrder.map((text, position) => [text, position]));
    return Uint32Array.from(texts, (text) => positions.get(text));
  };
  const keys = new Float64Array(rows.length);
  const blanks = new Uint8Array(rows.length);
  const fill = (key, isBlank = () => false) => rows.forEach((row, index) => {
    keys[index] = key(row);
    blanks[index] = isBlank(row);
  });
  switch (column) {
    case "start": fill((row) => trace.start[row]); break;
    case "duration": fill((row) => trace.duration[row], (row) => trace.duration[row] === 0); break;
    case "rows": fill((row) => trace.rows(row) ?? 0, (row) => trace.rows(row) === undefined); break;
    case "kind": {
      const names = rank(trace.head.kinds.map(({ name }) => name));
      const ranks = new Map(trace.head.kinds.map(({ number }, index) => [number, names[index]]));
      fill((row) => ranks.get(trace.kind[row]));
      break;
    }
    case "thread": { const ranks = rank(trace.threadNames); fill((row) => ranks[trace.thread[row]]); break; }
    case "entity": {
      const [ranks, entity] = [rank(trace.head.strings), entityOf(trace)];
      fill((row) => ranks[entity(row)], (row) => entity(row) === 0);
      break;
    }
    case "what": { const ranks = rank(trace.head.strings); fill((row) => ranks[trace.label[row]]); break; }
    case "caller": { const ranks = rank(trace.head.sites.map((site) => site[3])); fill((row) => ranks[trace.site[row]], (row) => trace.site[row] === 0); break; }
  }
  const order = new Uint32Array(rows.length).map((_, index) => index);
  const sign = isDescending ? -1 : 1;
  order.sort((a, b) => blanks[a] - blanks[b] || sign * (keys[a] - keys[b]) || a - b);
  return order.map((index) => rows[index]);
}

/** Counts durations by size: ten classes for each power of ten, from 100 ns on. */
export function durationClasses(trace, rows) {
  const counts = new Uint32Array(101);
  for (const row of rows) {
    if (trace.duration[row] === 0) continue;
    counts[Math.max(0, Math.min(100, Math.floor(10 * (Math.log10(trace.duration[row]) - 2))))] += 1;
  }
  return counts;
}

// Which events a reader looks at, and in which order.

/** A selection of all events: the criteria that a reader can set. */
export function wholeSelection() {
  return { from: null, to: null, text: "", kinds: [], entity: 0, leastDuration: 0, thread: 0, site: 0, finding: -1 };
}

/** Whether a selection leaves out no event. */
export function isWhole(selection) {
  const whole = wholeSelection();
  return Object.keys(whole).every((key) => JSON.stringify(selection[key]) === JSON.stringify(whole[key]));
}

/** The rows that a selection contains, in the order in which they began. */
export function select(trace, selection) {
  const kinds = selection.kinds.length > 0 ? new Set(selection.kinds) : null;
  const words = selection.text.trim() === "" ? null : matchingTexts(trace, selection.text.trim().toLowerCase());
  const entities = selection.entity > 0 ? entityColumns(trace) : null;
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
    // A bit operation would cut the number to 32 bits.
    if (mark > 0 && Math.floor(trace.findings[row] / mark) % 2 === 0) continue;
    if (entities && entities.get(trace.kind[row])?.[trace.places[row]] !== selection.entity) continue;
    if (words && !words.strings[trace.label[row]] && !words.sites[trace.site[row]]) continue;
    rows[count++] = row;
  }
  return rows.slice(0, count);
}

/** The labels and lines in which a text occurs, as arrays of flags. */
function matchingTexts(trace, text) {
  return {
    strings: trace.head.strings.map((string) => string.toLowerCase().includes(text)),
    sites: trace.head.sites.map((site) => `${site[3]} ${site[2]}`.toLowerCase().includes(text)),
  };
}

/** The column of the entity of each kind that has one, by the kind's number. */
function entityColumns(trace) {
  return new Map(trace.head.kinds.map((kind) => [kind.number, trace.columns[`${kind.name}.entity`]]));
}

/** The entities of a trace: pairs of the string's number and the name, by name. */
export function entities(trace) {
  const numbers = new Set();
  for (const column of entityColumns(trace).values()) for (const number of column ?? []) numbers.add(number);
  return [...numbers].filter((number) => number > 0).map((number) => [number, trace.head.strings[number]])
    .sort((a, b) => a[1].localeCompare(b[1]));
}

/** Sorts rows by a column of the event list; equal ones stay in the order in which they began. */
export function sortRows(trace, rows, column, isDescending) {
  const rank = (texts) => {
    const inOrder = [...new Set(texts)].sort(new Intl.Collator(undefined, { numeric: true }).compare);
    const positions = new Map(inOrder.map((text, position) => [text, position]));
    return Uint32Array.from(texts, (text) => positions.get(text));
  };
  const keys = new Float64Array(rows.length);
  const fill = (key) => rows.forEach((row, index) => { keys[index] = key(row); });
  switch (column) {
    case "start": fill((row) => trace.start[row]); break;
    case "duration": fill((row) => trace.duration[row]); break;
    case "rows": fill((row) => trace.rows(row) ?? -1); break;
    case "kind": {
      const names = rank(trace.head.kinds.map(({ name }) => name));
      const ranks = new Map(trace.head.kinds.map(({ number }, index) => [number, names[index]]));
      fill((row) => ranks.get(trace.kind[row]));
      break;
    }
    case "thread": { const ranks = rank(trace.threadNames); fill((row) => ranks[trace.thread[row]]); break; }
    case "what": { const ranks = rank(trace.head.strings); fill((row) => ranks[trace.label[row]]); break; }
    case "caller": { const ranks = rank(trace.head.sites.map((site) => site[3])); fill((row) => ranks[trace.site[row]]); break; }
  }
  const order = new Uint32Array(rows.length).map((_, index) => index);
  const sign = isDescending ? -1 : 1;
  order.sort((a, b) => sign * (keys[a] - keys[b]) || a - b);
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

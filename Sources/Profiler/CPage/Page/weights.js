/**
 * A function from a row to its weight in a call tree.
 *
 * The command has decided which events have a weight, and which of their fields it is the sum of. Live bytes are the allocations
 * that the trace does not free.
 */
export function weigh(trace, weight) {
  const { fields, isSampled } = weightOf(trace, weight);
  const columns = new Map(Object.entries(fields).map(([kind, names]) => [trace.kindNumbers.get(kind), names.map(columnOf(trace, kind))]));
  const bit = bitOf(trace, weight);
  const freed = weight === "live" ? freedAllocations(trace) : undefined;
  const share = isSampled && weight !== "live" ? keptShare(trace, trace.kindNumbers.get(Object.keys(fields)[0])) : 1;
  return (row) => {
    if (!(trace.weights[row] & bit) || freed?.[row]) return 0;
    const values = columns.get(trace.kind[row]);
    return values.length === 0 ? 1 : values.reduce((sum, value) => sum + value(row), 0) / share;
  };
}

/** A function from the name of a field to its value in a row of a kind. */
function columnOf(trace, kind) {
  return (name) => {
    const column = trace.columns[`${kind}.${name}`];
    return column === undefined ? (row) => trace.duration[row] : (row) => column[trace.places[row]];
  };
}

const weightOf = (trace, weight) => trace.head.weights.find(({ name }) => name === weight);

/** The bit of the column `weights` that stands for a weight. */
const bitOf = (trace, weight) => 1 << trace.head.weights.findIndex(({ name }) => name === weight);

/** Marks the rows of allocations that another event frees. */
function freedAllocations(trace) {
  const freed = new Uint8Array(trace.count);
  const allocation = trace.kindNumbers.get("allocation");
  for (let row = 0; row < trace.count; row += 1) {
    if (trace.kind[row] !== allocation) continue;
    const block = trace.target(row, "allocation");
    if (block >= 0) freed[block] = 1;
  }
  return freed;
}

/** The share of a kind's samples that the page has: the others are an equal share throughout the trace, for which these stand. */
export function keptShare(trace, kind) {
  const kept = trace.kindCounts[kind];
  const omitted = trace.head.omitted?.kinds[trace.kinds.get(kind).name] ?? 0;
  return kept / Math.max(1, kept + omitted);
}

/** The weights that some event of a trace has, the most informative first: each with its `name` and its `title`. */
export function availableWeights(trace) {
  const seen = trace.weights.reduce((all, bits) => all | bits, 0);
  // If samples are left out, allocations cannot be matched with the events that free them.
  const isKnown = (name) => name !== "live" || !trace.head.omitted?.kinds.allocation;
  return trace.head.weights.filter(({ name }) => seen & bitOf(trace, name) && isKnown(name));
}

/** Whether the events of a weight are samples of the program's work. */
export function isSampled(trace, weight) { return weightOf(trace, weight).isSampled; }

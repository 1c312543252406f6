import { DURATION_UNKNOWN } from "./trace.js";

/** The kinds of operations, by their numbers. The time of a cache miss is that of its fault. */
function operationKinds({ head }) {
  return new Map(head.kinds.filter(({ name, isWork }) => isWork && name !== "cacheMiss").map(({ number, name }) => [number, name]));
}

/** Returns a function from a row to a text that is equal for operations of one kind, subject and line. */
export function likeness(trace) {
  const kinds = operationKinds(trace);
  return (row) => {
    const kind = kinds.get(trace.kind[row]);
    if (kind === undefined) return null;
    return [kind === "cacheHits" ? "fault" : kind, faultSource(trace, row, kind), trace.label[row], trace.siteText(row)].join("\n");
  };
}

/**
 * Sums the operations among some events that are alike.
 *
 * Statements count only if there are no operations of a store, which would contain them.
 *
 * @param rows The rows of the events.
 * @returns The sums, those first that took longest: `key`, as `likeness` has it, `kind`, `remark`, `label`, `site`, `count`, `rows`,
 *   `total`, `p50` and `p99`.
 */
export function sumOperations(trace, rows) {
  const groups = new Map();
  const kinds = operationKinds(trace);
  const keyOf = likeness(trace);
  for (const row of rows) {
    const key = keyOf(row);
    if (key === null) continue;
    if (!groups.has(key)) {
      const [kind, remark] = key.split("\n");
      groups.set(key, {
        key, kind, remark, label: trace.label[row], site: trace.site[row], count: 0, rows: 0, total: 0, durations: [], weights: [],
      });
    }
    addOperation(groups.get(key), trace, row, kinds.get(trace.kind[row]));
  }
  return withoutParts([...groups.values()]).map(finishGroup).sort((a, b) => b.total - a.total || b.count - a.count);
}

/** Sums without those of statements and cache misses, which are parts of operations, if there are any operations. */
export function withoutParts(groups) {
  const operations = groups.filter(({ kind }) => kind !== "sql" && kind !== "cacheMiss");
  return operations.every(({ kind }) => kind === "wait") ? groups : operations;
}

/** The source of a fault's values; an empty text for the store, and for other kinds. */
function faultSource(trace, row, kind) {
  if (kind === "cacheHits") return "cached";
  return (kind === "fault" && { rowCache: "cached", gone: "gone" }[trace.word(row, "source")]) || "";
}

function addOperation(group, trace, row, kind) {
  group.rows += trace.rows(row) ?? 0;
  // Faults that the row cache filled are counted, and share the time of all.
  const count = kind === "cacheHits" ? trace.field(row, "hits") : 1;
  const time = kind === "cacheHits" ? trace.field(row, "time") : trace.duration[row];
  group.count += count;
  group.total += time;
  if (trace.flags[row] & DURATION_UNKNOWN || count === 0) return;
  group.durations.push(time / count);
  group.weights.push(count);
}

function finishGroup({ durations, weights, ...group }) {
  const order = Uint32Array.from(durations.keys()).sort((a, b) => durations[a] - durations[b]);
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  const percentile = (share) => {
    let seen = 0;
    const found = order.find((place) => (seen += weights[place]) >= share * all);
    return found === undefined ? 0 : durations[found];
  };
  return { ...group, p50: percentile(0.5), p99: percentile(0.99) };
}

import { WITHIN_ANOTHER } from "./trace.js";

/** The weights of events in a call tree, with their names. */
export const WEIGHTS = {
  time: "Time in the store", trips: "Round trips", rows: "Rows", bytes: "Bytes read",
  cpu: "CPU time", allocations: "Allocated bytes", live: "Live bytes",
};

/**
 * A function from a row to its weight, by the same rules as those of `faultline tree --weight`.
 *
 * Live bytes are the allocations that the trace does not free.
 */
export function weigh(trace, weight) {
  const number = (kind) => trace.kindNumbers.get(kind);
  const [fetch, batch, fault, save, sql] = ["fetch", "batch", "fault", "save", "sql"].map(number);
  const [cpu, allocation, wait, hits] = ["cpu", "allocation", "wait", "cacheHits"].map(number);
  const instant = new Set(trace.head.kinds.filter((kind) => kind.isInstant).map((kind) => kind.number));
  const idle = new Set(trace.head.kinds.filter((kind) => !kind.isWork).map((kind) => kind.number));
  const column = (name) => trace.columns[name] ?? [];
  const value = (name, row) => column(name)[trace.places[row]];
  const isOutermost = (row) => !(trace.flags[row] & WITHIN_ANOTHER);
  const sources = trace.kinds.get(fault).fields.find((field) => field.name === "source").words;
  const isTrip = (row) => sources[value("fault.source", row)] !== "rowCache";
  const types = trace.kinds.get(sql).fields.find((field) => field.name === "type").words;
  const isRead = (row) => isOutermost(row) && types[value("sql.type", row)] === "read";
  switch (weight) {
    case "time": return (row) => {
      const kind = trace.kind[row];
      if (!isOutermost(row) || idle.has(kind)) return 0;
      if (kind === hits) return value("cacheHits.time", row);
      if (instant.has(kind) || (kind === wait && !value("wait.isBlocking", row))) return 0;
      return trace.duration[row];
    };
    case "trips": return (row) => {
      switch (trace.kind[row]) {
        case fetch: return value("fetch.trips", row);
        case batch: return value("batch.trips", row);
        case fault: return isTrip(row) ? 1 : 0;
        case save: return value("save.trips", row);
        case sql: return isRead(row) ? 1 : 0;
        default: return 0;
      }
    };
    case "rows": return (row) => {
      switch (trace.kind[row]) {
        case fetch: return value("fetch.rows", row);
        case batch: return value("batch.rows", row);
        case fault: return isTrip(row) ? value("fault.filled", row) : 0;
        case sql: return isRead(row) ? value("sql.rows", row) : 0;
        default: return 0;
      }
    };
    case "bytes": return (row) => {
      switch (trace.kind[row]) {
        case fetch: return value("fetch.bytes", row) + value("fetch.prefetchedBytes", row);
        case batch: return value("batch.bytes", row) + value("batch.prefetchedBytes", row);
        case fault: return isTrip(row) ? value("fault.bytes", row) : 0;
        default: return 0;
      }
    };
    case "cpu": {
      const scale = keptShare(trace, cpu);
      return (row) => (trace.kind[row] === cpu ? value("cpu.weight", row) / scale : 0);
    }
    case "allocations": {
      const scale = keptShare(trace, allocation);
      return (row) => (trace.kind[row] === allocation ? value("allocation.bytes", row) / scale : 0);
    }
    case "live": {
      const freed = new Uint8Array(trace.count);
      for (let row = 0; row < trace.count; row += 1) {
        if (trace.kind[row] !== allocation) continue;
        const block = trace.target(row, "allocation");
        if (block >= 0) freed[block] = 1;
      }
      return (row) => (trace.kind[row] === allocation && !freed[row] ? value("allocation.bytes", row) : 0);
    }
  }
}

/** The share of a kind's samples that the page has: the others are an equal share throughout the trace, for which these stand. */
export function keptShare(trace, kind) {
  const kept = trace.kindCounts[kind];
  const omitted = trace.head.omitted?.kinds[trace.kinds.get(kind).name] ?? 0;
  return kept / Math.max(1, kept + omitted);
}

/** The weights that some event of a trace has, CPU samples and allocations first if there are any. */
export function availableWeights(trace) {
  const has = (kind) => trace.kindCounts[trace.kindNumbers.get(kind)] > 0;
  const weights = [];
  if (has("cpu")) weights.push("cpu");
  if (has("allocation")) weights.push("allocations");
  // If samples are left out, allocations cannot be matched with the events that free them.
  if (has("allocation") && !trace.head.omitted?.kinds.allocation) weights.push("live");
  if (["fetch", "batch", "fault", "save", "sql", "wait"].some(has)) weights.push("time", "trips", "rows");
  if (["fetch", "batch", "fault"].some(has)) weights.push("bytes");
  return weights;
}

/** Whether the events of a weight are samples of the program's work. */
export function isSampled(weight) { return weight === "cpu" || weight === "allocations" || weight === "live"; }

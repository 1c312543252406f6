// The tracks of a timeline: which events are drawn where.

/** The tracks in their order, with the kinds of events that each shows and how. */
function tracksOf({ head }) {
  const tracks = new Map();
  for (const { name, track, style } of head.kinds) {
    if (!tracks.has(track)) tracks.set(track, { name: track, kinds: [], style });
    tracks.get(track).kinds.push(name);
  }
  return [...tracks.values()];
}

/** The number of events below one another in a track. Those that overlap more are drawn over others. */
const MOST_LEVELS = 6;

/**
 * The tracks of a trace: for each process, those that have events, and within each track one for each thread.
 *
 * A track has levels, and a level has the rows of events that do not overlap, with their starts, their ends, the last end so
 * far and the sum of their lengths before each. With these sums the share of any interval that events fill is known from two of them, so that
 * a track is drawn in the time of its pixels, however many events it has.
 */
export function layOut(trace) {
  const threads = trace.head.threads;
  const tracks = tracksOf(trace);
  const trackOfKind = new Map();
  tracks.forEach((track, index) => {
    for (const kind of track.kinds) trackOfKind.set(trace.kindNumbers.get(kind), index);
  });
  const builders = new Map();
  for (let row = 0; row < trace.count; row += 1) {
    const track = trackOfKind.get(trace.kind[row]);
    const process = threads[trace.thread[row]].process;
    const thread = trace.thread[row];
    const isFlat = !hasLevels(tracks[track]);
    builder(builders, `${process} ${track}`, () => ({ process, track, isFlat, thread: -1 })).add(trace, row);
    builder(builders, `${process} ${track} ${thread}`, () => ({ process, track, isFlat, thread })).add(trace, row);
  }
  // A track that shows no event one by one still shows what the omitted ones sum to.
  for (const { thread, kind } of omittedSums(trace)) {
    const track = trackOfKind.get(trace.kindNumbers.get(kind));
    if (tracks[track].style === "level") continue;
    const { process } = threads[thread];
    const isFlat = !hasLevels(tracks[track]);
    builder(builders, `${process} ${track}`, () => ({ process, track, isFlat, thread: -1 }));
    builder(builders, `${process} ${track} ${thread}`, () => ({ process, track, isFlat, thread }));
  }
  const lanes = [...builders.values()].map((builder) => builder.finish(trace));
  const processes = [...new Set(threads.slice(1).map((thread) => thread.process))];
  return processes.map((process) => ({
    process,
    tracks: tracks.map((track, index) => {
      const own = lanes.filter((lane) => lane.process === process && lane.track === index);
      const whole = own.find((lane) => lane.thread < 0);
      const parts = own.filter((lane) => lane.thread >= 0);
      return whole && { name: track.name, style: track.style, kinds: track.kinds, whole, threads: parts.length > 1 ? parts : [] };
    }).filter(Boolean),
  })).filter((process) => process.tracks.length > 0);
}

/**
 * The sums of the events that a page does not have one by one: for each thread and kind, the `times` in equal parts of the trace, or the
 * weights of samples, with the `begin` of the first part and the `length` of each.
 */
export function omittedSums(trace) {
  const sums = [];
  const [begin, end] = trace.head.span;
  for (const [name, times] of Object.entries(trace.columns)) {
    const [, thread, kind] = /^omitted (\d+) (\d+)$/.exec(name) ?? [];
    if (thread) sums.push({ thread: Number(thread), kind: trace.kinds.get(Number(kind)).name, times, begin, length: (end - begin) / times.length });
  }
  return sums;
}

/** Whether a track's events are long enough to overlap. */
function hasLevels({ style }) { return ["bands", "slices", "spans"].includes(style); }

/** Whether a track is a graph of sampled values. */
export function isGraph({ style }) { return style === "load" || style === "level"; }

/** The part of such sums that is between two times. */
export function omittedBetween(sums, from, to) {
  let sum = 0;
  for (const { times, begin, length } of sums) {
    for (let bin = Math.max(0, Math.floor((from - begin) / length)); bin < times.length && begin + bin * length < to; bin += 1) {
      const edge = begin + bin * length;
      sum += (times[bin] * (Math.min(to, edge + length) - Math.max(from, edge))) / length;
    }
  }
  return sum;
}

/** Those sums that belong to a lane of a track. */
export function omittedOf(trace, sums, track, lane) {
  return sums.filter(({ thread, kind }) => track.kinds.includes(kind)
    && (lane.thread >= 0 ? lane.thread === thread : trace.head.threads[thread].process === lane.process));
}

function builder(builders, key, identity) {
  if (!builders.has(key)) builders.set(key, new LaneBuilder(identity()));
  return builders.get(key);
}

/** Distributes events over the levels of a track as they come, in the order in which they begin. */
class LaneBuilder {
  constructor(identity) {
    this.identity = identity;
    this.levels = [];
    this.ends = [];
  }

  add(trace, row) {
    const start = trace.start[row];
    let level = this.identity.isFlat ? 0 : this.ends.findIndex((end) => end <= start);
    if (level < 0) level = this.levels.length < MOST_LEVELS ? this.levels.length : MOST_LEVELS - 1;
    if (level === this.levels.length) this.levels.push([]);
    this.levels[level].push(row);
    this.ends[level] = Math.max(this.ends[level] ?? 0, trace.end(row));
  }

  finish(trace) {
    if (this.levels.length === 0) this.levels.push([]);
    return { ...this.identity, levels: this.levels.map((rows) => finishLevel(trace, Uint32Array.from(rows))) };
  }
}

function finishLevel(trace, rows) {
  const starts = new Float64Array(rows.length);
  const ends = new Float64Array(rows.length);
  const reaches = new Float64Array(rows.length);
  const sums = new Float64Array(rows.length + 1);
  rows.forEach((row, index) => {
    starts[index] = trace.start[row];
    ends[index] = trace.end(row);
    reaches[index] = Math.max(reaches[index - 1] ?? 0, ends[index]);
    const { weight } = trace.kinds.get(trace.kind[row]);
    sums[index + 1] = sums[index] + (weight ? trace.field(row, weight) : trace.duration[row]);
  });
  return { rows, starts, ends, reaches, sums };
}

/** The first index at which a sorted array is at least `value`, from `low` on. */
export function lowerBound(values, value, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

import { element, shape } from "./elements.js";
import { formatCount, formatDuration, formatPercent, formatSize } from "./format.js";

// Charts, where a picture says more than a sentence. Each has a text that says the same.

const SIZE = { width: 320, height: 150, left: 52, right: 24, top: 16, bottom: 30 };

/** A chart with labelled axes. `content` draws into the area, given functions from values to its points. */
function chart(label, { x, y }, content) {
  const { width, height, left, right, top, bottom } = SIZE;
  const scale = ({ from, to, isLogarithmic }, start, end) => {
    const of = isLogarithmic ? (value) => Math.log10(Math.max(value, Number.MIN_VALUE)) : (value) => value;
    const [low, high] = [of(from), of(to)];
    return (value) => start + ((of(value) - low) / (high - low || 1)) * (end - start);
  };
  const [px, py] = [scale(x, left, width - right), scale(y, height - bottom, top)];
  const tick = (text, attributes) => shape("text", { class: "tick", ...attributes }, text);
  return shape("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    shape("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    y.ticks.map((value) => [
      shape("line", { class: "grid", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
      tick(y.format(value), { x: left - 6, y: py(value) + 4, "text-anchor": "end" }),
    ]),
    x.ticks.map((value) => tick(x.format(value), { x: px(value), y: height - bottom + 14, "text-anchor": "middle" })),
    tick(x.title, { x: (left + width - right) / 2, y: height - 3, "text-anchor": "middle" }),
    content(px, py));
}

function path(points) { return points.map(([x, y], index) => `${index ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""); }

/** The total time of each batch size and the time of one batch, with the current and the advised size. */
export function batchCurveChart(curve) {
  const points = curve.points.filter(({ batchSize }) => batchSize > 0);
  if (points.length < 2) return null;
  const sizes = points.map(({ batchSize }) => batchSize);
  const most = Math.max(...points.flatMap(({ cost, wait }) => [cost, wait]));
  const mark = (px, py, size, kind) => {
    const point = points.find(({ batchSize }) => batchSize === size);
    return point && [point.cost, point.wait].map((time) => shape("circle", { class: `dot ${kind}`, cx: px(size), cy: py(time), r: 4 }));
  };
  // The sizes are named above the curves, near ones together.
  const names = (px) => {
    const named = [[curve.current, "now"], [curve.advised, "advised"]].filter(([size]) => sizes.includes(size)).sort((a, b) => a[0] - b[0])
      .map(([size, word]) => ({ x: px(size), text: `${formatCount(size)} ${word}` }));
    const areNear = named.length === 2 && named[1].x - named[0].x < 90;
    const texts = areNear ? [{ x: (named[0].x + named[1].x) / 2, text: named.map(({ text }) => text).join(", ") }] : named;
    return texts.map(({ x, text }) => shape("text", {
      class: "mark", x: Math.max(70, Math.min(SIZE.width - 70, x)), y: SIZE.top - 2, "text-anchor": "middle",
    }, text));
  };
  const words = points.map(({ batchSize, cost, wait }) => `${batchSize}: ${formatDuration(cost)}, ${formatDuration(wait)}`).join("; ");
  const decades = [1, 10, 100, 1000, 10000].filter((size) => size >= sizes[0] && size <= sizes.at(-1));
  const drawn = (px, py, key, kind) => shape("path", {
    class: `curve ${kind}`, d: path(points.map((point) => [px(point.batchSize), py(point[key])])),
  });
  return element("figure", {}, chart(`Total time, and that of one batch, by batch size: ${words}`, {
    x: { from: sizes[0], to: sizes.at(-1), isLogarithmic: true, ticks: decades, format: formatCount, title: "batch size" },
    y: { from: 0, to: most * 1.1, ticks: [0, most / 2, most], format: formatDuration },
  }, (px, py) => [
    drawn(px, py, "cost", "total"), drawn(px, py, "wait", "single"), mark(px, py, curve.current, "now"), mark(px, py, curve.advised, "advised"),
    names(px),
  ]), element("figcaption", { class: "legend" },
    element("span", {}, element("span", { class: "stroke total" }), "all batches"),
    element("span", {}, element("span", { class: "stroke single" }), "one batch, for which a screen waits")));
}

/**
 * The time of one fetch now, and with ten and a hundred times the rows, with the range of the projection.
 *
 * @param result A fetch of the report whose growth is known.
 */
export function growthChart({ growth, shape: { entity }, site }) {
  const points = [[growth.rows, growth.now], [growth.rows * 10, growth.tenfold], [growth.rows * 100, growth.hundredfold]];
  const words = points.map(([rows, time]) => `${formatCount(rows)} rows: ${formatDuration(time.median)}`).join(", ");
  const [least, most] = [Math.min(...points.map(([, { low }]) => low)), Math.max(...points.map(([, { high }]) => high))];
  const decades = Array.from({ length: 12 }, (_, power) => 10 ** power).filter((time) => time >= least / 3 && time <= most * 3);
  return element("figure", {}, chart(`The time of one fetch of ${entity} by rows: ${words}`, {
    x: { from: growth.rows, to: growth.rows * 100, isLogarithmic: true, ticks: points.map(([rows]) => rows), format: formatCount, title: "rows" },
    y: { from: Math.max(1, least / 1.5), to: most * 1.5, isLogarithmic: true, ticks: decades, format: formatDuration },
  }, (px, py) => [
    shape("path", { class: "band", d: `${path([
      ...points.map(([rows, { high }]) => [px(rows), py(high)]), ...points.toReversed().map(([rows, { low }]) => [px(rows), py(low)]),
    ])}Z` }),
    shape("path", { class: "curve", d: path(points.map(([rows, { median }]) => [px(rows), py(median)])) }),
    points.map(([rows, { median }]) => shape("circle", { class: "dot", cx: px(rows), cy: py(median), r: 4 })),
  ]), element("figcaption", {}, `${entity}${site ? ` at ${site.text}` : ""}: ${words}.`));
}

/** The number of events by duration: ten bars for each power of ten from 100 ns on. */
export function durationChart(classes) {
  const first = classes.findIndex((count) => count > 0);
  if (first < 0) return null;
  const last = classes.findLastIndex((count) => count > 0) + 1;
  const edge = (index) => 100 * 10 ** (index / 10);
  const most = Math.max(...classes);
  const [from, to] = [edge(Math.max(0, first - 1)), edge(last + 1)];
  const powers = Array.from({ length: 11 }, (_, power) => 100 * 10 ** power).filter((time) => time >= from && time <= to);
  // The labels of more than five would touch.
  const decades = powers.filter((_, index) => index % Math.ceil(powers.length / 5) === 0);
  // The first class has all shorter events too.
  const words = (count, index) =>
    `${index > 0 ? `${formatDuration(edge(index))} to` : "up to"} ${formatDuration(edge(index + 1))}: ${formatCount(count)}`;
  const bars = (px, py) => Array.from(classes, (count, index) => count === 0 ? null : shape("rect", {
    class: "bar", x: px(edge(index)), y: py(count), width: Math.max(1, px(edge(index + 1)) - px(edge(index)) - 1),
    height: py(0) - py(count),
  }, shape("title", {}, words(count, index))));
  const label = Array.from(classes, (count, index) => count > 0 && words(count, index)).filter(Boolean).join(", ");
  return chart(`Events by duration: ${label}`, {
    x: { from, to, isLogarithmic: true, ticks: decades, format: formatDuration, title: "duration" },
    y: { from: 0, to: most, ticks: [0, most], format: formatCount },
  }, bars);
}

/**
 * The share of faults that a row cache of a size would have served, from the rows that were loaded between two uses of one.
 *
 * @param rows The rows of the events to examine.
 * @returns The chart, or `null` if no fault went to the store for a row that had been in the cache before.
 */
export function cacheChart(trace, rows) {
  const [fault, cacheHits] = ["fault", "cacheHits"].map((kind) => trace.kindNumbers.get(kind));
  const { places } = trace;
  const [since, loaded, sources] = ["sinceCached", "loadedSince", "source"].map((name) => trace.columns[`fault.${name}`]);
  if (!since) return null;
  const words = trace.kinds.get(fault).fields.find(({ name }) => name === "source").words;
  const distances = [];
  let faults = 0, hits = 0;
  for (const row of rows) {
    if (trace.kind[row] === cacheHits) {
      const count = trace.field(row, "hits");
      faults += count;
      hits += count;
    }
    if (trace.kind[row] !== fault) continue;
    faults += 1;
    if (words[sources[places[row]]] === "rowCache") hits += 1;
    else if (since[places[row]] > 0) distances.push(loaded[places[row]]);
  }
  if (distances.length === 0) return null;
  distances.sort((a, b) => a - b);
  const steps = distances.map((distance, index) => [Math.max(distance, 1024), (hits + index + 1) / faults]);
  const [from, to] = [steps[0][0] / 2, steps.at(-1)[0] * 2];
  const sizes = Array.from({ length: 21 }, (_, power) => 1024 * 2 ** power).filter((size) => size >= from && size <= to);
  const apart = Math.ceil(sizes.length / 5);
  const ticks = sizes.filter((_, index) => index % apart === 0);
  const label = `A row cache larger by ${formatSize(steps.at(-1)[0])} would serve ${formatPercent(steps.at(-1)[1])} of these faults `
    + `instead of ${formatPercent(hits / faults)}.`;
  return element("figure", {}, chart(label, {
    x: { from, to, isLogarithmic: true, ticks, format: formatSize, title: "additional room in the row cache" },
    y: { from: 0, to: 1, ticks: [0, 0.5, 1], format: formatPercent },
  }, (px, py) => shape("path", {
    class: "curve", d: path([[px(from), py(hits / faults)], ...steps.map(([size, share]) => [px(size), py(share)])]),
  })), element("figcaption", {}, label));
}

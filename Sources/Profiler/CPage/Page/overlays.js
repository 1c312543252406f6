import { styleColour } from "./colours.js";
import { formatDuration, formatTick, tickStep } from "./format.js";

// The parts of a timeline that cross its tracks: the axis, the selected event with its arrows, and the chosen range.

export const AXIS_HEIGHT = 22;
/** The number of effects that get an arrow, of those in sight. */
const MOST_ARROWS = 200;
/** The width at which an event that is too short to be seen is marked, in pixels. */
const MARK = 4;

/** Draws the times above the tracks, and their lines through all tracks. */
export function drawAxis(context, scale, width, height) {
  const { view, span } = scale;
  const step = tickStep(scale.nanosecondsPerPixel * 110);
  context.fillStyle = styleColour("--quiet");
  context.strokeStyle = styleColour("--grid");
  context.beginPath();
  for (let time = Math.ceil((view.from - span.from) / step) * step; ; time += step) {
    const x = scale.x(time + span.from);
    if (x > width) break;
    context.moveTo(Math.round(x) + 0.5, AXIS_HEIGHT - 6);
    context.lineTo(Math.round(x) + 0.5, height);
    context.fillText(formatTick(time, step, view.to - span.from), x + 4, AXIS_HEIGHT / 2);
  }
  context.stroke();
}

/**
 * Frames the selected event, even if it is too short to be seen.
 *
 * @param placeOf Returns the top and the height of the slice that shows a row, or `null` if none does.
 */
export function drawSelected(context, scale, trace, row, placeOf) {
  const place = placeOf(row);
  if (!place) return;
  const from = Math.max(scale.x(trace.start[row]), scale.left - MARK);
  const to = Math.min(scale.x(trace.end(row)), scale.left + scale.width + MARK);
  const wide = Math.max(MARK, to - from);
  const left = Math.min(from, to) - (wide > to - from ? MARK / 2 : 0);
  context.lineWidth = 2;
  context.strokeStyle = styleColour("--ink");
  context.strokeRect(left + 1, place.y + 1, Math.max(1, wide - 2), place.height - 2);
}

/**
 * Draws arrows from an event's cause to it, and from it to its effects in sight.
 *
 * @param placeOf Returns the top and the height of the slice that shows a row, or `null` if none does.
 */
export function drawArrows(context, scale, trace, row, placeOf) {
  const { from, to } = scale.view;
  const pairs = [];
  for (const effect of trace.effects(row)) {
    if (trace.end(effect) < from) continue;
    if (trace.start[effect] > to || pairs.length === MOST_ARROWS) break;
    pairs.push([row, effect]);
  }
  if (trace.cause[row] >= 0) pairs.push([trace.cause[row], row]);
  context.strokeStyle = styleColour("--arrow");
  context.fillStyle = styleColour("--arrow");
  context.lineWidth = 1.25;
  // Arrows that end at one spot would only be a blot.
  const drawn = new Set();
  for (const [cause, effect] of pairs) {
    const [start, end] = [placeOf(cause), placeOf(effect)];
    if (start === null || end === null) continue;
    const x0 = scale.x(Math.min(trace.end(cause), trace.start[effect]));
    const x1 = scale.x(trace.start[effect]);
    if (Math.max(x0, x1) < scale.left || Math.min(x0, x1) > scale.left + scale.width) continue;
    const spot = `${Math.round(x1 / (2 * MARK))} ${end.y}`;
    if (drawn.has(spot)) continue;
    drawn.add(spot);
    drawArrow(context, x0, start.y + start.height / 2, x1, end.y + end.height / 2);
  }
}

function drawArrow(context, x0, y0, x1, y1) {
  const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 4, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 6, y1 - 3);
  context.lineTo(x1 - 6, y1 + 3);
  context.fill();
}

/** Shades the time outside a range, and states its length. */
export function drawRange(context, scale, { from, to }, height) {
  const [x0, x1] = [scale.x(from), scale.x(to)];
  context.fillStyle = styleColour("--shade");
  const right = scale.left + scale.width;
  context.fillRect(scale.left, 0, Math.min(Math.max(0, x0 - scale.left), scale.width), height);
  context.fillRect(Math.max(scale.left, x1), 0, Math.min(Math.max(0, right - x1), scale.width), height);
  context.fillStyle = styleColour("--ink");
  for (const x of [x0 - 1, x1]) if (x >= scale.left && x <= right) context.fillRect(x, 0, 1, height);
  // Between the times of the axis, which it may cover, and not over the events.
  const text = formatDuration(to - from);
  const wide = context.measureText(text).width + 12;
  const middle = (Math.max(x0, scale.left) + Math.min(x1, right)) / 2;
  const x = Math.min(Math.max(scale.left, middle - wide / 2), right - wide);
  if (x1 < scale.left || x0 > right) return;
  context.fillStyle = styleColour("--accent");
  context.fillRect(x, 2, wide, AXIS_HEIGHT - 6);
  context.fillStyle = styleColour("--on-accent");
  context.fillText(text, x + 6, AXIS_HEIGHT / 2 - 1);
}

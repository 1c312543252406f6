import { styleColour } from "./colours.js";
import { formatDuration, formatTick, tickStep } from "./format.js";
import { LEVEL_HEIGHT } from "./trackpainter.js";

// What a timeline shows across its tracks: the axis, the arrows of the selected event, and the chosen range.

export const AXIS_HEIGHT = 22;
/** The number of effects that get an arrow. */
const MOST_ARROWS = 200;

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
 * Draws arrows from an event's cause to it, and from it to its effects.
 *
 * @param topOf Returns the top of the level that shows a row, or `null` if none does.
 */
export function drawArrows(context, scale, trace, row, topOf) {
  const pairs = [...trace.effects(row).subarray(0, MOST_ARROWS)].map((effect) => [row, effect]);
  if (trace.cause[row] >= 0) pairs.push([trace.cause[row], row]);
  context.strokeStyle = styleColour("--arrow");
  context.fillStyle = styleColour("--arrow");
  context.lineWidth = 1.25;
  for (const [from, to] of pairs) {
    const [start, end] = [topOf(from), topOf(to)];
    if (start === null || end === null) continue;
    const x0 = scale.x(Math.min(trace.end(from), trace.start[to]));
    const x1 = scale.x(trace.start[to]);
    if (Math.max(x0, x1) < scale.left || Math.min(x0, x1) > scale.left + scale.width) continue;
    drawArrow(context, x0, start + LEVEL_HEIGHT / 2, x1, end + LEVEL_HEIGHT / 2);
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
  context.fillRect(scale.left, 0, x0 - scale.left, height);
  context.fillRect(x1, 0, scale.left + scale.width - x1, height);
  context.fillStyle = styleColour("--ink");
  context.fillRect(x0 - 1, 0, 1, height);
  context.fillRect(x1, 0, 1, height);
  context.fillText(formatDuration(to - from), x0 + 6, AXIS_HEIGHT + 10);
}

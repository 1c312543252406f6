// The places of the boxes in a model's diagram, and the ends of the lines between them.

/** The measures of a diagram in its own units: a box, a row in it, and the space between boxes. */
export const MODEL_SIZES = { width: 244, head: 28, row: 17, foot: 6, column: 96, gap: 26 };

/** The height at which the boxes of one layer continue in another column, unless the diagram as a whole is larger. */
const COLUMN_HEIGHT = 760;

/** The number of a model's boxes that form a row, if no line leads to them. */
const LOOSE_ROW = 5;

/**
 * Places the boxes of entities: those that are connected in layers around the one with the most connections, and the others below.
 *
 * @param boxes Boxes by name, with their heights. @param links Pairs of names.
 * @returns The size of the diagram; each box gets `x` and `y`.
 */
export function placeBoxes(boxes, links) {
  const neighbours = new Map([...boxes.keys()].map((name) => [name, new Set()]));
  for (const [start, end] of links) {
    if (start === end || !boxes.has(start) || !boxes.has(end)) continue;
    neighbours.get(start).add(end);
    neighbours.get(end).add(start);
  }
  const groups = connectedGroups(neighbours);
  let [top, wide] = [0, 0];
  for (const group of groups.filter(({ length }) => length > 1)) {
    const size = placeColumns(columnsOf(group, neighbours, boxes), boxes, top);
    top += size.height + MODEL_SIZES.gap * 2;
    wide = Math.max(wide, size.width);
  }
  const loose = groups.filter(({ length }) => length === 1).flat();
  for (let index = 0; index < loose.length; index += LOOSE_ROW) {
    const row = loose.slice(index, index + LOOSE_ROW).map((name) => boxes.get(name));
    row.forEach((box, place) => Object.assign(box, { x: place * (MODEL_SIZES.width + MODEL_SIZES.column), y: top }));
    wide = Math.max(wide, row.length * (MODEL_SIZES.width + MODEL_SIZES.column) - MODEL_SIZES.column);
    top += Math.max(...row.map(({ height }) => height)) + MODEL_SIZES.gap;
  }
  return { width: wide, height: Math.max(0, top - MODEL_SIZES.gap) };
}

/** The names that are connected with each other, the largest group first. */
function connectedGroups(neighbours) {
  const seen = new Set();
  const groups = [];
  for (const name of neighbours.keys()) {
    if (seen.has(name)) continue;
    const group = [name];
    seen.add(name);
    for (const member of group) {
      for (const next of neighbours.get(member)) {
        if (seen.has(next)) continue;
        seen.add(next);
        group.push(next);
      }
    }
    groups.push(group);
  }
  return groups.sort((first, second) => second.length - first.length);
}

/** The columns of a group: layers by their distance from the busiest entity, split where they are too high. */
function columnsOf(group, neighbours, boxes) {
  const degree = (name) => neighbours.get(name).size;
  const hub = group.reduce((best, name) => (degree(name) > degree(best) ? name : best));
  const layers = [[hub]];
  const seen = new Set([hub]);
  for (const layer of layers) {
    const next = layer.flatMap((name) => [...neighbours.get(name)]).filter((name) => !seen.has(name) && seen.add(name));
    if (next.length > 0) layers.push(next);
  }
  sortLayers(layers, neighbours);
  const total = group.reduce((sum, name) => sum + boxes.get(name).height + MODEL_SIZES.gap, 0);
  const most = Math.max(COLUMN_HEIGHT, Math.sqrt(total * MODEL_SIZES.width));
  return layers.flatMap((layer) => {
    const columns = [[]];
    let height = 0;
    for (const name of layer) {
      const more = boxes.get(name).height + MODEL_SIZES.gap;
      if (height + more > most && height > 0) {
        columns.push([]);
        height = 0;
      }
      columns.at(-1).push(name);
      height += more;
    }
    return columns;
  });
}

/** Puts the names of each layer beside their neighbours in the layers around it, so that fewer lines cross. */
function sortLayers(layers, neighbours) {
  const sweep = (order) => {
    for (let index = 1; index < order.length; index += 1) {
      const places = new Map(order[index - 1].map((name, place) => [name, place]));
      const middle = (name) => {
        const found = [...neighbours.get(name)].map((other) => places.get(other)).filter((place) => place !== undefined);
        return found.length === 0 ? places.size / 2 : found.reduce((sum, place) => sum + place, 0) / found.length;
      };
      order[index].sort((first, second) => middle(first) - middle(second) || first.localeCompare(second));
    }
  };
  for (let round = 0; round < 3; round += 1) {
    sweep(layers);
    sweep([...layers].reverse());
  }
}

function placeColumns(columns, boxes, top) {
  const heights = columns.map((column) =>
    column.reduce((sum, name) => sum + boxes.get(name).height + MODEL_SIZES.gap, -MODEL_SIZES.gap));
  const height = Math.max(...heights);
  columns.forEach((column, index) => {
    let y = top + (height - heights[index]) / 2;
    for (const name of column) {
      const box = boxes.get(name);
      Object.assign(box, { x: index * (MODEL_SIZES.width + MODEL_SIZES.column), y });
      y += box.height + MODEL_SIZES.gap;
    }
  });
  return { height, width: columns.length * (MODEL_SIZES.width + MODEL_SIZES.column) - MODEL_SIZES.column };
}

/**
 * The ends of lines at the sides of boxes, so that no two lines of a side end at the same place.
 *
 * @param lines Lines with the names `source` and `destination`.
 * @returns For each line its two ends: a point, and the direction in which the line leaves the box, 1 for right.
 */
export function placeEnds(lines, boxes) {
  const sides = new Map();
  const ends = lines.map(({ source, destination }) => {
    const [from, to] = [boxes.get(source), boxes.get(destination)];
    // In one column, a line leaves and arrives on the right.
    const isSame = from.x === to.x;
    const isRight = from.x < to.x;
    return [
      { box: from, other: to, direction: isSame || isRight ? 1 : -1 },
      { box: to, other: from, direction: isSame || !isRight ? 1 : -1 },
    ];
  });
  for (const end of ends.flat()) {
    if (!sides.has(end.box)) sides.set(end.box, { 1: [], [-1]: [] });
    sides.get(end.box)[end.direction].push(end);
  }
  for (const [box, both] of sides) {
    for (const side of Object.values(both)) {
      side.sort((first, second) => first.other.y - second.other.y);
      side.forEach((end, index) => {
        end.x = box.x + (end.direction === 1 ? MODEL_SIZES.width : 0);
        end.y = box.y + (box.height * (index + 1)) / (side.length + 1);
      });
    }
  }
  return ends;
}

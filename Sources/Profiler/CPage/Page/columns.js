// The events of a page: columns of numbers, compressed with gzip and written in base64.

/** Inflates what a script element of the page contains. */
export async function inflate(base64) {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Reads columns: an object of typed arrays by name.
 *
 * A column's lowest bytes come first, then the next ones; `entries` names the columns in the order of their bytes.
 */
export function readColumns(entries, bytes) {
  const columns = {};
  let offset = 0;
  for (const { name, coding, rows, width } of entries) {
    const numbers = readNumbers(bytes.subarray(offset, offset + rows * width), rows, width);
    offset += rows * width;
    columns[name] = decoders[coding](numbers);
  }
  return columns;
}

function readNumbers(bytes, rows, width) {
  const numbers = new (width <= 1 ? Uint8Array : width <= 2 ? Uint16Array : width <= 4 ? Uint32Array : Float64Array)(rows);
  for (let byte = 0, weight = 1; byte < width; byte += 1, weight *= 256) {
    const base = byte * rows;
    for (let row = 0; row < rows; row += 1) numbers[row] += bytes[base + row] * weight;
  }
  return numbers;
}

const decoders = {
  plain: (numbers) => numbers,

  /** Differences to the row before. */
  ascending(numbers) {
    const values = new Float64Array(numbers.length);
    let last = 0;
    for (let row = 0; row < numbers.length; row += 1) values[row] = last += numbers[row];
    return values;
  },

  /** Distances between rows, relative to the row itself; -1 stands for none. The caller adds the row's own number. */
  row(numbers) {
    const distances = new Int32Array(numbers.length).fill(NO_ROW);
    for (let row = 0; row < numbers.length; row += 1) {
      const code = numbers[row] - 1;
      if (code >= 0) distances[row] = code % 2 === 0 ? code / 2 : -(code + 1) / 2;
    }
    return distances;
  },

  /** Numbers that only show which ones are equal: 0 for none, and otherwise 1, 2, 3 in the order of their occurrence. */
  repeated(numbers) {
    const values = new Uint32Array(numbers.length);
    let count = 0;
    for (let row = 0; row < numbers.length; row += 1) {
      const code = numbers[row];
      values[row] = code === 0 ? 0 : code === 1 ? (count += 1) : count - (code - 2);
    }
    return values;
  },
};

/** The distance that stands for no row. */
export const NO_ROW = -0x80000000;

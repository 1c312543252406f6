import { isSampled, weigh } from "./weights.js";

/**
 * A call tree of some events, as arrays with one value for each node: `parents`, `functions`, `totals` and `owns`.
 *
 * Node 0 is the root, and each node comes after its parent. Like `faultline tree`, it merges neighbours of the same function
 * on a path: closures and specialized copies of a function have its name.
 *
 * @param rows The rows to weigh. @param options `weight`, `inverted` and `hidesLibraries`.
 */
export function buildTree(trace, rows, { weight, inverted, hidesLibraries }) {
  const of = weigh(trace, weight);
  const weights = new Float64Array(trace.columns.callers.length);
  let total = 0, events = 0;
  for (const row of rows) {
    const size = of(row);
    if (size === 0) continue;
    weights[trace.path[row]] += size;
    total += size;
    events += 1;
  }
  const paths = new Paths(trace, isSampled(trace, weight), hidesLibraries);
  const tree = { parents: [-1], functions: [0], totals: [total], owns: [0] };
  const children = new Map();
  let unknown = 0, hidden = 0;
  for (let step = 0; step < weights.length; step += 1) {
    if (weights[step] === 0) continue;
    const path = paths.functions(step);
    if (path.length === 0) {
      if (hidesLibraries && step > 0) hidden += weights[step]; else unknown += weights[step];
    }
    let node = 0;
    let own = 0;
    for (const number of inverted ? path : path.toReversed()) {
      const key = node * trace.head.functions.length + number;
      let child = children.get(key);
      if (child === undefined) {
        child = tree.parents.length;
        children.set(key, child);
        tree.parents.push(node);
        tree.functions.push(number);
        tree.totals.push(0);
        tree.owns.push(0);
      }
      tree.totals[child] += weights[step];
      node = child;
      // The first function of an inverted path is the one that ran.
      if (!inverted || own === 0) own = node;
    }
    tree.owns[own] += weights[step];
  }
  return {
    parents: Int32Array.from(tree.parents), functions: Uint32Array.from(tree.functions),
    totals: Float64Array.from(tree.totals), owns: Float64Array.from(tree.owns), total, events, unknown, hidden,
  };
}

/** The number of functions on a path that a tree shows, as in `faultline tree`. Stacks are recorded with far fewer frames. */
const DEEPEST_PATH = 1000;

/** The functions of call paths, as a tree shows them. */
class Paths {
  constructor(trace, isSampled, hidesLibraries) {
    Object.assign(this, { trace, isSampled, hidesLibraries });
    this.parts = trace.head.functions.map((values) => values[3]);
  }

  /** The numbers of the functions of a path, innermost first. */
  functions(step) {
    const { callers, frames } = this.trace.columns;
    let path = [];
    for (; step !== 0; step = callers[step]) path.push(this.trace.head.frames[frames[step]][0]);
    const part = (number) => this.parts[number];
    if (!this.isSampled) {
      // The stack of an operation begins within it. The function that the program called stands for the operation.
      let program = path.findIndex((number) => part(number) === "program");
      if (program < 0) program = path.length;
      const inner = path.slice(0, program).findLastIndex((number) => part(number) === "store" || part(number) === "sqlite");
      path = path.slice(Math.max(0, inner));
    }
    // The functions that start programs and threads are on every path.
    while (path.length > 1 && part(path.at(-1)) === "system") path.pop();
    const first = path.findIndex((number) => part(number) === "program");
    const shown = [];
    for (const [index, number] of path.entries()) {
      // Where the store or the recorder called the program back, they are libraries like others.
      const isLibrary = part(number) === "system" || (part(number) !== "program" && first >= 0 && index > first);
      if (shown.length === DEEPEST_PATH) break;
      if (!(this.hidesLibraries && isLibrary) && shown.at(-1) !== number) shown.push(number);
    }
    return shown;
  }
}

/** The children of each node, the heaviest first, as arrays by node. */
export function childrenByNode(tree) {
  const children = Array.from(tree.parents, () => []);
  for (let node = 1; node < tree.parents.length; node += 1) children[tree.parents[node]].push(node);
  for (const list of children) list.sort((a, b) => tree.totals[b] - tree.totals[a] || tree.functions[a] - tree.functions[b]);
  return children;
}

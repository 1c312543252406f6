import { buildTree } from "./calltree.js";
import { inflate, readColumns } from "./columns.js";
import { sumOperations } from "./hotspots.js";
import { layOut } from "./lanes.js";
import { durationClasses, select, sortRows } from "./selection.js";
import { Trace } from "./trace.js";

// The work that takes longer than a frame is done beside the page: reading the events, and selecting, sorting and summing
// them. The same program runs there, without a document.

/** The requests of the page, by name. Each takes the request and the traces that are read, and returns the answer. */
const tasks = {
  /** Reads the events of a trace. The answer has its columns and its tracks. */
  async read({ number, head, base64 }, traces) {
    const columns = readColumns(head.columns, await inflate(base64));
    const trace = new Trace(head.data, columns);
    traces[number] = trace;
    return { columns, lanes: layOut(trace) };
  },

  /** Selects rows, and sorts them for the event list. */
  select({ number, selection, sort }, traces) {
    const trace = traces[number];
    const rows = select(trace, selection);
    traces.selected = rows;
    const sorted = sort.column === "start" && !sort.isDescending ? rows : sortRows(trace, rows, sort.column, sort.isDescending);
    return { rows, sorted, classes: durationClasses(trace, rows) };
  },

  /** Sums the operations among the rows that were selected last. */
  hotspots({ number }, traces) { return sumOperations(traces[number], traces.selected); },

  /** Builds the call tree of the rows that were selected last. */
  tree({ number, options }, traces) {
    return buildTree(traces[number], traces.selected, options);
  },
};

/** Answers the page's requests. */
function serve(scope) {
  const traces = [];
  scope.onmessage = async ({ data: { id, task, request } }) => {
    try {
      scope.postMessage({ id, answer: await tasks[task](request, traces) });
    } catch (error) {
      scope.postMessage({ id, failure: String(error) });
    }
  };
}

if (typeof document === "undefined") serve(globalThis);

/**
 * The page's side: it sends requests to a worker that runs this program, and awaits the answers.
 *
 * A browser that refuses workers to a page from disk does the same work on the page, which then stands still meanwhile.
 */
export class Assistant {
  #worker = null;
  #traces = [];
  #waiting = new Map();
  #last = 0;

  constructor() {
    try {
      // A classic script: Chromium refuses module workers to pages from disk.
      const program = new Blob([document.getElementById("program").textContent], { type: "text/javascript" });
      this.#worker = new Worker(URL.createObjectURL(program));
    } catch {
      return;
    }
    this.#worker.onmessage = ({ data: { id, answer, failure } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (failure === undefined) resolve(answer); else reject(new Error(failure));
    };
    this.#worker.onerror = () => {
      this.#worker = null;
      for (const { task, request, resolve, reject } of this.#waiting.values()) {
        this.#work(task, request).then(resolve, reject);
      }
      this.#waiting.clear();
    };
  }

  /** Asks for one of the tasks. */
  ask(task, request) {
    if (!this.#worker) return this.#work(task, request);
    return new Promise((resolve, reject) => {
      this.#last += 1;
      this.#waiting.set(this.#last, { task, request, resolve, reject });
      this.#worker.postMessage({ id: this.#last, task, request });
    });
  }

  async #work(task, request) { return tasks[task](request, this.#traces); }
}

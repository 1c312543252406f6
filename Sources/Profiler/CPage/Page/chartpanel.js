import { cacheChart, durationChart, growthChart } from "./charts.js";
import { element } from "./elements.js";

/** The number of fetches whose growth is drawn, those first that would take longest. */
const GROWING = 4;

/** The charts of the selected events, and those of the whole trace. */
export class ChartPanel {
  constructor(host, trace) {
    Object.assign(this, { host, trace });
    const growing = trace.head.report.results.filter(({ growth }) => growth && growth.rows > 0)
      .sort((a, b) => b.growth.hundredfold.median - a.growth.hundredfold.median).slice(0, GROWING);
    this.growth = growing.length > 0 && part("Fetches of the whole trace that grow with their table", growing.map(growthChart));
  }

  /** Draws some events. @param classes The number of them by duration; see `durationClasses`. */
  show(rows, classes) {
    // Faults that are left out would make the cache look better or worse.
    const { fault, cacheHits } = this.trace.head.omitted?.kinds ?? {};
    const cache = fault || cacheHits ? null : cacheChart(this.trace, rows);
    const durations = durationChart(classes) ?? element("p", { class: "empty" }, "No selected event has a duration.");
    this.host.replaceChildren(...[
      part("Durations of the selected events", durations),
      cache && part("Row cache: share of the selected faults that it would serve", cache), this.growth,
    ].filter(Boolean));
  }
}

function part(title, ...content) { return element("section", {}, element("h3", {}, title), content); }

import { element } from "./elements.js";
import { availableWeights } from "./weights.js";

/** The controls of the call tree and the flame graph, which agree with each other. */
export class TreeOptions {
  options = { weight: "time", inverted: false, hidesLibraries: true };

  /** @param hosts The elements to fill with controls. @param change Called when a reader changes something. */
  constructor(hosts, trace, change) {
    Object.assign(this, { hosts, change });
    const weights = availableWeights(trace);
    this.options.weight = weights[0]?.name ?? "time";
    for (const host of hosts) {
      const select = element("select", { "aria-label": "Weight", change: ({ target }) => this.set({ weight: target.value }) },
        weights.map(({ name, title }) => element("option", { value: name }, title)));
      const box = (key, text) => element("label", {}, element("input", {
        type: "checkbox", "data-option": key, checked: this.options[key], change: ({ target }) => this.set({ [key]: target.checked }),
      }), ` ${text}`);
      host.replaceChildren(select, box("inverted", "Invert (bottom-up)"), box("hidesLibraries", "Hide system libraries"));
    }
  }

  /** Changes options, and shows them in all controls. */
  set(options) {
    this.options = { ...this.options, ...options };
    for (const host of this.hosts) {
      host.querySelector("select").value = this.options.weight;
      for (const box of host.querySelectorAll("input")) box.checked = this.options[box.dataset.option];
    }
    this.change();
  }
}

import { findingCard } from "./advice.js";
import { element, find } from "./elements.js";
import { formatCounted } from "./format.js";
import { showHeader } from "./page.js";
import { Treemap } from "./treemap.js";

/** The page of a store at rest: what fills its file, and what to change. */
export class InspectionPage {
  constructor() {
    this.document = JSON.parse(find("document").textContent);
  }

  showSummary() {
    const { name, facts, findings, rules, remarks } = this.document;
    showHeader(name, facts);
    find("advice").replaceChildren(
      element("h2", {}, "What to change"),
      element("p", { class: "lead" }, findings.length > 0
        ? `${formatCounted(findings.length, "finding")}, the largest first. A file does not show how often something is used.` : "No check found anything to change."),
      element("ol", { class: "cards" }, findings.map((finding, index) => findingCard({ rules, sources: null }, finding, index, {}))));
    find("remarks").replaceChildren(...remarks.map((text) => element("li", {}, text)));
  }

  async open() {
    this.treemap = new Treemap(find("treemap"), this.document);
    find("status").textContent = "";
  }

  redraw() {}
}

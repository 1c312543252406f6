import { element, fill, find } from "./elements.js";
import { formatCounted } from "./format.js";
import { MODEL_MARKS, ModelDrawing } from "./modeldiagram.js";
import { showHeader } from "./page.js";
import { table } from "./tables.js";

/** The page of a model, or of the changes between two of its versions. */
export class ModelPage {
  constructor() {
    this.document = JSON.parse(find("document").textContent);
    this.entities = new Map(this.document.entities.map((entity) => [entity.name, entity]));
    this.chosen = null;
  }

  showSummary() {
    const { title, facts, sections, entities } = this.document;
    showHeader(title, facts);
    const lists = sections.map((section) => [
      element("h2", {}, section.title),
      section.isCode
        ? section.items.map((text) => element("pre", { class: "sql" }, text))
        : element("ul", { class: "changes" }, section.items.map((text) => element("li", {}, text))),
    ]);
    const code = lists.filter((_, index) => sections[index].isCode);
    fill(find("advice"), lists.filter((_, index) => !sections[index].isCode),
      element("h2", {}, formatCounted(entities.length, "entity", "entities")),
      element("ul", { class: "entities" }, entities.map((entity) => element("li", {}, this.#link(entity)))), code);
    const isCompared = entities.some(({ mark }) => mark);
    fill(find("legend"), isCompared ? Object.entries(MODEL_MARKS).map(([mark, { sign, text }]) =>
      element("li", { class: `change ${mark}` }, `${sign} ${text}`)) : null);
    this.#showDetail(null);
  }

  #link({ name, mark, objects }) {
    return [
      element("button", { class: "link", type: "button", click: () => this.choose(name, { scrolls: true }) }, name),
      mark ? element("span", { class: `change ${mark}` }, ` ${MODEL_MARKS[mark].sign} ${MODEL_MARKS[mark].text}`) : null,
      objects ? element("span", { class: "remark" }, objects) : null,
    ];
  }

  async open() {
    this.drawing = new ModelDrawing(find("drawing"), this.document, (name) => this.choose(name));
    find("larger").addEventListener("click", () => this.drawing.scale(1.25));
    find("smaller").addEventListener("click", () => this.drawing.scale(1 / 1.25));
    find("fitting").addEventListener("click", () => this.drawing.fit());
    const changed = this.document.entities.find(({ mark }) => mark);
    if (changed) this.choose(changed.name);
  }

  /** Selects an entity, or deselects it if it was selected. */
  choose(name, { scrolls = false } = {}) {
    this.chosen = this.chosen === name && !scrolls ? null : name;
    this.drawing.select(this.chosen);
    if (scrolls) this.drawing.show(name);
    this.#showDetail(this.entities.get(this.chosen));
  }

  #showDetail(entity) {
    if (!entity) return fill(find("detail"), element("p", { class: "empty" }, "Select an entity to see all of its properties."));
    const words = [entity.isAbstract ? "abstract" : null, entity.parent ? `inherits from ${entity.parent}` : null, entity.objects];
    return fill(find("detail"),
      element("h2", {}, entity.name, entity.mark ? element("span", { class: `change ${entity.mark}` }, ` ${MODEL_MARKS[entity.mark].text}`) : null),
      element("p", { class: "summary" }, words.filter(Boolean).join("; ")),
      element("ul", { class: "changes" }, entity.changes.map((text) => element("li", {}, text))),
      entity.properties.length > 0 ? table(["Property", "Type and settings", "Change"], entity.properties.map((property) => [
        element("span", { class: `change ${property.mark ?? ""}` }, `${property.mark ? `${MODEL_MARKS[property.mark].sign} ` : ""}${property.name}`),
        `${property.isRelationship ? "→ " : ""}${property.words}`,
        property.changes.length > 0 ? property.changes.join(" ") : property.mark ? `${MODEL_MARKS[property.mark].text} with its entity` : "",
      ])) : null);
  }

  redraw() {}
}

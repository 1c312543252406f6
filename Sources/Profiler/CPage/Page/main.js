import { isDark } from "./colours.js";
import { DiffPage } from "./diff.js";
import { find } from "./elements.js";
import { InspectionPage } from "./inspection.js";
import { listenToKeys, showHelp } from "./keys.js";
import { ModelPage } from "./model.js";
import { ReportPage } from "./report.js";
import { Assistant } from "./worker.js";

const PAGES = { report: ReportPage, diff: DiffPage, inspection: InspectionPage, model: ModelPage };

/** Lets a reader choose light or dark; until then the system's choice counts. */
function connectTheme(redraw) {
  find("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

/** Opens the page. */
async function openPage() {
  const page = new PAGES[document.body.dataset.page]();
  // For the browser's console, and for tests.
  globalThis.faultline = page;
  page.showSummary();
  // A page without a timeline has no keys of its own.
  if (find("help")) {
    listenToKeys(page);
    find("help-button").addEventListener("click", () => showHelp(page.actions));
  } else find("help-button").remove();
  connectTheme(() => page.redraw());
  // The summary is on the screen before the work on the events begins.
  await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
  performance.mark("summary");
  try {
    await page.open(new Assistant());
    performance.mark("events");
    document.body.dataset.state = "ready";
  } catch (error) {
    document.body.dataset.state = "failed";
    find("status").textContent = `The events cannot be shown: ${error.message}`;
    throw error;
  }
}

if (typeof document !== "undefined") openPage();

// The current view as the fragment of the page's URL, so that a copied link opens the page at the same place.

/** Returns the fragment for a view: the finding, the event, the range of time and the panel. Defaults are left out. */
export function writeAddress({ finding, event, range, panel }) {
  const parts = [
    finding >= 0 && `finding=${finding + 1}`, event >= 0 && `event=${event}`,
    range && `range=${Math.round(range.from)}-${Math.round(range.to)}`, panel !== "hotspots" && `view=${panel}`,
  ].filter(Boolean);
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}

/** Returns the view for a fragment. Missing and invalid parts get their defaults. */
export function readAddress(text) {
  const values = new URLSearchParams(text.replace(/^#/, ""));
  const number = (name) => (/^\d+$/.test(values.get(name) ?? "") ? Number(values.get(name)) : -1);
  const [, from, to] = /^(\d+)-(\d+)$/.exec(values.get("range") ?? "") ?? [];
  return {
    finding: number("finding") > 0 ? number("finding") - 1 : -1, event: number("event"),
    range: from === undefined ? null : { from: Number(from), to: Number(to) }, panel: values.get("view") ?? "hotspots",
  };
}

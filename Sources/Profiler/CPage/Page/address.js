// What a reader looks at, as the part of the page's address after "#": a place that can be sent to others.

/** Writes a state: the chosen finding, the selected event, the range of time and the panel, as far as they are not the usual ones. */
export function writeAddress({ finding, event, range, panel }) {
  const parts = [
    finding >= 0 && `finding=${finding + 1}`, event >= 0 && `event=${event}`,
    range && `range=${Math.round(range.from)}-${Math.round(range.to)}`, panel !== "hotspots" && `view=${panel}`,
  ].filter(Boolean);
  return parts.length > 0 ? `#${parts.join("&")}` : "";
}

/** Reads a state that `writeAddress` has written; what it lacks, or what is no number, has its usual value. */
export function readAddress(text) {
  const values = new URLSearchParams(text.replace(/^#/, ""));
  const number = (name) => (/^\d+$/.test(values.get(name) ?? "") ? Number(values.get(name)) : -1);
  const [, from, to] = /^(\d+)-(\d+)$/.exec(values.get("range") ?? "") ?? [];
  return {
    finding: number("finding") > 0 ? number("finding") - 1 : -1, event: number("event"),
    range: from === undefined ? null : { from: Number(from), to: Number(to) }, panel: values.get("view") ?? "hotspots",
  };
}

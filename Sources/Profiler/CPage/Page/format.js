// Numbers as Faultline's reports print them.

/** A number with a thousands separator: `1,204`. */
export function formatCount(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A count with its noun: `1 row`, `20 rows`. */
export function formatCounted(number, noun, plural = noun + "s") {
  return `${formatCount(number)} ${number === 1 ? noun : plural}`;
}

/** Three significant digits, without a unit. */
function threeDigits(number) {
  const size = Math.abs(number);
  return number.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/** A time in nanoseconds in a suitable unit: `812 ns`, `4.10 µs`, `12.3 ms`, `2.00 s`. */
export function formatDuration(nanoseconds) {
  const size = Math.abs(nanoseconds);
  if (size < 999.5) return `${Math.round(nanoseconds)} ns`;
  if (size < 999_500) return `${threeDigits(nanoseconds / 1e3)} µs`;
  if (size < 999_500_000) return `${threeDigits(nanoseconds / 1e6)} ms`;
  return `${threeDigits(nanoseconds / 1e9)} s`;
}

/** A size in bytes in a suitable unit: `512 B`, `18.5 KiB`, `3.00 MiB`. */
export function formatSize(bytes) {
  const size = Math.abs(bytes);
  if (size < 1023.5) return `${Math.round(bytes)} B`;
  if (size < 1023.5 * 1024) return `${threeDigits(bytes / 1024)} KiB`;
  if (size < 1023.5 * 1048576) return `${threeDigits(bytes / 1048576)} MiB`;
  return `${threeDigits(bytes / 1073741824)} GiB`;
}

/** A share from 0 to 1 as a percentage: `0.4 %`, `12 %`. */
export function formatPercent(share) {
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return "under 0.1 %";
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

/** A time since the trace began, in milliseconds with as many decimals as nanoseconds have: `1,204.553120`. */
export function formatStart(nanoseconds) {
  const whole = Math.floor(nanoseconds / 1e6);
  return `${formatCount(whole)}.${String(Math.floor(nanoseconds - whole * 1e6)).padStart(6, "0")}`;
}

/** A time since the trace began, in milliseconds to the microsecond: `1,204.553`. */
export function formatMilliseconds(nanoseconds) { return formatStart(nanoseconds).slice(0, -3); }

/** The distance between round ticks, in the steps 1, 2 and 5, so that at least `least` nanoseconds are between them. */
export function tickStep(least) {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= least) ?? 10 * power;
}

/** The text of a tick of an axis whose ticks are `step` nanoseconds apart, and whose last one is at `last`. */
export function formatTick(nanoseconds, step, last) {
  const [unit, size] = last >= 1e9 ? ["s", 1e9] : last >= 1e6 ? ["ms", 1e6] : last >= 1e3 ? ["µs", 1e3] : ["ns", 1];
  const decimals = Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9));
  const [whole, fraction] = (nanoseconds / size).toFixed(decimals).split(".");
  return `${formatCount(Number(whole))}${fraction ? "." + fraction : ""} ${unit}`;
}

/** A value of a field of the schema, by the field's unit. */
export function formatField(value, unit) {
  switch (unit) {
    case "ns": return formatDuration(value);
    case "bytes": return formatSize(value);
    case "flag": return value ? "yes" : "no";
    default: return formatCount(value);
  }
}

/** A name as words: `virtualMachineSteps` becomes `virtual machine steps`. */
export function spelledOut(name) {
  return name.replace(/([a-z])([A-Z])/g, (_, before, after) => `${before} ${after.toLowerCase()}`);
}

/** A text in which characters that turn the direction of writing are visible, so that code reads as it is. */
export function withVisibleDirections(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (mark) => `⟨U+${mark.codePointAt(0).toString(16).toUpperCase()}⟩`);
}

/** The weight of a call tree that none of its paths shows, in a sentence, or an empty text. */
export function describeRest({ total, unknown, hidden }, weight) {
  const parts = [
    unknown > 0 && `${formatWeight(unknown, weight)} have no known call path`,
    hidden > 0 && `${formatWeight(hidden, weight)} ran only in hidden libraries`,
  ].filter(Boolean);
  return parts.length > 0 ? `Of ${formatWeight(total, weight)}, ${parts.join(", and ")}.` : "";
}

/** The total of a weight of the call tree. */
export function formatWeight(value, weight) {
  if (weight === "trips" || weight === "rows") return formatCount(value);
  return weight === "time" || weight === "cpu" ? formatDuration(value) : formatSize(value);
}

import type { Summary } from "./stats.ts";

/** As many digits as say something. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  if (Math.abs(value) >= 100) return value.toFixed(0);
  if (Math.abs(value) >= 10) return value.toFixed(1);
  return Math.abs(value) >= 0.1 ? value.toFixed(2) : value.toPrecision(2);
}

/** The median, and in brackets the smallest and the largest. */
export function summaryText(found: Summary | null): string {
  if (found === null) return "";
  const { median, min, max } = found;
  const [middle, low, high] = [numberText(median), numberText(min), numberText(max)];
  return low === high ? middle : `${middle} (${low}-${high})`;
}

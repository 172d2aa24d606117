import type { RunId } from "../../model/instance.ts";

/** Runs are numbered here; a number that came back as text is still good, and nonsense finds no run. */
export function runName(runId: RunId): string {
  const name = String(runId);
  return /^[1-9]\d{0,15}$/.test(name) ? name : "0";
}

import type { RunId } from "../../model/instance.ts";

/** Run ids are numbers; one that came back as text is still good, and nonsense finds no run. */
export function runKey(run: RunId): number {
  return typeof run === "number" ? run : /^[1-9][0-9]{0,15}$/.test(run) ? Number(run) : -1;
}

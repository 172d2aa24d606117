/** What is wanted of a figure, and whether it is so. */
import type { Summary } from "./stats.ts";
import type { Aim } from "./workload.ts";

export type Verdict = "met" | "missed" | "watched" | "not measured";

export function judge(aim: Aim, found: Summary | null): Verdict {
  if ("watched" in aim) return found === null ? "not measured" : "watched";
  if (found === null || Number.isNaN(found.median)) return "not measured";
  return isMet(aim, found) ? "met" : "missed";
}

function isMet(aim: Aim, found: Summary): boolean {
  if ("atLeast" in aim) return found.median >= aim.atLeast;
  if ("atMost" in aim) return found.median <= aim.atMost;
  if ("below" in aim) return found.median < aim.below;
  return "exactly" in aim && found.min === aim.exactly && found.max === aim.exactly;
}

export function aimText(aim: Aim): string {
  const bound = boundText(aim);
  return aim.of === "ratio" && bound !== "" ? `ratio ${bound}` : bound;
}

function boundText(aim: Aim): string {
  if ("atLeast" in aim) return `>= ${aim.atLeast}`;
  if ("atMost" in aim) return `<= ${aim.atMost}`;
  if ("below" in aim) return `< ${aim.below}`;
  return "exactly" in aim ? `= ${aim.exactly}` : "";
}

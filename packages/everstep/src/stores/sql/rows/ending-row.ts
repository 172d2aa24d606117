import type { Ending } from "../../../store/apply/ending.ts";
import { columnNames } from "../schema/table.ts";
import type { SqlValue } from "./row.ts";

/** In the order of `endingValues`. */
export const endingColumns = columnNames("ending");

export function endingValues(run: number, ending: Ending, at: number): SqlValue[] {
  return [
    run,
    at,
    ending.kind === "complete" ? ending.output.json : null,
    ending.kind === "complete" ? ending.output.marks : null,
    ending.kind === "error" ? JSON.stringify(ending.error) : null,
    ending.kind === "terminate" ? JSON.stringify(ending.reason) : null,
  ];
}

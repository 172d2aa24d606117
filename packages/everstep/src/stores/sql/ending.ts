import type { InstanceStatus, TerminationReason } from "../../model/instance.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { SqlValue } from "./row.ts";

/** What a run ended with; kept apart from its hot row. */
export type Ending =
  | { readonly kind: "complete"; readonly output: EncodedValue }
  | { readonly kind: "error"; readonly error: StoredError; readonly deadLetter: boolean }
  | { readonly kind: "terminate"; readonly reason: TerminationReason };

export const endedStatus: Readonly<Record<Ending["kind"], InstanceStatus>> = {
  complete: "complete",
  error: "errored",
  terminate: "terminated",
};

/** In the order of `endingValues`. */
export const endingColumns = ["run", "completed_at", "output", "output_marks", "error", "reason"] as const;

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

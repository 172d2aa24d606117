import type { Next } from "../../model/boundary.ts";
import type { InstanceStatus, TerminationReason } from "../../model/instance.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";

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

export function isEnding(next: Next): next is Ending & Next {
  return next.kind in endedStatus;
}

/** What becomes of a recorded run under some code, from harmless to impossible. */
export type ReplayClassification =
  /** Stands where it stood: asks for all that is recorded and for nothing else; if it had ended, ends alike. */
  | "identical"
  /** Asks for all that is recorded, and then for more. */
  | "continues"
  /** Asks for all that is recorded, but for some steps after others that were recorded later. */
  | "reordered"
  /** Comes to rest without having asked for some steps that are recorded. */
  | "orphaned"
  /** Ends where the recorded code still waited, or throws. */
  | "ends"
  /** Had ended, and would not end alike. */
  | "differs"
  /** Asks for a recorded step as another kind of step, for an open wait with another event, or for a repeated name in another order. */
  | "mismatch"
  /** Does not come to rest: awaits something that is no step, or loops. */
  | "stuck"
  /** The code has no such workflow. */
  | "unknown"
  /** What is stored of it cannot be read. */
  | "unreadable";

export const classifications: readonly ReplayClassification[] = [
  "identical",
  "continues",
  "reordered",
  "orphaned",
  "ends",
  "differs",
  "mismatch",
  "stuck",
  "unknown",
  "unreadable",
];

/** Nothing that a person needs to look at. */
export function isHarmless(classification: ReplayClassification): boolean {
  return classification === "identical" || classification === "continues";
}

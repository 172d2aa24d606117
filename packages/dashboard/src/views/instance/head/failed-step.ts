import type { WireError, WireStep, WireWhy } from "everstep/client";

/** The step whose failure ended the run: the one that could be retried, else the last that failed with this error. */
export function failedStep(
  steps: readonly WireStep[],
  error: WireError | undefined,
  why: Pick<WireWhy, "stepKey"> | null,
): WireStep | null {
  const named = steps.find(({ stepKey }) => stepKey === why?.stepKey);
  if (named) return named;
  const same = steps.filter(
    (step) =>
      step.status === "errored" && step.error?.name === error?.name && step.error?.message === error?.message,
  );
  return same.toSorted((a, b) => (a.settledAt ?? "").localeCompare(b.settledAt ?? "")).at(-1) ?? null;
}

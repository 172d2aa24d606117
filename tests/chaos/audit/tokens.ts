import type { StepView } from "everstep";
import type { RunEvidence } from "../evidence.ts";
import { failedToken, waitToken } from "../journey.ts";

/** What later bodies of a run may have seen of its recorded steps: the token of each, and whose it is. */
export function tokensOf(run: RunEvidence): Map<string, StepView> {
  const tokens = new Map<string, StepView>();
  for (const step of run.steps) {
    const token = tokenOf(step);
    if (token !== null) tokens.set(token, step);
  }
  return tokens;
}

function tokenOf(step: StepView): string | null {
  if (step.type === "do" && step.status === "errored") return failedToken(step.name);
  if (step.status !== "completed") return null;
  if (step.type === "do") return (step.result as { readonly token: string }).token;
  const { payload } = (step.result ?? {}) as { readonly payload?: { readonly number?: number } };
  return payload?.number === undefined ? null : waitToken(step.name, { number: payload.number });
}

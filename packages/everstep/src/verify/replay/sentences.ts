/** What a comparison means to whoever is about to deploy the code: what will happen, and what to do about it. */
import type { StoredError } from "../../model/value.ts";
import type { Comparison } from "./compare.ts";

const namedMax = 5;
const messageMax = 200;

export function sentenceOn(comparison: Comparison, recordedCount: number): string {
  return sentence(comparison, recordedCount) + unchecked(comparison);
}

function sentence(comparison: Comparison, recordedCount: number): string {
  switch (comparison.classification) {
    case "identical":
      return "Nothing changes for it.";
    case "continues":
      return continues(comparison, recordedCount);
    case "reordered":
      return reordered(comparison);
    case "orphaned":
      return orphaned(comparison);
    case "ends":
      return ends(comparison);
    case "differs":
      return differs(comparison);
    case "mismatch":
      return mismatched(comparison);
    case "stuck":
      return (
        "The code does not come to rest: it awaits something that is not a step, or loops. " +
        "The instance would hold its place in a process and fail with WORKFLOW_STALLED. Put what it awaits into step.do."
      );
  }
}

function continues({ newSteps }: Comparison, recordedCount: number): string {
  if (newSteps.length === 0) return "It asks for all that is recorded, and then returns.";
  return recordedCount === 0
    ? "Nothing is recorded of it yet: it will run the new code from the top."
    : `It will go on with ${quoted(newSteps)}.`;
}

function reordered({ movedSteps: [first] }: Comparison): string {
  return (
    `The code asks for "${first?.stepKey}" after "${first?.after}", which was recorded later. ` +
    "It will go on, because results are found by name; make sure that nothing depends on the old order."
  );
}

function orphaned({ newSteps, unusedSteps }: Comparison): string {
  const unused = quoted(unusedSteps);
  if (newSteps.length === 0) {
    return (
      `The code stands still without having asked for ${unused}. What is recorded there will not be used. ` +
      "If these steps were removed on purpose, nothing is to be done."
    );
  }
  return (
    `The code asks for ${quoted(newSteps)}, of which nothing is recorded, before ${unused}, of which something is. ` +
    `${quoted(newSteps)} will run. Recorded steps that still come later answer from their records; but if one was only ` +
    "renamed, its body will run a second time: keep its old name."
  );
}

function ends({ outcome, unusedSteps }: Comparison): string {
  if (outcome?.kind === "error") {
    return (
      `The code throws ${thrown(outcome.error)}: the instance will be errored. ` +
      "Correct the code, or end the instance before it is deployed."
    );
  }
  const where =
    unusedSteps.length === 0
      ? "where the recorded code still waited"
      : `without having asked for ${quoted(unusedSteps)}, of which something is recorded`;
  return (
    `The code returns ${where}: the instance will be complete. ` +
    "If that is not wanted, keep the old steps for instances under way."
  );
}

function differs({ outcome }: Comparison): string {
  const what =
    outcome === null
      ? "The code does not end where the recorded run did."
      : outcome.kind === "error"
        ? `The code throws ${thrown(outcome.error)}, and the recorded run ended otherwise.`
        : "The code returns another output than the recorded run, or the recorded run did not return.";
  return `${what} Instances that are under way will end like this too. If the change is wanted, nothing is to be done.`;
}

function mismatched({ mismatch, outcome }: Comparison): string {
  if (!mismatch) return outcome?.kind === "error" ? divergence(outcome.error) : "The code throws an error.";
  const { stepKey, recorded, asked, isError } = mismatch;
  return isError
    ? `Step "${stepKey}" is recorded as ${recorded} and the code asks for it as ${asked}: it will fail with ` +
        "STEP_TYPE_MISMATCH. Give the new step another name."
    : `Step "${stepKey}" is open as ${recorded} and the code asks for it as ${asked}: events for the one may not end it, ` +
        "and those for the other may not wake it. Give the new wait another name.";
}

function divergence(error: StoredError): string {
  return error.code === "NONDETERMINISM"
    ? `The instance will be errored with NONDETERMINISM. ${error.message}`
    : `The code throws ${thrown(error)}.`;
}

function thrown({ name, message }: StoredError): string {
  return `${name} ("${message.slice(0, messageMax)}")`;
}

function unchecked({ uncheckedSteps }: Comparison): string {
  return uncheckedSteps.length === 0
    ? ""
    : ` Not checked, because only running the step around them could: ${quoted(uncheckedSteps)}.`;
}

function quoted(stepKeys: readonly string[]): string {
  const named = stepKeys.slice(0, namedMax).map((key) => `"${key}"`);
  const more = stepKeys.length - named.length;
  return more === 0 ? named.join(", ") : `${named.join(", ")} and ${more} more`;
}

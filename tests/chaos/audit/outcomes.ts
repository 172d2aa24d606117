/** Every instance finished with the output its params demand, or was terminated by the operator. */
import { type Act, expectedValues } from "../acts.ts";
import { currentRun, type Evidence, type InstanceEvidence } from "../evidence.ts";
import { errandId, type JourneyOutput } from "../journey.ts";
import { tokensOf } from "./tokens.ts";

export function auditOutcomes({ journeys, errands, receipts }: Evidence): string[] {
  const reasons = new Set(
    receipts.decisions.filter(({ kind }) => kind === "terminate").map(({ reason }) => reason),
  );
  return [
    ...journeys.flatMap((journey) => journeyFaults(journey, reasons)),
    ...errands.flatMap(errandFaults),
    ...strayErrands(journeys, errands),
  ];
}

function journeyFaults(journey: InstanceEvidence, reasons: ReadonlySet<string>): string[] {
  const run = currentRun(journey);
  const { status, output, errorMessage, terminationMessage } = run;
  if (status === "terminated") {
    return reasons.has(terminationMessage ?? "") ? [] : [`${journey.id} was terminated by nobody`];
  }
  if (status !== "complete") return [`${journey.id} is ${status}: ${errorMessage ?? "it has not ended"}`];
  const { acts } = journey.params as { readonly acts: readonly Act[] };
  const { values, seen } = output as JourneyOutput;
  const recorded = new Set(tokensOf(run).keys());
  const unrecorded = seen.filter((token) => !recorded.has(token));
  return [
    ...(same(values, expectedValues(acts)) ? [] : [`${journey.id} gave ${JSON.stringify(values)}`]),
    ...unrecorded.map((token) => `${journey.id} ended with "${token}", which is not recorded`),
  ];
}

function errandFaults(errand: InstanceEvidence): string[] {
  const { status, output, errorMessage } = currentRun(errand);
  const { ms } = errand.params as { readonly ms: number };
  if (status === "complete" && output === ms) return [];
  return [`${errand.id} is ${status} with ${String(output)}: ${errorMessage ?? ""}`];
}

/** A child is there exactly when the step that started it is recorded: they are one write. */
function strayErrands(journeys: readonly InstanceEvidence[], errands: readonly InstanceEvidence[]): string[] {
  const started = new Set(
    journeys.flatMap((journey) =>
      journey.runs.flatMap((run) =>
        run.steps
          .filter(({ name, status, type }) => /errand$/.test(name) && status === "completed" && type === "do")
          .map(({ result }) => errandId(journey.id, (result as { readonly token: string }).token)),
      ),
    ),
  );
  const there = new Set(errands.map(({ id }) => id));
  return [
    ...[...started].filter((id) => !there.has(id)).map((id) => `${id} was started and is not there`),
    ...[...there].filter((id) => !started.has(id)).map((id) => `${id} is there and nobody started it`),
  ];
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

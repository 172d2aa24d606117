/** What the engine gives a passage is the same in each of them: the time of creation among it (INV-18). */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import type { Act } from "../programs/program.ts";
import { actAt } from "./act-at.ts";
import { nameOf } from "./applied.ts";

export interface InputsParts {
  readonly programOf: (params: unknown) => Act;
  readonly workflowName: string;
}

/** Sleeps until so long after the creation say when that was, as the code saw it. */
export function* inputs(facts: RunFacts, { programOf, workflowName }: InputsParts): Generator<Finding> {
  const { record, steps } = facts;
  if (record.workflowName !== workflowName) return;
  const program = programOf(decodeValue(record.params));
  for (const { name, key, wakeAt, createdAt } of steps) {
    const act = actAt(program, name.slice(name.indexOf(" ") + 1));
    // A fork begins with what was recorded before it was created.
    if (act?.kind !== "sleepUntil" || createdAt < record.createdAt) continue;
    if (wakeAt === record.createdAt + act.ms) continue;
    yield {
      invariant: "INV-18",
      message: `"${key}" of ${nameOf(facts)} sleeps until ${wakeAt}, which is not ${act.ms} ms after ${record.createdAt}`,
    };
  }
}

/** Only what a body itself threw, or its timeout, is recorded of it; and what says that trying again is pointless is the last of it (INV-10). */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { storedInWords } from "../programs/judge.ts";
import { brokenText, placeOf } from "../programs/perform.ts";
import type { Act, DoAct } from "../programs/program.ts";
import { actAt } from "./act-at.ts";
import { nameOf } from "./applied.ts";

export interface AttemptsParts {
  readonly programOf: (params: unknown) => Act;
  readonly workflowName: string;
  /** Instances of which somebody had a failed step tried again. */
  readonly retried: ReadonlySet<string>;
  readonly ledger: Pick<Ledger, "ran">;
}

export function* attempts(facts: RunFacts, parts: AttemptsParts): Generator<Finding> {
  const { record, steps } = facts;
  if (record.workflowName !== parts.workflowName) return;
  const program = parts.programOf(decodeValue(record.params));
  for (const step of steps) {
    const path = placeOf(step);
    const act = actAt(program, path);
    if (act?.kind !== "do") continue;
    // What a fork or a restart began with may have been tried again where it comes from.
    const isRetried =
      parts.retried.has(record.instanceId) ||
      (parts.retried.size > 0 && !parts.ledger.ran(`${nameOf(facts)}/${step.key}`));
    const messages = [...foreign(step, act, path), ...pointless(step, act, path, isRetried)];
    for (const message of messages)
      yield { invariant: "INV-10", message: `"${step.key}" of ${nameOf(facts)} ${message}` };
  }
}

function* foreign(step: StepRecord, act: DoAct, path: string): Generator<string> {
  // What steps inside throw comes out of it too.
  if (act.inner !== null) return;
  for (const { error } of step.errors) {
    const words = storedInWords(error);
    const isOwn = words === brokenText(path) ? act.failures > 0 : codes.includes(words);
    if (!isOwn) yield `has failed with ${words}, which its body never threw`;
  }
}

const codes: readonly string[] = [
  "STEP_TIMEOUT",
  "STEP_INTERRUPTED",
  "MUTATION_CONFLICT",
  "PAYLOAD_TOO_LARGE",
];

function* pointless(step: StepRecord, act: DoAct, path: string, isRetried: boolean): Generator<string> {
  if (!act.hopeless || isRetried) return;
  const at = step.errors.findIndex(({ error }) => storedInWords(error) === brokenText(path));
  if (at === -1) return;
  if (at < step.errors.length - 1 || step.status !== "errored")
    yield "was tried again, though it said that this is pointless";
}

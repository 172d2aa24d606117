/** What a step wrote or sent with its record is there when the step is completed, and only then (INV-11). */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { placeOf, startedId } from "../programs/perform.ts";
import type { Act, DoAct } from "../programs/program.ts";
import { actAt } from "./act-at.ts";
import { nameOf } from "./applied.ts";

export interface BelongingsParts {
  readonly facts: ReadonlyMap<string, RunFacts>;
  readonly ledger: Ledger;
  readonly programOf: (params: unknown) => Act;
  /** The workflow whose programs are performed. */
  readonly workflowName: string;
  /** Rows of the author's own, by key, with the step that wrote each; null where the store has none. */
  readonly rows: ReadonlyMap<string, unknown> | null;
  /** Instances of which somebody had a failed step tried again. */
  readonly retried: ReadonlySet<string>;
}

export function* belongings(parts: BelongingsParts): Generator<Finding> {
  const completed = new Map<string, StepRecord>();
  const ran = [...parts.facts.values()].filter(({ record }) => record.workflowName === parts.workflowName);
  for (const facts of ran)
    for (const step of facts.steps)
      if (step.status === "completed") completed.set(`${nameOf(facts)}/${step.key}`, step);
  for (const [row, writer] of parts.rows ?? [])
    if (!completed.has(String(writer)) && !isForgotten(String(writer), parts))
      yield found(`row "${row}" is there, but ${writer} is not completed`);
  for (const facts of ran) {
    if (!parts.retried.has(facts.record.instanceId)) yield* unasked(facts, completed);
    for (const step of facts.steps) yield* missing(facts, step, parts);
  }
}

/** Another try of a failed step forgets what was recorded inside it, but not what that wrote. */
function isForgotten(writer: string, { retried }: BelongingsParts): boolean {
  return retried.has(writer.split("/")[1] ?? "");
}

/** Events that steps sent which never came to their end. */
function* unasked({ events }: RunFacts, completed: ReadonlyMap<string, StepRecord>): Generator<Finding> {
  for (const { id } of events) {
    const sender = id.endsWith(sent) ? id.slice(0, -sent.length) : null;
    if (sender !== null && !completed.has(sender))
      yield found(`event "${id}" is there, but ${sender} is not completed`);
  }
}

const sent = " sent";

function* missing(facts: RunFacts, step: StepRecord, parts: BelongingsParts): Generator<Finding> {
  const { record } = facts;
  const key = `${nameOf(facts)}/${step.key}`;
  // What a fork or a restart began with was sent by another run.
  if (step.type !== "do" || step.status !== "completed" || !parts.ledger.ran(key)) return;
  const path = placeOf(step);
  const act = actAt(parts.programOf(decodeValue(record.params)), path);
  if (act?.kind !== "do") return;
  yield* lost(act, key, path, facts, parts);
}

function* lost(
  act: DoAct,
  key: string,
  path: string,
  { record }: RunFacts,
  parts: BelongingsParts,
): Generator<Finding> {
  const { workflowName, instanceId } = record;
  const all = [...parts.facts.values()];
  const mine = all.filter(({ record: other }) => other.instanceId === instanceId);
  if (act.sends !== null && !mine.some(({ events }) => events.some(({ id }) => id === `${key}${sent}`)))
    yield found(`${key} is completed, but the event it sent is not there`);
  const child = `${workflowName}/${startedId(instanceId, path)}/1`;
  if (act.starts && !parts.facts.has(child)) yield found(`${key} is completed, but ${child} is not there`);
  if (act.row === "own" && parts.rows !== null && !parts.rows.has(key))
    yield found(`${key} is completed, but its row is not there`);
  const shared = parts.rows?.get(`${workflowName}/${instanceId} shared`);
  if (act.row === "shared" && parts.rows !== null && shared !== key)
    yield found(`${key} is completed, but the row it shares is by ${shared}`);
}

function found(message: string): Finding {
  return { invariant: "INV-11", message };
}

/** What must hold when a world ends: every instance, event, row and body accounted for. */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import { Broken, type Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import type { Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import { runName } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { judge, storedInWords } from "../programs/judge.ts";
import type { Act } from "../programs/program.ts";

export interface AccountParts {
  readonly watch: Watch;
  readonly ledger: Ledger;
  /** Author rows by key, where the store has them. */
  readonly rows: ReadonlyMap<string, unknown> | null;
  /** Nothing went wrong in this world. */
  readonly isCalm: boolean;
  /** Instances of which somebody had a failed step tried again. */
  readonly retried: ReadonlySet<string>;
}

export interface LastLookParts extends AccountParts {
  /** The workflow whose programs are judged; others are the engine's own. */
  readonly workflowName: string;
  /** Runs whose end somebody was told of, where there was time to tell of all. */
  readonly told: ReadonlySet<string> | null;
  readonly programOf: (params: unknown) => Act;
}

/** How a run may end beside what its program comes to. */
const givenUp: readonly string[] = ["CRASH_LOOP", "INTERRUPTED_BY_RESTART"];

export async function lastLook(parts: LastLookParts): Promise<void> {
  const all = await parts.watch.lookAtAll();
  // A telling that was itself given up tells nobody.
  const others = all.filter(({ record }) => record.workflowName !== parts.workflowName);
  const told = others.some(({ record }) => record.status === "errored") ? null : parts.told;
  for (const facts of all.filter(({ record }) => record.workflowName === parts.workflowName)) {
    const findings = [...outcomeOf(facts, parts), ...account(facts, parts), ...tellingOf(facts, told)];
    for (const finding of findings) throw new Broken(finding);
  }
}

/** What is missing or too much of one run, whatever its program was to come to. */
export function account(facts: RunFacts, parts: AccountParts): readonly Finding[] {
  return [...eventsOf(facts, parts), ...bodiesOf(facts, parts)];
}

function outcomeOf(facts: RunFacts, parts: LastLookParts): readonly Finding[] {
  const { record, steps, events } = facts;
  const { programOf, isCalm, retried, ledger, rows } = parts;
  const name = runName(record);
  const program = programOf(decodeValue(record.params));
  // What a fork begins with may have been retried where it comes from.
  const mayBeRetried = retried.has(record.instanceId) || (retried.size > 0 && isInherited(facts, parts));
  const { outcome, faults, wrote, sent } = judge(program, steps, mayBeRetried);
  const findings: Finding[] = faults.map((fault) => ({ invariant: "INV-10", message: `${name}: ${fault}` }));
  const found = (invariant: string, message: string): void => void findings.push({ invariant, message });
  // What another run recorded was written and sent there.
  const ran = (key: string): boolean => ledger.ran(`${name}/${key}`);
  for (const key of wrote.filter(ran))
    if (rows && !rows.has(`${name}/${key}`)) found("INV-11", `${name}/${key} completed without its row`);
  for (const key of sent.filter(ran))
    if (!events.some(({ id }) => id === `${name}/${key} sent`))
      found("INV-11", `${name}/${key} completed without its event`);
  if (record.status === "complete") {
    const output = record.output === null ? null : decodeValue(record.output);
    if (outcome.kind !== "value" || outcome.text !== output)
      found("INV-17", `${name} is complete with ${output}, but its steps come to ${outcomeInWords(outcome)}`);
  } else if (record.status === "errored") {
    const words = record.error === null ? "nothing" : storedInWords(record.error);
    const isGivenUp = givenUp.includes(words) && !isCalm;
    if (!isGivenUp && (outcome.kind !== "error" || outcome.text !== words))
      found("INV-17", `${name} failed with ${words}, but its steps come to ${outcomeInWords(outcome)}`);
  }
  return findings;
}

/** It begins with what another run did. */
function isInherited({ record, steps }: RunFacts, { ledger }: AccountParts): boolean {
  const ran = (key: string): boolean => ledger.ran(`${runName(record)}/${key}`);
  return steps.some(({ type, status, key }) => type === "do" && status !== "waiting" && !ran(key));
}

/** Whoever wants to hear of ends hears of every one. */
function tellingOf({ record }: RunFacts, told: ReadonlySet<string> | null): readonly Finding[] {
  const name = runName(record);
  const isTold = isTerminal(record.status) && record.terminationReason?.source !== "restarted";
  if (told === null || !isTold || told.has(name) || record.error?.code === "INTERRUPTED_BY_RESTART")
    return [];
  return [{ invariant: "INV-22", message: `nobody was told that ${name} is ${record.status}` }];
}

function outcomeInWords(outcome: ReturnType<typeof judge>["outcome"]): string {
  return outcome.kind === "open" ? "no end" : `${outcome.kind} ${outcome.text}`;
}

/** INV-22, INV-25: what was accepted is there, once. */
function eventsOf({ record, events }: RunFacts, { watch }: AccountParts): readonly Finding[] {
  const ids = [...(watch.accepted.get(record.runId) ?? [])];
  return ids.flatMap((id) => {
    const count = events.filter((event) => event.id === id).length;
    if (count === 1) return [];
    return [
      {
        invariant: count === 0 ? "INV-22" : "INV-25",
        message: `${runName(record)}: event ${id} is there ${count} times`,
      },
    ];
  });
}

/** INV-9 and INV-11: attempts were made, and no row is there without the step that wrote it. */
function bodiesOf(facts: RunFacts, parts: AccountParts): readonly Finding[] {
  const { record, steps } = facts;
  const name = runName(record);
  const isRetried = parts.retried.has(record.instanceId);
  const isOver = isTerminal(record.status) && record.status !== "terminated";
  const outer = new Set(steps.map(({ parentKey }) => parentKey));
  return steps.flatMap(({ type, key: stepKey, attempts, status }) => {
    if (type !== "do") return [];
    const key = `${name}/${stepKey}`;
    const starts = parts.ledger.of(key).length;
    if (parts.rows?.has(key) && status !== "completed")
      return [{ invariant: "INV-11", message: `${key} is ${status}, but what it wrote is there` }];
    // A fork and a restart from a step begin with what another run did.
    if (isRetried || !parts.ledger.ran(key)) return [];
    if (attempts > starts)
      return [{ invariant: "INV-9", message: `${key} records ${attempts} attempts of ${starts} starts` }];
    // A pause lets no body begin, so one that waits for steps inside it is given up and begins again.
    const isGivenUp = outer.has(stepKey) && parts.watch.pausedSince.has(name);
    const isExact = parts.isCalm && isOver && status !== "waiting" && !isGivenUp;
    if (!isExact || attempts === starts) return [];
    const message = `${key} began ${starts} times for ${attempts} attempts, though nothing went wrong`;
    return [{ invariant: "INV-9", message }];
  });
}

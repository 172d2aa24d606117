/** What a world came to, in words that do not depend on when and where things happened: for comparing worlds. */
import { decodeValue } from "../../../packages/everstep/src/authoring/codec.ts";
import type { InstanceRecord } from "../../../packages/everstep/src/model/instance.ts";
import { operatorCategory, systemCategory } from "../../../packages/everstep/src/model/log-line.ts";
import type { StepRecord } from "../../../packages/everstep/src/model/step.ts";
import type { Store } from "../../../packages/everstep/src/store/store.ts";
import type { Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { runName } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { storedInWords } from "../programs/judge.ts";

export interface RunUpshot {
  /** How it ended, or how it stands. */
  readonly came: string;
  /** Its steps, what became of its events, its log lines. */
  readonly details: readonly string[];
  /** By step key. */
  readonly bodies: Readonly<Record<string, BodyUpshot>>;
}

export interface BodyUpshot {
  readonly attempts: number;
  /** How often it began. */
  readonly starts: number;
  readonly gaveUp: boolean;
}

export type Upshot = ReadonlyMap<string, RunUpshot>;

const ownCategories: readonly string[] = [systemCategory, operatorCategory];

export async function upshotOf(all: readonly RunFacts[], ledger: Ledger, store: Store): Promise<Upshot> {
  const upshots = all.map(async (facts): Promise<[string, RunUpshot]> => {
    const { record, steps, events } = facts;
    const logs = await store.listLogs(record.runId, { limit: 100 });
    const details = [
      ...steps.map(stepInWords).sort(),
      ...events.map((event) => {
        const name = event.type ?? event.topic ?? "";
        return `event ${name} ${said(decodeValue(event.payload))} taken by ${event.consumedBy ?? "nobody"}`;
      }),
      // A caller that died and begins again really pauses twice, and each pause has its line.
      ...logs.items
        .filter(({ category, isReplay }) => !ownCategories.includes(category) && !isReplay)
        .map(({ message, level }) => `${level} ${message}`),
    ];
    const name = runName(record);
    const bodies: Record<string, BodyUpshot> = {};
    for (const { key, type, attempts, status } of steps) {
      if (type !== "do") continue;
      bodies[key] = { attempts, starts: ledger.of(`${name}/${key}`).length, gaveUp: status === "errored" };
    }
    return [name, { came: endInWords(record), details, bodies }];
  });
  return new Map(await Promise.all(upshots));
}

export function endInWords({ status, output, error, terminationReason }: InstanceRecord): string {
  switch (status) {
    case "complete":
      return `complete: ${output === null ? "nothing" : said(decodeValue(output))}`;
    case "errored":
      return `errored: ${error === null ? "nothing" : storedInWords(error)}`;
    case "terminated":
      return `terminated: ${terminationReason?.source ?? "nobody"}`;
    default:
      return status;
  }
}

function stepInWords(step: StepRecord): string {
  const { key, status } = step;
  switch (step.status) {
    case "completed":
      return `${key} ${status}: ${said(decodeValue(step.result))}`;
    case "errored":
      return `${key} ${status}: ${storedInWords(step.error)}`;
    case "waiting":
      return `${key} ${status}`;
  }
}

/** Times are not compared. */
function said(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "some time");
}

/** For tests: a store as an audit sees it, whose rows the test may change between any two reads. */
import type { EventRecord } from "../../packages/everstep/src/model/event.ts";
import type { InstanceRecord, InstanceRef, RunId } from "../../packages/everstep/src/model/instance.ts";
import type { StepRecord } from "../../packages/everstep/src/model/step.ts";
import type { InstanceQuery, Page, PageQuery } from "../../packages/everstep/src/store/store.ts";
import type { VerifyReads } from "../../packages/everstep/src/verify/look.ts";
import type { RunFacts } from "../../packages/everstep/src/verify/run-facts.ts";

type Read = keyof VerifyReads;

export class Shelf implements VerifyReads {
  /** In the order of their creation. */
  readonly runs: RunFacts[] = [];
  /** Every read, with what was asked for. */
  readonly asked: string[] = [];
  /** Called before every read; may change rows, or throw. */
  before: (read: Read, about: string) => void = () => {};
  /** Rows that make every list that has them fail. */
  readonly torn = new Set<string>();

  constructor(...runs: readonly RunFacts[]) {
    for (const run of runs) this.put(run);
  }

  put(run: RunFacts): void {
    const at = this.runs.findIndex(({ record }) => record.runId === run.record.runId);
    if (at === -1) this.runs.push(run);
    else this.runs[at] = run;
  }

  take(runId: RunId): void {
    const at = this.runs.findIndex(({ record }) => record.runId === runId);
    this.runs.splice(at, 1);
  }

  async getInstance(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined> {
    this.#ask("getInstance", ref.instanceId);
    return this.runs.find(
      ({ record, isCurrent }) =>
        record.workflowName === ref.workflowName &&
        record.instanceId === ref.instanceId &&
        (runNumber === undefined ? isCurrent : record.runNumber === runNumber),
    )?.record;
  }

  async listInstances(query: InstanceQuery): Promise<Page<InstanceRecord>> {
    const { workflowName, statuses, order = "desc" } = query;
    this.#ask("listInstances", `${order} ${query.limit}`);
    const wanted = this.runs
      .filter(({ isCurrent }) => isCurrent)
      .map(({ record }) => record)
      .filter((record) => workflowName === undefined || record.workflowName === workflowName)
      .filter((record) => statuses === undefined || statuses.includes(record.status));
    const page = pageOf(order === "asc" ? wanted : wanted.reverse(), query);
    for (const { instanceId } of page.items)
      if (this.torn.has(instanceId)) throw new TypeError(`${instanceId} is torn`);
    return page;
  }

  async listSteps(runId: RunId, query: PageQuery): Promise<Page<StepRecord>> {
    this.#ask("listSteps", String(runId));
    return pageOf(this.#find(runId)?.steps ?? [], query);
  }

  async listEvents(runId: RunId, query: PageQuery): Promise<Page<EventRecord>> {
    this.#ask("listEvents", String(runId));
    return pageOf(this.#find(runId)?.events ?? [], query);
  }

  #find(runId: RunId): RunFacts | undefined {
    return this.runs.find(({ record }) => record.runId === runId);
  }

  #ask(read: Read, about: string): void {
    this.asked.push(`${read} ${about}`);
    this.before(read, about);
  }
}

function pageOf<Row>(rows: readonly Row[], { limit, after }: PageQuery): Page<Row> {
  const from = after === undefined ? 0 : Number(after);
  const items = rows.slice(from, from + limit);
  return from + limit < rows.length ? { items, after: String(from + limit) } : { items };
}

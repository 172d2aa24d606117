import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { App } from "../client/app.ts";
import { hooksWorkflowName } from "../client/lifecycle-hooks.ts";
import type { InstanceHandle } from "../handles/instance-handle.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceRecord, isTerminal } from "../model/instance.ts";
import type { HistoryView, LogLineView, StepView } from "../wire/index.ts";
import { workflowKeyOf } from "./live-handles.ts";

/** An instance: its id, where that is enough to find it, or its handle. */
export type InstanceAddress = string | InstanceHandle | { readonly workflow: string; readonly id: string };

export interface RunChoice {
  readonly runNumber?: number;
}

/** Steps and events of a run, all of them. */
export type WholeHistory = Pick<HistoryView, "runNumber" | "steps" | "events">;

/** Looks at the data through an app of its own that never runs anything, so it works whatever happens to the runners. */
export class Inspector<Workflows extends Record<string, WorkflowDefinition>> {
  readonly app: App<Workflows>;
  readonly #workflows: Workflows;

  constructor(workflows: Workflows, app: App<Workflows>) {
    this.#workflows = workflows;
    this.app = app;
  }

  async instance(address: InstanceAddress): Promise<InstanceHandle> {
    const { key, id } = await this.find(address);
    return this.app.workflows[key].get(id);
  }

  async history(address: InstanceAddress, run: RunChoice): Promise<WholeHistory> {
    const instance = await this.instance(address);
    const first = await instance.history(run);
    const steps = [...first.steps];
    const events = [...first.events];
    for (let stepsCursor = first.stepsCursor; stepsCursor !== undefined; ) {
      const page = await instance.history({ ...run, stepsCursor });
      steps.push(...page.steps);
      stepsCursor = page.stepsCursor;
    }
    for (let eventsCursor = first.eventsCursor; eventsCursor !== undefined; ) {
      const page = await instance.history({ ...run, eventsCursor });
      events.push(...page.events);
      eventsCursor = page.eventsCursor;
    }
    return { runNumber: first.runNumber, steps, events };
  }

  async steps(address: InstanceAddress, run: RunChoice): Promise<string[]> {
    const { key } = await this.find(address);
    const { steps } = await this.history(address, run);
    // A key says where a nested or repeated step belongs; that of code written for Cloudflare says more than one reads.
    const nameOf = (step: StepView): string =>
      this.#workflows[key]?.mode === "cloudflare" ? step.name : step.stepKey;
    return steps.map((step) => `${nameOf(step)} ${step.status}`);
  }

  async logs(address: InstanceAddress, run: RunChoice): Promise<LogLineView[]> {
    const instance = await this.instance(address);
    const lines: LogLineView[] = [];
    let cursor: string | undefined;
    do {
      const page = await instance.logs({ ...run, ...(cursor === undefined ? {} : { cursor }) });
      lines.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return lines;
  }

  /** When the next turn after `now` is due. What is due already and was not taken is held by somebody, and passed over. */
  async nextDueAfter(now: number): Promise<number | null> {
    const names = [...Object.values(this.#workflows).map(({ name }) => name), hooksWorkflowName];
    const first = await this.app.store.nextDueAt(names);
    if (first === null || first > now) return first;
    let earliest: number | null = null;
    for await (const { dueAt } of this.#unfinished()) {
      if (dueAt !== null && dueAt > now) earliest = Math.min(earliest ?? dueAt, dueAt);
    }
    return earliest;
  }

  /** In words: what is due now. */
  async due(now: number): Promise<string[]> {
    const due: string[] = [];
    for await (const { workflowName, instanceId, status, dueAt } of this.#unfinished()) {
      if (dueAt !== null && dueAt <= now)
        due.push(`"${instanceId}" of workflow "${workflowName}" (${status})`);
    }
    return due;
  }

  async *#unfinished(): AsyncGenerator<InstanceRecord> {
    let after: string | undefined;
    do {
      const query = { limit: 100, ...(after === undefined ? {} : { after }) };
      const page = await this.app.store.listInstances(query);
      yield* page.items.filter(({ status }) => !isTerminal(status) && status !== "paused");
      after = page.after;
    } while (after !== undefined);
  }

  async find(address: InstanceAddress): Promise<{ readonly key: keyof Workflows; readonly id: string }> {
    if (typeof address === "string") return { key: await this.#search(address), id: address };
    const { id } = address;
    if ("workflow" in address) return { key: this.#keyOf(this.definition(address.workflow)), id };
    return { key: workflowKeyOf(address) ?? (await this.#search(id)), id };
  }

  async #search(id: string): Promise<keyof Workflows> {
    await this.app.migrate();
    const found: WorkflowDefinition[] = [];
    for (const definition of Object.values(this.#workflows)) {
      const ref = { workflowName: definition.name, instanceId: id };
      if (await this.app.store.getInstance(ref)) found.push(definition);
    }
    const [first] = found;
    if (first === undefined) {
      throw new EverstepError("INSTANCE_NOT_FOUND", `No workflow of this harness has an instance "${id}".`);
    }
    if (found.length === 1) return this.#keyOf(first);
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `Several workflows have an instance "${id}": ${found.map(({ name }) => name).join(", ")}. ` +
        `Say which: { workflow: "${first.name}", id: "${id}" }.`,
    );
  }

  /** A workflow by its key in the app or by its name. */
  definition(keyOrName: string): WorkflowDefinition {
    const byKey = Object.hasOwn(this.#workflows, keyOrName) ? this.#workflows[keyOrName] : undefined;
    const found = byKey ?? Object.values(this.#workflows).find(({ name }) => name === keyOrName);
    if (found) return found;
    throw new EverstepError("WORKFLOW_NOT_FOUND", `This harness has no workflow "${keyOrName}".`);
  }

  #keyOf(definition: WorkflowDefinition): keyof Workflows {
    const entry = Object.entries(this.#workflows).find(([, other]) => other === definition);
    return entry?.[0] as keyof Workflows;
  }
}

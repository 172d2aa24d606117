import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkInstanceId } from "../authoring/names.ts";
import type {
  CreateArguments,
  CreateOptions,
  InstanceHandle,
  InstanceView,
  ListOptions,
  RestartedOrCreated,
  RestartOrCreateOptions,
  WithinOptions,
  WorkflowHandle,
} from "../handles/index.ts";
import type { StoreOutcome } from "../model/request.ts";
import type { PageView } from "../wire/page.ts";
import type { AppParts } from "./app-parts.ts";
import { createBatch, createInstance } from "./create-instances.ts";
import { type CreationDraft, draftCreation } from "./creation-draft.ts";
import { LocalInstanceHandle } from "./instance-handle.ts";
import { listInstances } from "./list-instances.ts";
import { restartOrCreate, restartOrCreateNames } from "./restart-or-create.ts";
import { StoredInstance } from "./stored-instance.ts";
import { transactionOf } from "./within-transaction.ts";

/** The handle of a workflow in this process. */
export class LocalWorkflowHandle<Params = any, Output = any, Events = any>
  implements WorkflowHandle<Params, Output, Events>
{
  readonly name: string;
  readonly #definition: WorkflowDefinition;
  readonly #parts: AppParts;

  constructor(definition: WorkflowDefinition, parts: AppParts) {
    this.name = definition.name;
    this.#definition = definition;
    this.#parts = parts;
  }

  async create(
    ...[options = {}, within = {}]: CreateArguments<Params>
  ): Promise<InstanceHandle<Output, Events>> {
    const tx = transactionOf(within);
    const draft = this.#draft(options);
    const { ifExists } = options;
    const created = await createInstance(draft, ifExists, this.#definition, this.#parts, tx);
    // In a transaction of the caller's own nothing is there yet.
    return this.#handle(created.instanceId, tx === undefined ? created.outcome : undefined);
  }

  async createBatch(
    batch: readonly CreateOptions<Params>[],
    within: WithinOptions = {},
  ): Promise<InstanceHandle<Output, Events>[]> {
    const tx = transactionOf(within);
    const created = await createBatch(batch, this.#definition, this.#parts, tx);
    return created.map(({ instanceId, outcome }) =>
      this.#handle(instanceId, tx === undefined ? outcome : undefined),
    );
  }

  async get(id: string): Promise<InstanceHandle<Output, Events>> {
    const instance = this.#stored(checkInstanceId(id, this.#definition.limits));
    await instance.read();
    return new LocalInstanceHandle(instance);
  }

  at(id: string): InstanceHandle<Output, Events> {
    return this.#handle(checkInstanceId(id, this.#definition.limits));
  }

  async list(options: ListOptions = {}): Promise<PageView<InstanceView<Output>>> {
    return listInstances(this.name, options, this.#definition.limits, this.#parts);
  }

  async restartOrCreate(
    options: RestartOrCreateOptions<Params>,
  ): Promise<{ readonly outcome: RestartedOrCreated; readonly instance: InstanceHandle<Output, Events> }> {
    const draft = this.#draft(options, restartOrCreateNames);
    const outcome = await restartOrCreate(draft, { ...options }, this.#definition, this.#parts);
    return { outcome, instance: this.#handle(draft.ref.instanceId) };
  }

  #draft(options: CreateOptions<Params>, names?: Readonly<Record<string, true>>): CreationDraft {
    return draftCreation(options, this.#definition, () => this.#parts.runtime.uuid(), names);
  }

  #stored(instanceId: string): StoredInstance {
    return new StoredInstance({ workflowName: this.name, instanceId }, this.#definition, this.#parts);
  }

  #handle(instanceId: string, outcome?: StoreOutcome): InstanceHandle<Output, Events> {
    const creation =
      outcome?.kind === "created" ? { runId: outcome.runId, instant: this.#parts.instant.now() } : null;
    return new LocalInstanceHandle(this.#stored(instanceId), creation);
  }
}

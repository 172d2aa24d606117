import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkInstanceId } from "../authoring/names.ts";
import type { StoreOutcome } from "../model/request.ts";
import type { CreateArgumentsOf } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";
import { createBatch, createInstance } from "./create-instances.ts";
import { type CreateOptions, type CreationDraft, draftCreation } from "./creation-draft.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { type ListOptions, listInstances } from "./list-instances.ts";
import type { PageView } from "./paging.ts";
import {
  type RestartedOrCreated,
  type RestartOrCreateOptions,
  restartOrCreate,
  restartOrCreateNames,
} from "./restart-or-create.ts";
import { StoredInstance } from "./stored-instance.ts";
import type { InstanceView } from "./views.ts";
import { transactionOf, type WithinOptions } from "./within-transaction.ts";

export type CreateArguments<Params> = CreateArgumentsOf<
  Params,
  CreateOptions<Params>,
  [within?: WithinOptions]
>;

/** One workflow of an app: creates its instances and finds them again. */
export class WorkflowHandle<Params = any, Output = any, Events = any> {
  readonly name: string;
  readonly #definition: WorkflowDefinition;
  readonly #parts: AppParts;

  constructor(definition: WorkflowDefinition, parts: AppParts) {
    this.name = definition.name;
    this.#definition = definition;
    this.#parts = parts;
  }

  /**
   * Creates an instance. Once this resolves it is durable and will run, here or elsewhere. With `{ tx }`, a transaction of
   * your own on the store's database, it is there once that commits, and never if it does not.
   */
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

  /** Creates up to 100 instances at once; ids that exist or repeat are skipped and left out of the answer. */
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

  /** An instance that exists. */
  async get(id: string): Promise<InstanceHandle<Output, Events>> {
    const instance = this.#stored(checkInstanceId(id, this.#definition.limits));
    await instance.read();
    return new InstanceHandle(instance);
  }

  /** The instance with this id, whether it exists or not: what is asked of it will say so. */
  at(id: string): InstanceHandle<Output, Events> {
    return this.#handle(checkInstanceId(id, this.#definition.limits));
  }

  async list(options: ListOptions = {}): Promise<PageView<InstanceView<Output>>> {
    return listInstances(this.name, options, this.#definition.limits, this.#parts);
  }

  /**
   * Restarts the instance if it exists and fits the condition, creates it if there is none, else leaves it alone. A repeat
   * with the same `idempotencyKey` does not restart it once more; one of a call that created it restarts it.
   */
  async restartOrCreate(
    options: CreateOptions<Params> & RestartOrCreateOptions & { readonly id: string },
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
    return new InstanceHandle(this.#stored(instanceId), creation);
  }
}

import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { checkInstanceId } from "../authoring/names.ts";
import { planCreate, planRestart, type RestartCondition } from "../engine/lifecycle.ts";
import { EverstepError } from "../model/error.ts";
import { readOptions } from "../model/read-options.ts";
import type { CreateRequest, StoreOutcome } from "../model/request.ts";
import type { CreateArgumentsOf } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";
import { type CreateOptions, type CreationDraft, createNames, draftCreation } from "./creation-draft.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { type ListOptions, listInstances } from "./list-instances.ts";
import type { PageView } from "./paging.ts";
import { changeRequest, type SteeringOptions } from "./steering.ts";
import { StoredInstance } from "./stored-instance.ts";
import { alreadyExists, submitCreation } from "./submit-creation.ts";
import type { InstanceView } from "./views.ts";
import { transactionOf, type WithinOptions, writeWithin } from "./within-transaction.ts";

export type CreateArguments<Params> = CreateArgumentsOf<
  Params,
  CreateOptions<Params>,
  [within?: WithinOptions]
>;

const restartOrCreateNames = { ...createNames, when: true, idempotencyKey: true, actor: true } as const;

/** One workflow of an app: creates its instances and finds them again. */
export class WorkflowHandle<Params = any, Output = any> {
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
  async create(...[options = {}, within = {}]: CreateArguments<Params>): Promise<InstanceHandle<Output>> {
    const tx = transactionOf(within);
    const draft = this.#draft(options);
    const { ifExists } = options;
    const request = await this.#plan(draft, tx);
    const [outcome] =
      tx === undefined
        ? [await submitCreation(request, this.#definition, this.#parts)]
        : await writeWithin(tx, [request], this.#parts);
    if (outcome === undefined) throw new EverstepError("STORE_FAILED", "The store gave no outcome.");
    if (outcome.kind === "exists" && ifExists !== "return")
      throw alreadyExists(request, "Use another id, restart that one, or take it as it is (ifExists).");
    // In a transaction of the caller's own nothing is there yet.
    return this.#handle(request.instanceId, tx === undefined ? outcome : undefined);
  }

  /** Creates up to 100 instances at once; ids that exist or repeat are skipped and left out of the answer. */
  async createBatch(
    batch: readonly CreateOptions<Params>[],
    within: WithinOptions = {},
  ): Promise<InstanceHandle<Output>[]> {
    const tx = transactionOf(within);
    const { batchMax } = this.#definition.limits;
    if (!Array.isArray(batch)) {
      throw new EverstepError("INVALID_ARGUMENT", "createBatch takes an array of { id, params }.");
    }
    if (batch.length > batchMax) {
      throw new EverstepError(
        "BATCH_TOO_LARGE",
        `createBatch got ${batch.length} instances; at most ${batchMax} go at once. Split the batch.`,
      );
    }
    const drafts = batch.map((options) => {
      readOptions("What createBatch was given", "INVALID_ARGUMENT", () => this.#requireId(options));
      return this.#draft(options);
    });
    const requests = new Map<string, CreateRequest>();
    for (const draft of drafts) {
      const request = await this.#plan(draft, tx);
      if (!requests.has(request.instanceId)) requests.set(request.instanceId, request);
    }
    // All or none: what is new in the batch is one transaction.
    const bundle = {};
    const outcomes =
      tx === undefined
        ? await Promise.all(
            [...requests.values()].map((request) =>
              submitCreation(request, this.#definition, this.#parts, bundle),
            ),
          )
        : await writeWithin(tx, [...requests.values()], this.#parts);
    return [...requests.keys()].flatMap((id, at) => {
      const outcome = outcomes[at];
      return outcome?.kind === "created" ? [this.#handle(id, tx === undefined ? outcome : undefined)] : [];
    });
  }

  /** An instance that exists. */
  async get(id: string): Promise<InstanceHandle<Output>> {
    const instance = this.#stored(checkInstanceId(id, this.#definition.limits));
    await instance.read();
    return new InstanceHandle(instance);
  }

  /** The instance with this id, whether it exists or not: what is asked of it will say so. */
  at(id: string): InstanceHandle<Output> {
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
    options: CreateOptions<Params> &
      SteeringOptions & { readonly id: string; readonly when?: RestartCondition },
  ): Promise<{
    readonly outcome: "created" | "restarted" | "unchanged";
    readonly instance: InstanceHandle<Output>;
  }> {
    return this.#restartOrCreate(this.#draft(options, restartOrCreateNames), { ...options });
  }

  async #restartOrCreate(
    draft: CreationDraft,
    options: SteeringOptions & { readonly when?: RestartCondition },
  ): Promise<{
    readonly outcome: "created" | "restarted" | "unchanged";
    readonly instance: InstanceHandle<Output>;
  }> {
    const request = await this.#plan(draft);
    const instance = this.#handle(request.instanceId);
    const created = await submitCreation(request, this.#definition, this.#parts);
    if (created.kind === "created") return { outcome: "created", instance };
    const announce = this.#parts.announcer.restarted(
      { ...request, runNumber: created.runNumber },
      created.status,
    );
    const before = await this.#parts.reads.getInstance(request, created.runNumber);
    // Of the run that was looked at.
    const condition = { runNumber: created.runNumber, ...options.when };
    const plan = { ...planRestart(request, [], condition), ...(announce ? { announce } : {}) };
    const { group, runtime } = this.#parts;
    const changed = await group.submit(changeRequest(plan, options, runtime));
    const isRepeat = changed.kind === "changed" && changed.runNumber <= created.runNumber;
    if (isRepeat) return { outcome: "restarted", instance };
    if (changed.kind !== "changed") {
      const isNewer = changed.kind === "refused" && changed.runNumber > created.runNumber;
      return isNewer && options.when?.runNumber === undefined
        ? this.#restartOrCreate(draft, options)
        : { outcome: "unchanged", instance };
    }
    if (before) this.#parts.runner.recall(before.runId, "The instance was restarted.");
    this.#parts.runner.nudge();
    return { outcome: "restarted", instance };
  }

  /** Resolves when the store may be used: only then is it known what time it is. */
  async #plan({ ref, plan, params }: CreationDraft, tx?: unknown): Promise<CreateRequest> {
    const encoded = typeof params === "function" ? await params() : params;
    await this.#parts.ready(tx);
    return planCreate(ref, { ...plan, params: encoded }, this.#parts.runtime.now());
  }

  #draft(options: CreateOptions<Params>, names?: Readonly<Record<string, true>>): CreationDraft {
    return draftCreation(options, this.#definition, () => this.#parts.runtime.uuid(), names);
  }

  #requireId(options: CreateOptions<Params>): void {
    if (this.#definition.mode === "cloudflare" || options?.id !== undefined) return;
    throw new EverstepError(
      "INVALID_INSTANCE_ID",
      "Every instance of a batch needs an id, so that the batch can be repeated.",
    );
  }

  #stored(instanceId: string): StoredInstance {
    return new StoredInstance({ workflowName: this.name, instanceId }, this.#definition, this.#parts);
  }

  #handle(instanceId: string, outcome?: StoreOutcome): InstanceHandle<Output> {
    const creation =
      outcome?.kind === "created" ? { runId: outcome.runId, instant: this.#parts.instant.now() } : null;
    return new InstanceHandle(this.#stored(instanceId), creation);
  }
}

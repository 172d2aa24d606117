import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { CreateOptions } from "../handles/options.ts";
import { EverstepError } from "../model/error.ts";
import { readOptions } from "../model/read-options.ts";
import type { CreateOutcome, CreateRequest } from "../model/request.ts";
import type { AppParts } from "./app-parts.ts";
import { type CreationDraft, draftCreation } from "./creation-draft.ts";
import { alreadyExists, planCreation, submitCreation } from "./submit-creation.ts";
import { writeWithin } from "./within-transaction.ts";

export interface CreatedInstance {
  readonly instanceId: string;
  readonly outcome: CreateOutcome;
}

/** Creates one, or finds that it exists. */
export async function createInstance(
  draft: CreationDraft,
  ifExists: CreateOptions["ifExists"] | undefined,
  definition: WorkflowDefinition,
  parts: AppParts,
  tx: unknown,
): Promise<CreatedInstance> {
  const request = await planCreation(draft, parts, tx);
  const [outcome] =
    tx === undefined
      ? [await submitCreation(request, definition, parts)]
      : await writeWithin(tx, [request], parts);
  if (outcome === undefined) throw new EverstepError("STORE_FAILED", "The store gave no outcome.");
  if (outcome.kind === "exists" && ifExists !== "return")
    throw alreadyExists(request, "Use another id, restart that one, or take it as it is (ifExists).");
  return { instanceId: request.instanceId, outcome };
}

/** Creates many instances at once; gives those that are new. */
export async function createBatch(
  batch: readonly CreateOptions[],
  definition: WorkflowDefinition,
  parts: AppParts,
  tx: unknown,
): Promise<readonly CreatedInstance[]> {
  checkBatch(batch, definition.limits.maxBatchSize);
  const drafts = batch.map((options) => {
    readOptions("What createBatch was given", "INVALID_ARGUMENT", () => requireId(options, definition));
    return draftCreation(options, definition, () => parts.runtime.uuid());
  });
  const requests = new Map<string, CreateRequest>();
  for (const draft of drafts) {
    const request = await planCreation(draft, parts, tx);
    if (!requests.has(request.instanceId)) requests.set(request.instanceId, request);
  }
  const planned = [...requests.values()];
  // All or none: what is new in the batch is one transaction.
  const bundle = {};
  const outcomes =
    tx === undefined
      ? await Promise.all(planned.map((request) => submitCreation(request, definition, parts, bundle)))
      : await writeWithin(tx, planned, parts);
  return planned.flatMap(({ instanceId }, at) => {
    const outcome = outcomes[at];
    return outcome?.kind === "created" ? [{ instanceId, outcome }] : [];
  });
}

function checkBatch(batch: unknown, maxBatchSize: number): void {
  if (!Array.isArray(batch)) {
    throw new EverstepError("INVALID_ARGUMENT", "createBatch takes an array of { id, params }.");
  }
  if (batch.length <= maxBatchSize) return;
  throw new EverstepError(
    "BATCH_TOO_LARGE",
    `createBatch got ${batch.length} instances; at most ${maxBatchSize} go at once. Split the batch.`,
  );
}

function requireId(options: CreateOptions, { mode }: WorkflowDefinition): void {
  if (mode === "cloudflare" || options?.id !== undefined) return;
  throw new EverstepError(
    "INVALID_INSTANCE_ID",
    "Every instance of a batch needs an id, so that the batch can be repeated.",
  );
}

import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { planCreate } from "../engine/lifecycle.ts";
import { EverstepError } from "../model/error.ts";
import type { InstanceRecord, InstanceRef } from "../model/instance.ts";
import type { CreateOutcome, CreateRequest } from "../model/request.ts";
import type { AppParts } from "./app-parts.ts";
import type { CreationDraft } from "./creation-draft.ts";

/** Resolves when the store may be used: only then is it known what time it is. */
export async function planCreation(
  { ref, plan, params }: CreationDraft,
  { ready, runtime }: AppParts,
  tx?: unknown,
): Promise<CreateRequest> {
  const encoded = typeof params === "function" ? await params() : params;
  await ready(tx);
  return planCreate(ref, { ...plan, params: encoded }, runtime.now());
}

/** Creates what is asked for, already leased to this process if it can be taken up here at once. */
export async function submitCreation(
  request: CreateRequest,
  { options }: WorkflowDefinition,
  parts: AppParts,
  bundle?: object,
): Promise<CreateOutcome> {
  const { runner, runtime, group } = parts;
  const now = runtime.now();
  const mayRunHere = request.dueAt <= now && options.concurrency === undefined;
  // Before the end of the lease is worked out: whoever takes it up must not believe in it for longer.
  const since = runtime.monotonic();
  const lease = mayRunHere ? runner.offerLease() : null;
  let claim = null;
  let uncertain = false;
  const onUncertain = (): void => {
    uncertain = true;
  };
  try {
    let outcome = await group.submit({ ...request, lease }, { onUncertain, ...(bundle ? { bundle } : {}) });
    if (uncertain && outcome.kind === "exists") outcome = await ownOr(outcome, { ...request, lease }, parts);
    if (outcome.kind === "created") {
      claim = outcome.claim;
      if (!claim) {
        if (request.dueAt > now) runner.dueAt(request.dueAt);
        else runner.fallBehind();
      }
    }
    return outcome;
  } catch (failure) {
    if (uncertain && lease) void runner.giveBackUnheard(lease);
    throw failure;
  } finally {
    if (lease) runner.takeUp(claim, since);
  }
}

/** After a lost reply: the instance that is there is the one this request created, if it is the same in everything. */
async function ownOr(
  exists: CreateOutcome,
  request: CreateRequest,
  { reads, runner }: AppParts,
): Promise<CreateOutcome> {
  const found = await reads.getInstance(request, 1);
  if (!found || !isOwnCreation(found, request)) return exists;
  // The lease that went with the lost reply is held by nobody; one that somebody has taken since is theirs.
  if (request.lease) await runner.giveBack(found.runId, request.lease);
  return { kind: "created", runId: found.runId, claim: null };
}

/** After a lost reply: an instance that is the same in everything is the one that the request created. */
export function isOwnCreation({ createdAt, params }: InstanceRecord, request: CreateRequest): boolean {
  return (
    createdAt === request.createdAt &&
    params.json === request.params.json &&
    params.marks === request.params.marks
  );
}

export function alreadyExists(ref: InstanceRef, advice: string): EverstepError {
  return new EverstepError(
    "INSTANCE_ID_ALREADY_EXISTS",
    `Workflow "${ref.workflowName}" already has an instance "${ref.instanceId}"; it was left as it is. ${advice}`,
    { details: { workflowName: ref.workflowName, instanceId: ref.instanceId } },
  );
}

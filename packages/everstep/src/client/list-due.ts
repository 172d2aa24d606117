import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { TaskKind } from "../model/task.ts";
import type { DueRun } from "../store/store.ts";
import type { AppParts } from "./app-parts.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";
import { pointInTime } from "./point-in-time.ts";

export interface DueOptions {
  /** Due at this time or before; now unless given. */
  readonly before?: Date | number | undefined;
  /** How many at most; default 100, up to 10,000. */
  readonly limit?: number | undefined;
}

/** A run that wants a turn and that no runner has taken. */
export interface DueView extends InstanceRef {
  readonly runNumber: number;
  /** Its start, or how it goes on: after a pause or a crash of its runner, with a failed step again, or after a wait. */
  readonly kind: TaskKind;
  readonly dueAt: Date;
}

const dueNames: NamesOf<DueOptions> = { before: true, limit: true };

/** Soonest first, without what the engine keeps for itself. */
export async function listDue(options: DueOptions, parts: AppParts): Promise<readonly DueView[]> {
  checkNames(options, dueNames, "due");
  const { before, limit = 100 } = options;
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      `limit is ${String(limit)}; it must be a whole number from 1 to ${limitMax}.`,
    );
  }
  const given = before === undefined ? undefined : pointInTime(before, "before");
  await parts.ready();
  const until = given ?? parts.runtime.now();
  for (let asked = limit; ; asked = Math.min(4 * asked, askedMax)) {
    const found = await parts.reads.listDue({ before: until, limit: asked });
    const shown = found.filter(({ workflowName }) => workflowName !== hooksWorkflowName);
    const isAll = found.length < asked || asked === askedMax;
    if (shown.length >= limit || isAll) return shown.slice(0, limit).map(dueView);
  }
}

const limitMax = 10_000;
/** However much of it is the engine's own. */
const askedMax = 2 * limitMax;

function dueView({ workflowName, instanceId, runNumber, kind, dueAt }: DueRun): DueView {
  return { workflowName, instanceId, runNumber, kind, dueAt: new Date(dueAt) };
}

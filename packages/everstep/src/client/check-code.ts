import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { type Duration, parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { checkHistories } from "../verify/replay/check-histories.ts";
import type { CheckProgress, CheckReport } from "../verify/replay/check-report.ts";
import { patienceDefault } from "../verify/replay/replay-history.ts";
import type { AppParts } from "./app-parts.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { hooksWorkflowName } from "./lifecycle-hooks.ts";

export interface CheckOptions {
  /** Other code than the app's own: the build that is about to be deployed. */
  readonly workflows?: Record<string, WorkflowDefinition>;
  /** Instances of this workflow only. */
  readonly workflowName?: string;
  /** Instances to look at, at most; default 1000, up to 10,000. */
  readonly limit?: number;
  /** The `after` of the report before. */
  readonly after?: string;
  /** Instances that are replayed at the same time; default 16, up to 256. */
  readonly concurrency?: number;
  /** How long code that does not come to rest is waited for, per instance; default 2 seconds. */
  readonly patience?: Duration;
  readonly onProgress?: (progress: CheckProgress) => void;
}

const checkOptionNames: NamesOf<CheckOptions> = {
  workflows: true,
  workflowName: true,
  limit: true,
  after: true,
  concurrency: true,
  patience: true,
  onProgress: true,
};

/** Holds code against the unfinished instances of the app's store. Makes no tables, writes nothing, runs no body. */
export async function checkCode(
  options: CheckOptions,
  parts: AppParts,
  definitions: ReadonlyMap<string, WorkflowDefinition>,
): Promise<CheckReport> {
  checkNames(options, checkOptionNames, "check");
  const { workflowName, after } = options;
  const list = `check:${workflowName ?? ""}`;
  const mayGoOn = async (): Promise<void> => parts.ready(onlyLooking);
  const plan = {
    reads: parts.reads,
    runtime: parts.runtime,
    definitions,
    passedOver: new Set([hooksWorkflowName]),
    workflowName,
    limit: wholeUpTo(10_000, options.limit ?? 1000, "limit"),
    after: after === undefined ? undefined : decodeCursor(list, after),
    concurrency: wholeUpTo(256, options.concurrency ?? 16, "concurrency"),
    patienceMs: parseDuration(options.patience ?? patienceDefault, "patience of check"),
    onProgress: options.onProgress,
    mayGoOn,
  };
  const report = await checkHistories(plan);
  return report.after === undefined ? report : { ...report, after: encodeCursor(list, report.after) };
}

/** Stands where a caller's transaction would: no tables are made. */
const onlyLooking = {};

function wholeUpTo(max: number, value: number, name: string): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `${name} is ${String(value)}; it must be a whole number from 1 to ${max}.`,
  );
}

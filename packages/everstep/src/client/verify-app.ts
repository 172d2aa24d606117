import { type Duration, parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import { type InstanceStatus, instanceStatuses } from "../model/instance.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { verify } from "../verify/verify.ts";
import type { VerifyProgress, VerifyReport } from "../verify/verify-report.ts";
import { auditNames } from "../wire/option-names.ts";
import type { AuditOptions } from "../wire/options.ts";
import type { AppParts } from "./app-parts.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";

export interface VerifyOptions extends AuditOptions {
  /** Instances with one of these statuses only. */
  readonly statuses?: readonly InstanceStatus[];
  /** How late a run may be before it is worth a warning; default 5 minutes. */
  readonly overdue?: Duration;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

const verifyNames: NamesOf<VerifyOptions> = {
  ...auditNames,
  statuses: true,
  overdue: true,
  onProgress: true,
};

/** Audits the app's store. Makes no tables and writes nothing. */
export async function verifyApp(options: VerifyOptions, parts: AppParts): Promise<VerifyReport> {
  checkNames(options, verifyNames, "verify");
  const { workflowName, statuses, after, onProgress } = options;
  const list = `verify:${workflowName ?? ""}:${statuses?.join() ?? ""}`;
  const plan = {
    reads: parts.reads,
    runtime: parts.runtime,
    definitions: parts.definitions,
    filter: {
      ...(workflowName === undefined ? {} : { workflowName }),
      ...(statuses === undefined ? {} : { statuses: checkStatuses(statuses) }),
    },
    limit: checkLimit(options.limit ?? 10_000),
    after: after === undefined ? undefined : decodeCursor(list, after),
    sample: checkSample(options.sample ?? 1),
    history: options.history ?? false,
    doubts: options.doubts ?? false,
    overdueMs: parseDuration(options.overdue ?? "5 minutes", "overdue of verify"),
    onProgress: (progress: VerifyProgress) => {
      try {
        onProgress?.(progress);
      } catch {
        // Whoever only listens cannot disturb what goes on.
      }
    },
  };
  await parts.ready(onlyLooking);
  const report = await verify(plan);
  return report.after === undefined ? report : { ...report, after: encodeCursor(list, report.after) };
}

/** Stands where a caller's transaction would: no tables are made. */
const onlyLooking = {};

function checkLimit(limit: number): number {
  if (Number.isInteger(limit) && limit >= 1) return limit;
  throw invalid(`limit is ${String(limit)}; it must be a whole number above 0.`);
}

function checkSample(sample: number): number {
  if (typeof sample === "number" && sample > 0 && sample <= 1) return sample;
  throw invalid(`sample is ${String(sample)}; it must be a number above 0, and 1 for all.`);
}

function checkStatuses(statuses: readonly InstanceStatus[]): readonly InstanceStatus[] {
  const unknown = statuses.find((status) => !instanceStatuses.includes(status));
  if (unknown === undefined && statuses.length > 0) return statuses;
  const found = statuses.length === 0 ? "is empty" : `has ${String(unknown)}`;
  throw invalid(`statuses ${found}; use any of ${instanceStatuses.join(", ")}.`);
}

function invalid(message: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", message);
}

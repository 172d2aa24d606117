/** The names of what may be said with a call: whatever else is given was meant as one of them, and is refused. */
import type { OutgoingEvent } from "../authoring/workflow-step.ts";
import type { NamesOf } from "../model/known-names.ts";
import type {
  ActivityOptions,
  AuditOptions,
  DeleteOptions,
  ForkOptions,
  FromStep,
  HistoryPageOptions,
  InstanceFilter,
  LogFilter,
  PageOptions,
  PublishOptions,
  RepeatOptions,
  ResultOptions,
  RetryOptions,
  RunOptions,
} from "./options.ts";

export const pageNames: NamesOf<PageOptions> = { pageSize: true, cursor: true, order: true };
export const runNames: NamesOf<RunOptions> = { runNumber: true };
export const fromNames: NamesOf<FromStep> = { from: true };
export const deleteNames: NamesOf<DeleteOptions<never>> = { force: true, createdAt: true };
export const forkNames: NamesOf<ForkOptions> = { from: true, newId: true };
export const retryNames: NamesOf<RetryOptions> = { delay: true };
export const repeatNames: NamesOf<RepeatOptions> = { idempotencyKey: true };
export const publishNames: NamesOf<PublishOptions> = { idempotencyKey: true };
export const resultNames: NamesOf<ResultOptions> = { timeout: true };
export const activityNames: NamesOf<ActivityOptions> = { minutes: true, workflowName: true };
export const eventNames: NamesOf<OutgoingEvent> = { type: true, payload: true, idempotencyKey: true };

export const listNames: NamesOf<InstanceFilter<never> & PageOptions & { readonly brief?: boolean }> = {
  ...pageNames,
  status: true,
  deadLetter: true,
  createdFrom: true,
  createdBefore: true,
  idPrefix: true,
  brief: true,
};

export const logsNames: NamesOf<RunOptions & LogFilter & PageOptions & { readonly after?: string }> = {
  ...pageNames,
  ...runNames,
  level: true,
  category: true,
  after: true,
};

export const historyPageNames: NamesOf<HistoryPageOptions> = {
  runNumber: true,
  pageSize: true,
  order: true,
  stepsCursor: true,
  eventsCursor: true,
  includeLogs: true,
  logsCursor: true,
  logLevel: true,
  logCategory: true,
};

export const auditNames: NamesOf<AuditOptions> = {
  workflowName: true,
  limit: true,
  after: true,
  sample: true,
  history: true,
  doubts: true,
};

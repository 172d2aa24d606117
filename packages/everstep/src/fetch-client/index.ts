/** "everstep/client": an app that is served elsewhere, from a browser or any other runtime. */
export type * from "../http/wire.ts";
export { type ErrorCode, EverstepError } from "../model/error.ts";
export type { InstanceStatus } from "../model/instance.ts";
export type { HistoryDocument } from "../verify/replay/history-document.ts";
export type { VerifyReport } from "../verify/verify-report.ts";
export type {
  AccessOptions,
  ActivityOptions,
  BatchEntry,
  CallOptions,
  CreateOptions,
  DeadLettersOptions,
  ExportOptions,
  FollowLogsOptions,
  ForkOptions,
  HistoryOptions,
  ListAllOptions,
  ListOptions,
  LogsOptions,
  ManageOptions,
  OutgoingEvent,
  PageOptions,
  PublishOptions,
  RestartOptions,
  RestartOrCreateOptions,
  ResultOptions,
  RetryFailedStepOptions,
  StepOptions,
  TerminateOptions,
  VerifyOptions,
  WatchListOptions,
  WatchOptions,
} from "./call-options.ts";
export type { Fetch } from "./connection.ts";
export { type Client, type ClientOptions, createClient } from "./create-client.ts";
export type {
  InstanceClient,
  InstanceResult,
  InstanceStatusOf,
  InstanceWithSteps,
} from "./instance-client.ts";
export type { ClientHeaders, HeaderValues } from "./request-headers.ts";
export type { WorkflowClient } from "./workflow-client.ts";

export type { Boundary, ConsumedEvent, Next, TimedOutWait } from "../model/boundary.ts";
export type { ErrorCode, StoreFailure } from "../model/error.ts";
export { EverstepError, StoreError } from "../model/error.ts";
export type { EventRecord } from "../model/event.ts";
export type {
  BegunBody,
  InstanceInput,
  InstanceRecord,
  InstanceRef,
  InstanceStatus,
  RunId,
} from "../model/instance.ts";
export { inputNotGiven } from "../model/instance.ts";
export type { Claim, Lease, LeftRun, ReturnedLease } from "../model/lease.ts";
export type { LogLevel, LogLine, StoredLogLine } from "../model/log-line.ts";
export type { Mutation, Mutations } from "../model/mutations.ts";
export type { AttemptError, StepRecord, StepStatus, StepType, WaitsFor } from "../model/step.ts";
export type { TaskKind } from "../model/task.ts";
export type { EncodedValue, StoredError } from "../model/value.ts";
export type { Capability, StoreCapabilities } from "./capabilities.ts";
export { has, lacks } from "./capabilities.ts";
export type * from "./store.ts";

/** What callers see of an instance: decoded values and Dates, in the process and from a client alike. */
import type { InstanceStatus } from "../model/instance.ts";
import type { ErrorView, InstanceFacts, RunningBodyView, StepView, why } from "../wire/index.ts";
import type { ViewOf } from "../wire/schema.ts";

/** `output` is there when complete, `error` when errored. */
export type InstanceStatusView<Output = any> =
  | { readonly status: "complete"; readonly output: Output; readonly error?: undefined }
  | { readonly status: "errored"; readonly error: ErrorView; readonly output?: undefined }
  | {
      readonly status: Exclude<InstanceStatus, "complete" | "errored">;
      readonly output?: undefined;
      readonly error?: undefined;
    };

export type InstanceView<Output = any> = InstanceStatusView<Output> & InstanceFacts;

/** Everything about an instance, with the step people ask about. */
export type InstanceDetails<Output = any> = InstanceView<Output> & { readonly currentStep?: StepView };

/** The same with all steps of the current run, and the bodies at work. */
export type InstanceSnapshot<Output = any> = InstanceDetails<Output> & {
  readonly steps: readonly StepView[];
  readonly running: readonly RunningBodyView[];
};

export type InstanceResult<Output = any> = InstanceStatusView<Output> & {
  /** The time was up before the instance ended; `status` is what it was then. */
  readonly timedOut: boolean;
};

export type WhyReason =
  | "complete"
  | "errored"
  | "terminated"
  | "paused"
  | "executing"
  | "runner-silent"
  | "lease-ran-out"
  | "crash-backoff"
  | "not-started-yet"
  | "sleeping"
  | "waiting-for-event"
  | "waiting-for-topic"
  | "waiting-for-retry"
  | "queued"
  | "no-runner"
  | "unlisted"
  | "due-now";

export interface WhyView extends ViewOf<typeof why> {
  readonly reason: WhyReason;
}

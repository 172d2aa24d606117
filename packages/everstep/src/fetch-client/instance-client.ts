import { EverstepError } from "../model/error.ts";
import type { InstanceRef } from "../model/instance.ts";
import { checkNames } from "../model/known-names.ts";
import type { HistoryDocument } from "../verify/replay/history-document.ts";
import type {
  InstanceWithSteps,
  WireHistory,
  WireInstance,
  WireInstanceWithMeta,
  WireLogLine,
  WireLogs,
  WireRuns,
  WireSent,
  WireStatus,
  WireStep,
  WireStepSelector,
  WireWhy,
} from "../wire/index.ts";
import { checkInstanceId } from "./address.ts";
import { awaitEnd } from "./await-end.ts";
import {
  type CallOptions,
  type DeleteOptions,
  deleteNames,
  type ExportOptions,
  exportNames,
  type FollowLogsOptions,
  type ForkOptions,
  type HistoryOptions,
  type LogsOptions,
  type ManageOptions,
  manageNames,
  type OutgoingEvent,
  type RestartOptions,
  type ResultOptions,
  type RetryFailedStepOptions,
  resultNames,
  type StepOptions,
  type TerminateOptions,
  type WatchOptions,
  watchNames,
} from "./call-options.ts";
import type { Connection } from "./connection.ts";
import { deleteInstance } from "./delete-instance.ts";
import { readData, streamOf } from "./event-stream.ts";
import { creating } from "./own-creation.ts";
import { idempotencyKeyOf } from "./request-headers.ts";

/** `output` is there when complete, `error` when errored. */
export interface InstanceStatusOf<Output> extends WireStatus {
  readonly output?: Output;
}

export interface InstanceResult<Output> extends InstanceStatusOf<Output> {
  /** The time was up before the instance ended; `status` is what it was then. */
  readonly timedOut: boolean;
}

/** One instance, by its id. Every method asks the server; the object itself knows nothing. */
export interface InstanceClient<Output = unknown> {
  readonly id: string;
  readonly workflowName: string;

  status(options?: CallOptions): Promise<InstanceStatusOf<Output>>;
  /** Everything about the instance, its current step included. */
  details(options?: CallOptions): Promise<WireInstanceWithMeta>;
  /** Steps and events of a run, the current one unless another is named. */
  history(options?: HistoryOptions): Promise<WireHistory>;
  /** One step with its result, by its index. */
  step(index: number, options?: StepOptions): Promise<WireStep>;
  logs(options?: LogsOptions): Promise<WireLogs>;
  /** All runs, newest first. */
  runs(options?: CallOptions): Promise<WireRuns["runs"]>;
  /** One answer to "why is this instance not moving?". */
  why(options?: CallOptions): Promise<WireWhy>;
  /** A run as one document that `replayHistory` can replay elsewhere. */
  exportHistory(options?: ExportOptions): Promise<HistoryDocument>;

  /** Stops it after the step in flight. Timers keep counting, events are kept. */
  pause(options?: ManageOptions): Promise<void>;
  resume(options?: ManageOptions): Promise<void>;
  /** Ends it for good. */
  terminate(options?: TerminateOptions): Promise<void>;
  /**
   * Removes it with everything recorded of it. One that has not ended is refused (INSTANCE_NOT_TERMINAL) unless `force` is
   * given. Its id may be created again at once.
   */
  delete(options?: DeleteOptions): Promise<void>;
  /** Runs it again from the beginning, or from a step, as its next run. */
  restart(options?: RestartOptions): Promise<void>;
  /** Runs it again from a step. */
  rewind(step: WireStepSelector, options?: ManageOptions): Promise<void>;
  /** A new instance that begins with what this one recorded before a step. */
  fork(options?: ForkOptions): Promise<InstanceClient<Output>>;
  /** Gives the step that failed an errored instance one more attempt. */
  retryFailedStep(options?: RetryFailedStepOptions): Promise<void>;
  /** Ends the sleep it is in now. */
  skipSleep(options?: ManageOptions): Promise<void>;
  /** Sends an event to this instance; says how the instance is then. */
  sendEvent(event: OutgoingEvent): Promise<InstanceStatusOf<Output>>;

  /** Waits for the instance to end. */
  result(options?: ResultOptions): Promise<InstanceResult<Output>>;
  /** The instance with its steps, now and whenever something about it changed. */
  watch(options?: WatchOptions): AsyncIterable<InstanceWithSteps>;
  /** Its log lines from the first on, and those that follow, until it has ended. */
  followLogs(options?: FollowLogsOptions): AsyncIterable<WireLogLine>;
}

export function createInstanceClient<Output>(
  connection: Connection,
  ref: InstanceRef,
): InstanceClient<Output> {
  const { workflowName, instanceId } = ref;
  const path = (...more: string[]): string[] => ["workflows", workflowName, "instances", instanceId, ...more];
  const { runtime } = connection;

  const manage = async (
    verb: string,
    body: object,
    options: ManageOptions,
    extra: { readonly field?: string; readonly onUncertain?: () => void } = {},
  ): Promise<void> => {
    // What is the verb's own is in its body by now.
    const own = Object.fromEntries(Object.keys(body).map((name) => [name, true as const]));
    checkNames(options, { ...own, ...manageNames }, verb);
    const { signal, idempotencyKey } = options;
    const key = idempotencyKeyOf(idempotencyKey, runtime);
    await connection.send({ segments: path(verb), body, idempotencyKey: key, signal, field: "ok", ...extra });
  };
  const details = ({ signal }: CallOptions = {}): Promise<WireInstanceWithMeta> =>
    connection.send({ segments: path(), field: "details", signal });
  const status = async (options: CallOptions = {}): Promise<InstanceStatusOf<Output>> =>
    (await details(options)).details as InstanceStatusOf<Output>;
  const watch = (options: WatchOptions = {}): AsyncIterable<InstanceWithSteps> => {
    checkNames(options, watchNames, "watch");
    const { signal, onReconnect } = options;
    return streamOf(
      connection,
      { segments: path(), signal, onReconnect },
      readData<InstanceWithSteps>("instance"),
    );
  };

  return {
    id: instanceId,
    workflowName,

    status,
    details,
    history: ({ signal, ...query } = {}) =>
      connection.send({ segments: path("history"), query, field: ["steps[]", "events[]"], signal }),
    step: (index, { signal, ...query } = {}) =>
      connection.send({ segments: path("steps", String(index)), query, field: "stepKey", signal }),
    logs: ({ signal, ...query } = {}) =>
      connection.send({ segments: path("logs"), query, field: "logs[]", signal }),
    runs: async ({ signal } = {}) =>
      (await connection.send<WireRuns>({ segments: path("runs"), field: "runs[]", signal })).runs,
    why: ({ signal } = {}) => connection.send({ segments: path("why"), field: "reason", signal }),
    async exportHistory(options = {}) {
      checkNames(options, exportNames, "exportHistory");
      const { signal, runNumber } = options;
      return connection.send({
        segments: path("export"),
        query: { runNumber },
        field: "format",
        isLong: true,
        signal,
      });
    },

    pause: (options = {}) => manage("pause", {}, options),
    resume: (options = {}) => manage("resume", {}, options),
    terminate: ({ reason, ...options } = {}) => manage("terminate", { reason }, options),
    async delete(options = {}) {
      checkNames(options, deleteNames, "delete");
      await deleteInstance(connection, path(), () => details(options), options);
    },
    restart: ({ from, ...options } = {}) => manage("restart", { from }, options),
    rewind: (step, options = {}) => manage("rewind", { step }, options),
    async fork({ from, newId, ...options } = {}) {
      const id = newId === undefined ? runtime.uuid() : checkInstanceId(newId);
      await creating(newId === undefined, (onUncertain) =>
        manage("fork", { from, newId: id }, options, { field: "id", onUncertain }),
      );
      return createInstanceClient<Output>(connection, { workflowName, instanceId: id });
    },
    retryFailedStep: ({ delay, ...options } = {}) => manage("retry-failed-step", { delay }, options),
    skipSleep: (options = {}) => manage("skip-sleep", {}, options),
    async sendEvent(event) {
      if (typeof event !== "object" || event === null) {
        throw new EverstepError(
          "INVALID_EVENT_TYPE",
          'sendEvent takes { type, payload? }, for instance { type: "approved" }.',
        );
      }
      const { signal, idempotencyKey = runtime.uuid(), ...content } = event;
      const body = { ...content, idempotencyKey };
      const call = { segments: path("events"), body, field: "status", signal };
      const sent = await connection.send<WireSent>(call);
      return sent.status as InstanceStatusOf<Output>;
    },

    async result(options = {}) {
      checkNames(options, resultNames, "result");
      const instance = { look: status, watch: (each: WatchOptions) => statusesOf(watch(each)) };
      return (await awaitEnd(instance, options, runtime)) as InstanceResult<Output>;
    },
    watch,
    followLogs: ({ signal, onReconnect, ...query } = {}) =>
      streamOf(
        connection,
        { segments: path("logs"), query, signal, onReconnect },
        readData<WireLogLine>("log"),
        "end",
      ),
  };
}

async function* statusesOf(instances: AsyncIterable<WireInstance>): AsyncGenerator<WireStatus, void, void> {
  for await (const { details } of instances) yield details;
}

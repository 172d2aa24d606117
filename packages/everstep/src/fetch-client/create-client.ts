import { checkDuration, type Duration, parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import type { Runtime } from "../model/runtime.ts";
import { systemRuntime } from "../system-runtime.ts";
import type { VerifyReport } from "../verify/verify-report.ts";
import type {
  WireAccess,
  WireActivity,
  WireCounts,
  WireCountsAnswer,
  WireInstancesWithMeta,
  WireOverview,
  WirePublished,
  WireRunner,
  WireRunners,
  WireTopics,
  WireWaiters,
  WireWorkflows,
} from "../wire/index.ts";
import { checkTopic, checkWorkflowName, readMountUrl } from "./address.ts";
import {
  type AccessOptions,
  type ActivityOptions,
  type CallOptions,
  type DeadLettersOptions,
  type ListAllOptions,
  type PageOptions,
  type PublishOptions,
  publishNames,
  type VerifyOptions,
  type WatchListOptions,
} from "./call-options.ts";
import { Connection, type Fetch } from "./connection.ts";
import { readData, streamOf } from "./event-stream.ts";
import type { ClientHeaders } from "./request-headers.ts";
import { createWorkflowClient, type WorkflowClient } from "./workflow-client.ts";

export interface ClientOptions {
  /** The full URL under which the API is mounted. In a browser it may be relative to the page. */
  readonly url: string | URL;
  /** Sent with every request; a function is asked before every try, so that it can renew a token. */
  readonly headers?: ClientHeaders;
  /** The host's own unless given. */
  readonly fetch?: Fetch;
  /** For one try, its answer included; default 15 seconds. Audits and exports may take 5 minutes. */
  readonly timeout?: Duration;
  /** How often a request is repeated after no answer, a status of 500 or more, or 429; default 2. */
  readonly retries?: number;
  /** Before the first repetition; each further one waits twice as long. Default 500 milliseconds. */
  readonly retryDelay?: Duration;
  /** Time and randomness; the system's unless given. */
  readonly runtime?: Partial<Runtime>;
}

const clientNames: NamesOf<ClientOptions> = {
  url: true,
  headers: true,
  fetch: true,
  timeout: true,
  retries: true,
  retryDelay: true,
  runtime: true,
};

/** A definition made with `defineWorkflow`, for its types: `client.workflow<typeof order>("order")`. */
interface TypedWorkflow {
  readonly "~types"?: { readonly params: unknown; readonly output: unknown };
}

type TypesOf<Workflow extends TypedWorkflow> = NonNullable<Workflow["~types"]>;

export interface Client {
  workflows(options?: CallOptions): Promise<WireWorkflows["workflows"]>;
  workflow<Workflow extends TypedWorkflow>(
    name: string,
  ): WorkflowClient<TypesOf<Workflow>["params"], TypesOf<Workflow>["output"]>;
  /** By its name, without asking the server whether there is such a workflow. */
  workflow<Params = unknown, Output = unknown>(name: string): WorkflowClient<Params, Output>;
  /** Instances of all workflows. */
  instances(options?: ListAllOptions): Promise<WireInstancesWithMeta>;
  /** Instances that were given up. */
  deadLetters(options?: DeadLettersOptions): Promise<WireInstancesWithMeta>;
  /** Instances by status: of one workflow, or of all. */
  counts(workflowName?: string, options?: CallOptions): Promise<WireCounts>;
  /** One event for every instance that waits on the topic now; says how many. */
  publish(topic: string, payload?: unknown, options?: PublishOptions): Promise<WirePublished>;
  waiters(topic: string, page?: Omit<PageOptions, "order">): Promise<WireWaiters>;
  /** Topics that instances wait on now, by name. */
  topics(page?: Omit<PageOptions, "order">): Promise<WireTopics>;
  /** How it all is, at a glance. */
  overview(options?: CallOptions): Promise<WireOverview>;
  /** The processes that run instances, those seen last first. */
  runners(options?: CallOptions): Promise<readonly WireRunner[]>;
  /** How much was done in the last minutes: of one workflow, or of all. */
  activity(options?: ActivityOptions): Promise<WireActivity>;
  /** What the caller may do beside reading. */
  access(options?: AccessOptions): Promise<WireAccess>;
  /** Kills the process that answers, where `everstep dev` offers that. It is started again, and everything goes on. */
  kill(options?: CallOptions): Promise<void>;
  /** Judges what is recorded of each run by what the engine promises. */
  verify(options?: VerifyOptions): Promise<VerifyReport>;
  health(options?: CallOptions): Promise<unknown>;
  openapi(options?: CallOptions): Promise<unknown>;
  /** The first page of all instances, now and whenever it changed. */
  watchInstances(options?: WatchListOptions): AsyncIterable<WireInstancesWithMeta>;
}

const verifyFields = ["summary", "violations[]", "warnings[]", "unreadable[]"];

/** A client of an app that is served elsewhere. Runs wherever there is `fetch`. */
export function createClient(options: ClientOptions): Client {
  const connection = new Connection(readOptions(options));
  const { runtime } = connection;
  return {
    workflows: async ({ signal } = {}) => {
      const call = { segments: ["workflows"], field: "workflows[]", signal };
      return (await connection.send<WireWorkflows>(call)).workflows;
    },
    workflow: (name: string) => createWorkflowClient(connection, checkWorkflowName(name)),
    instances: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["instances"], query, field: "instances[]", signal }),
    deadLetters: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["dead-letters"], query, field: "instances[]", signal }),
    counts: async (workflowName, { signal } = {}) => {
      const call = { segments: ["counts"], query: { workflowName }, field: "counts", signal };
      return (await connection.send<WireCountsAnswer>(call)).counts;
    },
    async publish(topic, payload, options = {}) {
      checkNames(options, publishNames, "publish");
      const { signal, idempotencyKey = runtime.uuid() } = options;
      return connection.send({
        segments: ["topics", checkTopic(topic)],
        body: { payload, idempotencyKey },
        field: "waiters",
        signal,
      });
    },
    waiters: async (topic, { signal, ...query } = {}) =>
      connection.send({
        segments: ["topics", checkTopic(topic), "waiters"],
        query,
        field: "waiters[]",
        signal,
      }),
    topics: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["topics"], query, field: "topics[]", signal }),
    overview: ({ signal } = {}) => connection.send({ segments: ["overview"], field: "counts", signal }),
    runners: async ({ signal } = {}) => {
      const call = { segments: ["runners"], field: "runners[]", signal };
      return (await connection.send<WireRunners>(call)).runners;
    },
    activity: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["activity"], query, field: "buckets[]", signal }),
    access: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["access"], query, field: "management", signal }),
    kill: async ({ signal } = {}) => {
      await connection.send({ segments: ["_dev", "kill"], body: {}, field: "ok", isOnce: true, signal });
    },
    verify: ({ signal, ...query } = {}) =>
      connection.send({ segments: ["verify"], query, field: verifyFields, isLong: true, signal }),
    health: ({ signal } = {}) => connection.send({ segments: ["healthz"], signal }),
    openapi: ({ signal } = {}) => connection.send({ segments: ["openapi.json"], field: "openapi", signal }),
    watchInstances: ({ signal, onReconnect, ...query } = {}) =>
      streamOf(
        connection,
        { segments: ["instances"], query, signal, onReconnect },
        readData<WireInstancesWithMeta>("instances"),
      ),
  };
}

function readOptions(options: ClientOptions): ConstructorParameters<typeof Connection>[0] {
  if (typeof options !== "object" || options === null) {
    throw new EverstepError(
      "INVALID_ARGUMENT",
      'createClient needs { url }, for instance { url: "http://127.0.0.1:4610" }.',
    );
  }
  checkNames(options, clientNames, "createClient");
  const { headers = {}, fetch = hostFetch, timeout = 15_000, retries = 2, retryDelay = 500 } = options;
  if (typeof fetch !== "function") throw invalid("fetch", "a function");
  return {
    mountUrl: readMountUrl(options.url),
    headers,
    fetch,
    timeoutMs: readMs("timeout", timeout, 1),
    retries: readRetries(retries),
    retryDelayMs: readMs("retryDelay", retryDelay, 0),
    runtime: { ...systemRuntime, ...options.runtime },
  };
}

/** Looked up when it is used, and called on its own: browsers insist. */
const hostFetch: Fetch = (url, init) => {
  if (typeof globalThis.fetch === "function") return globalThis.fetch(url, init);
  throw new EverstepError(
    "RUNTIME_UNSUPPORTED",
    "There is no fetch here. Pass one: createClient({ url, fetch }).",
  );
};

function readMs(name: string, value: unknown, min: number): number {
  const what = `${name} of createClient`;
  return checkDuration(parseDuration(value, what), { min }, what);
}

function readRetries(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalid("retries", "a whole number from 0 on");
}

function invalid(name: string, rule: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", `The ${name} of createClient must be ${rule}.`);
}

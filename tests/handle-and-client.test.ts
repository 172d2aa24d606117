/**
 * The app in the process and its client from afar are one interface: what one of them has, the other has by the same name,
 * with the same options, and answers alike. What differs stands here with its reason; what is not here does not compile.
 */
import { expect, test } from "vitest";
import type { App } from "../packages/everstep/src/client/app.ts";
import type { Client, InstanceClient, WorkflowClient } from "../packages/everstep/src/fetch-client/index.ts";
import type { InstanceHandle } from "../packages/everstep/src/handles/instance-handle.ts";
import type { WorkflowHandle } from "../packages/everstep/src/handles/workflow-handle.ts";

type Reasons<Names extends PropertyKey> = Readonly<Record<Names, string>>;

/** Names that only the first of them has. */
type Only<One, Other> = Exclude<keyof One, keyof Other>;

/** How a request goes is for callers from afar, and a hook says who they are. */
type HowItGoes = "signal" | "onReconnect" | "actor";

type NamesIn<Argument> = Argument extends object ? Exclude<keyof Argument, HowItGoes> : never;

type OptionNames<Method> = Method extends (...args: infer Args) => unknown ? NamesIn<Args[number]> : never;

/** Options that only the first of them takes: "history.cursor". */
type OnlyOptions<One, Other> = {
  [Name in keyof One &
    keyof Other &
    string]: `${Name}.${Exclude<OptionNames<One[Name]>, OptionNames<Other[Name]>> & string}`;
}[keyof One & keyof Other & string];

/** What JSON makes of it. */
type Sent<Value> = unknown extends Value
  ? unknown
  : Value extends Date
    ? string
    : Value extends object
      ? { readonly [Name in keyof Value]: Sent<Value[Name]> }
      : Value;

type Answer<Method> = Method extends (...args: never) => infer Given ? Sent<Awaited<Given>> : never;

/** Methods whose answers from afar are not what JSON makes of those in the process. */
type OtherAnswers<One, Other> = {
  [Name in keyof One & keyof Other & string]: [Answer<One[Name]>] extends [Answer<Other[Name]>]
    ? never
    : Name;
}[keyof One & keyof Other & string];

type Here = InstanceHandle<string>;
type Afar = InstanceClient<string>;

/** Watching goes over a stream; in the process hooks tell of ends, and whoever wants more looks. */
const streams = "a stream of the server";
/** Over HTTP every instance is { id, details, meta }; in the process these are one object. */
const nested = "the wire has it as { id, details, meta }";
/** Over HTTP a list is named after what it holds; in the process it is `items`. */
const listed = "the wire names lists after what they hold";
/** What handles give is a handle, and what clients give is a client. */
const handles = "gives a handle here, a client there";
/** Here the type says which status has an output and which an error. */
const byStatus = "a union by status here, one shape from afar";
const process = "belongs to the process that runs the app";

const instance: {
  readonly onlyHere: Reasons<Only<Here, Afar>>;
  readonly onlyAfar: Reasons<Only<Afar, Here>>;
  readonly optionsHere: Reasons<OnlyOptions<Here, Afar>>;
  readonly optionsAfar: Reasons<OnlyOptions<Afar, Here>>;
  readonly answers: Reasons<OtherAnswers<Here, Afar>>;
} = {
  onlyHere: { snapshot: "details with all steps in one look; from afar `watch` gives it" },
  onlyAfar: { watch: streams, followLogs: streams },
  optionsHere: {
    "exportHistory.maxBytes": "the server's own limit holds for callers from afar",
    "exportHistory.logs": "a document for elsewhere has them",
    "exportHistory.redact": "a function cannot be sent",
    "logs.after": "for streams, which go on behind the last line they sent",
    "runs.brief": "over HTTP always brief",
    "sendEvent.tx": "a transaction of the caller's own is in its process",
  },
  optionsAfar: {
    "fork.idempotencyKey": "the tries of one call share it; in the process newId is enough",
  },
  answers: {
    details: nested,
    fork: handles,
    logs: listed,
    result: byStatus,
    runs: nested,
    sendEvent: "over HTTP the status comes with the answer, at no further request",
    status: byStatus,
  },
};

const workflow: {
  readonly onlyHere: Reasons<Only<WorkflowHandle, WorkflowClient>>;
  readonly onlyAfar: Reasons<Only<WorkflowClient, WorkflowHandle>>;
  readonly optionsHere: Reasons<OnlyOptions<WorkflowHandle, WorkflowClient>>;
  readonly optionsAfar: Reasons<OnlyOptions<WorkflowClient, WorkflowHandle>>;
  readonly answers: Reasons<OtherAnswers<WorkflowHandle, WorkflowClient>>;
} = {
  onlyHere: { at: "the client's get asks nothing either" },
  onlyAfar: { details: "in the process the app's manifest has it", watch: streams },
  optionsHere: {
    "create.parent": "a host's own statement, which a caller from afar could make up",
    "create.tx": "a transaction of the caller's own is in its process",
    "createBatch.tx": "a transaction of the caller's own is in its process",
    "restartOrCreate.id": "from afar it is the first argument",
    "restartOrCreate.ifExists": "means nothing there",
    "restartOrCreate.parent": "as for create",
  },
  optionsAfar: { "list.meta": "in the process everything is there anyway" },
  answers: {
    create: handles,
    createBatch: handles,
    get: "a request would be made only to throw its answer away",
    list: listed,
    restartOrCreate: handles,
  },
};

const app: {
  readonly onlyHere: Reasons<Only<App, Client>>;
  readonly onlyAfar: Reasons<Only<Client, App>>;
  readonly optionsHere: Reasons<OnlyOptions<App, Client>>;
  readonly optionsAfar: Reasons<OnlyOptions<Client, App>>;
  readonly answers: Reasons<OtherAnswers<App, Client>>;
} = {
  onlyHere: {
    check: "takes code",
    due: "from afar a part of overview",
    list: "`instances` from afar",
    manifest: "`workflows` from afar",
    migrate: process,
    observe: process,
    prune: process,
    start: process,
    stop: process,
    store: process,
    tick: "a route of its own for schedulers, not for people",
  },
  onlyAfar: {
    access: "what a caller may do is a question of the server's hooks",
    deadLetters: "`list({ deadLetter: true })` in the process",
    health: "of the server",
    instances: "`list` in the process",
    kill: "of `everstep dev`",
    openapi: "of the server",
    overview: "several answers at once, to save requests",
    watchInstances: streams,
  },
  optionsHere: {
    "topics.order": "by name, first to last, over HTTP",
    "verify.onProgress": "a function cannot be sent",
    "verify.overdue": "for tests of the audit",
    "verify.statuses": "for the doctor",
    "waiters.order": "oldest first over HTTP",
  },
  optionsAfar: {},
  answers: { topics: listed, waiters: listed, workflow: handles },
};

test.each(Object.entries({ instance, workflow, app }))(
  "what differs of the %s has a reason",
  (_name, differences) => {
    for (const reasons of Object.values(differences))
      for (const reason of Object.values(reasons)) expect(reason).not.toBe("");
  },
);

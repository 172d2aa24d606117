import type { CreateOptions } from "../../handles/options.ts";
import { EverstepError } from "../../model/error.ts";
import { logLevels } from "../../model/log-line.ts";
import type { CreateBody } from "../../wire/index.ts";
import * as schemas from "../../wire/index.ts";
import { anything } from "../../wire/schema.ts";
import { jsonOf } from "../json-view.ts";
import { flagField, textField, wholeField, wordField } from "../query.ts";
import { type Route, route } from "../route.ts";
import { streamInstance } from "../streams/instance.ts";
import { streamInstances } from "../streams/instances.ts";
import { streamLogs } from "../streams/logs.ts";
import type { ValueAnswerKind } from "../value-answers.ts";
import {
  briefField,
  briefly,
  instance,
  instanceCodes,
  instanceFor,
  instancesPage,
  instanceWithMeta,
  isTaken,
  listFields,
  order,
  pageEnd,
  pageFields,
  timeFrom,
  workflowOf,
} from "./shared.ts";
import { storedInstanceOf, storedWorkflowOf } from "./stored-workflow.ts";

const base = "/workflows/:workflowName/instances";
const one = `${base}/:instanceId`;
/** A hundred instances may bring more than one. */
const batchBytesMax = 16 * 1024 * 1024;

const createCodes = [
  "WORKFLOW_NOT_FOUND",
  "INVALID_INSTANCE_ID",
  "WORKFLOW_PARAMS_INVALID",
  "INVALID_DURATION",
  "PAYLOAD_TOO_LARGE",
] as const;

const runNumber = wholeField("Another run than the current one.");
const level = wordField(logLevels);

export const instanceRoutes: readonly Route[] = [
  route({
    action: "listInstances",
    method: "GET",
    path: base,
    hook: "read",
    values: unlessBrief,
    summary:
      "Instances of a workflow, newest first. As a stream: the page now, and again whenever it changed.",
    query: {
      ...listFields,
      include: wordField(["meta"])("meta: with everything else that is known of each."),
    },
    answer: { status: 200, schema: schemas.instances },
    codes: ["WORKFLOW_NOT_FOUND", "INVALID_CURSOR"],
    async run(call) {
      const { include, brief = true, ...options } = call.query;
      const page = await (await storedWorkflowOf(call)).list({ ...options, brief });
      if (include === "meta") return { body: instancesPage(page, brief) };
      const items = page.items.map((view) => instance(view.id, view));
      return { body: { instances: brief ? items.map(briefly) : items, ...pageEnd(page) } };
    },
    stream: streamInstances,
  }),
  route({
    action: "createInstance",
    method: "POST",
    path: base,
    hook: "instanceCreation",
    summary: "Creates an instance. Once this is answered it is durable and will run.",
    body: schemas.createBody,
    answer: { status: 201, schema: schemas.instance, also: [200] },
    codes: [...createCodes, "INSTANCE_ID_ALREADY_EXISTS"],
    async run(call) {
      const { ifExists, ...body } = call.body;
      try {
        const { id } = await workflowOf(call).create(creation(body));
        return { status: 201, body: instance(id, { status: "active" }), headers: locationOf(id) };
      } catch (problem) {
        if (ifExists !== "return" || body.id === undefined || !isTaken(problem)) throw problem;
        const { id } = body;
        const handle = workflowOf(call).at(id);
        const shown = await instanceFor(call, id, await handle.status());
        return { status: 200, body: shown, headers: locationOf(id) };
      }
    },
  }),
  route({
    action: "createBatch",
    method: "POST",
    path: `${base}/batch`,
    hook: "instanceCreation",
    summary: "Creates up to 100 instances at once; ids that exist are skipped and left out of the answer.",
    body: schemas.createBatchBody,
    maxBodyBytes: batchBytesMax,
    answer: { status: 200, schema: schemas.created },
    codes: [...createCodes, "BATCH_TOO_LARGE"],
    async run(call) {
      const handles = await workflowOf(call).createBatch(call.body.instances.map(creation));
      return { body: { instances: handles.map(({ id }) => instance(id, { status: "active" })) } };
    },
  }),
  route({
    action: "getInstance",
    method: "GET",
    path: one,
    hook: "read",
    values: () => "page",
    summary:
      "One instance with its current step. As a stream: with all its steps, now and whenever it changed.",
    answer: { status: 200, schema: schemas.instanceWithMeta },
    codes: instanceCodes,
    async run(call) {
      const { steps: _, ...details } = await (await storedInstanceOf(call)).snapshot({ brief: true });
      return { body: instanceWithMeta(details) };
    },
    stream: streamInstance,
  }),
  route({
    action: "history",
    method: "GET",
    path: `${one}/history`,
    hook: "read",
    values: () => "page",
    summary: "Steps and events of a run, and its logs if asked for.",
    query: {
      runNumber,
      pageSize: pageFields.pageSize,
      stepsCursor: textField("The stepsCursor of the page before."),
      eventsCursor: textField("The eventsCursor of the page before."),
      order: order("asc (as it happened) or desc."),
      includeLogs: flagField("With logs."),
      logsCursor: textField("The logsCursor of the page before."),
      logLevel: level("Logs of this level only."),
      logCategory: textField("Logs of this category only."),
    },
    answer: { status: 200, schema: schemas.history },
    codes: [...instanceCodes, "RUN_NOT_FOUND", "INVALID_CURSOR"],
    async run(call) {
      const page = await (await storedInstanceOf(call)).history(call.query);
      const events = page.events.map((event) => ({ ...event, payload: event.payload ?? null }));
      return { body: jsonOf(schemas.history, { ...page, events }) };
    },
  }),
  route({
    action: "getStep",
    method: "GET",
    path: `${one}/steps/:stepIndex`,
    hook: "read",
    values: () => "page",
    summary: "One step of a run with its result, by its index.",
    query: { runNumber },
    answer: { status: 200, schema: schemas.step },
    codes: [...instanceCodes, "RUN_NOT_FOUND", "STEP_NOT_FOUND"],
    async run(call) {
      const step = await (await storedInstanceOf(call)).step(stepIndexOf(call.path.stepIndex), call.query);
      return { body: jsonOf(schemas.step, step) };
    },
  }),
  route({
    action: "logs",
    method: "GET",
    path: `${one}/logs`,
    hook: "read",
    values: () => "page",
    summary: "Log lines of a run. As a stream: line by line, as they are written, to the end.",
    query: {
      ...pageFields,
      runNumber,
      order: order("asc (as they were written) or desc."),
      level: level("This level only."),
      category: textField("This category only."),
      after: textField("Lines after the one with this id; instead of a cursor."),
    },
    answer: { status: 200, schema: schemas.logs },
    codes: [...instanceCodes, "RUN_NOT_FOUND", "INVALID_CURSOR"],
    async run(call) {
      const page = await (await storedInstanceOf(call)).logs(call.query);
      return { body: jsonOf(schemas.logs, { logs: page.items, ...pageEnd(page) }) };
    },
    stream: streamLogs,
  }),
  route({
    action: "runs",
    method: "GET",
    path: `${one}/runs`,
    hook: "read",
    summary: "All runs of an instance, newest first, in brief; their values are in exports.",
    answer: { status: 200, schema: schemas.runs },
    codes: instanceCodes,
    async run(call) {
      const runs = await (await storedInstanceOf(call)).runs({ brief: true });
      return { body: { runs: runs.map(instanceWithMeta).map(briefly) } };
    },
  }),
  route({
    action: "why",
    method: "GET",
    path: `${one}/why`,
    hook: "read",
    summary: "Why it is not moving, in one sentence.",
    answer: { status: 200, schema: schemas.why },
    codes: instanceCodes,
    run: async (call) => ({ body: jsonOf(schemas.why, await (await storedInstanceOf(call)).why()) }),
  }),
  route({
    action: "export",
    method: "GET",
    path: `${one}/export`,
    hook: "read",
    values: () => "run",
    summary: "A run as one document that can be replayed elsewhere.",
    query: { runNumber },
    answer: { status: 200, schema: anything },
    codes: [...instanceCodes, "RUN_NOT_FOUND"],
    isLong: true,
    run: async (call) => ({ body: await (await storedInstanceOf(call)).exportHistory(call.query) }),
  }),
  route({
    action: "listAllInstances",
    method: "GET",
    path: "/instances",
    hook: "read",
    values: unlessBrief,
    summary:
      "Instances of all workflows, newest first. As a stream: the page now, and again whenever it changed.",
    query: listFields,
    answer: { status: 200, schema: schemas.instancesWithMeta },
    codes: ["INVALID_CURSOR"],
    run: async ({ app, query: { brief = true, ...options } }) => ({
      body: instancesPage(await app.list({ ...options, brief }), brief),
    }),
    stream: streamInstances,
  }),
  route({
    action: "deadLetters",
    method: "GET",
    path: "/dead-letters",
    hook: "read",
    values: unlessBrief,
    summary: "Instances the engine gave up on; retry-failed-step gives one another chance.",
    query: { ...pageFields, workflowName: textField("Only of this workflow."), brief: briefField },
    answer: { status: 200, schema: schemas.instancesWithMeta },
    codes: ["WORKFLOW_NOT_FOUND", "INVALID_CURSOR"],
    async run({ app, parts, path, query: { workflowName, brief = true, ...query } }) {
      const list = { ...query, brief, deadLetter: true };
      const page =
        workflowName === undefined
          ? await app.list(list)
          : await (await storedWorkflowOf({ app, parts, path: { ...path, workflowName } })).list(list);
      return { body: instancesPage(page, brief) };
    },
  }),
];

/** Only lists that are asked for with values carry some. */
function unlessBrief({ brief }: { readonly brief?: boolean }): ValueAnswerKind | null {
  return brief === false ? "page" : null;
}

function stepIndexOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new EverstepError("INVALID_ARGUMENT", "The index of a step is a whole number from 0 on.");
}

/** Beside the list it was created in. */
function locationOf(id: string): { readonly location: string } {
  return { location: `instances/${encodeURIComponent(id)}` };
}

function creation(body: CreateBody): CreateOptions {
  const { startAt, deadline, ...others } = body;
  return {
    ...others,
    ...(startAt === undefined ? {} : { startAt: timeFrom(startAt) as number }),
    ...(deadline === undefined ? {} : { deadline: timeFrom(deadline) as number }),
  } as CreateOptions;
}

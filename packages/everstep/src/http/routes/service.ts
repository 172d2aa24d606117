/** About the service itself: is it well, is its store sound, take a turn. */
import { EverstepError } from "../../model/error.ts";
import * as schemas from "../../wire/index.ts";
import { anything } from "../../wire/schema.ts";
import { healthOf } from "../health.ts";
import { openApi } from "../openapi.ts";
import { flagField, shareField, textField, wholeField } from "../query.ts";
import { type Route, route } from "../route.ts";
import { done } from "./shared.ts";
import { storedWorkflowOf } from "./stored-workflow.ts";

export const serviceRoutes: readonly Route[] = [
  route({
    action: "tick",
    method: "POST",
    path: "/_runner/tick",
    hook: "runnerTick",
    summary: "One sweep of the runner, for hosts without a loop. Off unless switched on.",
    body: schemas.tickBody,
    answer: { status: 200, schema: schemas.processed },
    codes: ["RUNNER_TICK_DISABLED", "RUNNER_NOT_AVAILABLE"],
    isLong: true,
    run: async ({ app, body }) => ({ body: await app.tick(body) }),
  }),
  route({
    action: "kill",
    method: "POST",
    path: "/_dev/kill",
    hook: "management",
    summary: "Kills the process with SIGKILL, to see that nothing is lost. Only under `everstep dev`.",
    body: schemas.nothing,
    answer: { status: 200, schema: schemas.ok },
    codes: ["ROUTE_NOT_FOUND"],
    isForDev: true,
    async run({ host }) {
      host.kill?.();
      return done;
    },
  }),
  route({
    action: "verify",
    method: "GET",
    path: "/verify",
    hook: "read",
    summary: "Audits the store: what is recorded against what is promised. Reads only.",
    query: {
      workflowName: textField("Instances of this workflow only."),
      limit: wholeField("Instances to go through at most; default 1,000, at most 10,000."),
      after: textField("The `after` of the report before."),
      sample: shareField("Which part of them is looked at, drawn at random."),
      history: flagField("Older runs of restarted instances too."),
      doubts: flagField("Also what is only a violation unless something explains it."),
    },
    answer: { status: 200, schema: schemas.verifyReport },
    codes: ["INVALID_CURSOR", "WORKFLOW_NOT_FOUND"],
    isLong: true,
    values: () => "run",
    async run({ app, parts, path, query: { limit = 1000, ...options } }) {
      const { workflowName } = options;
      // An audit of a misspelt name would find nothing wrong.
      if (workflowName !== undefined) await storedWorkflowOf({ app, parts, path: { ...path, workflowName } });
      return { body: await app.verify({ ...options, limit: checkedLimit(limit) }) };
    },
  }),
  route({
    action: "openapi",
    method: "GET",
    path: "/openapi.json",
    hook: "read",
    summary: "This document.",
    answer: { status: 200, schema: anything },
    codes: [],
    run: async () => ({ body: openApi() }),
  }),
  route({
    action: "health",
    method: "GET",
    path: "/healthz",
    hook: "read",
    summary: "The store, its settings and the runner, in detail.",
    answer: { status: 200, schema: schemas.health, also: [503] },
    codes: [],
    async run({ app, parts }) {
      const health = await healthOf(app, parts);
      return { status: health.ok ? 200 : 503, body: health };
    },
  }),
  route({
    action: "live",
    method: "GET",
    path: "/livez",
    hook: null,
    ignoresQuery: true,
    summary: "The process answers.",
    answer: { status: 200, schema: schemas.isWell },
    codes: [],
    run: async () => ({ body: { ok: true } }),
  }),
  route({
    action: "ready",
    method: "GET",
    path: "/readyz",
    hook: null,
    ignoresQuery: true,
    summary: "The store answers and its schema fits. Found out once a second at most.",
    answer: { status: 200, schema: schemas.isWell, also: [503] },
    codes: [],
    async run({ host }) {
      const ok = await host.isReady();
      return { status: ok ? 200 : 503, body: { ok } };
    },
  }),
];

function checkedLimit(limit: number): number {
  if (limit <= 10_000) return limit;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `limit is ${limit}; a request goes through at most 10,000 instances.`,
  );
}

/** What people look at first: how it all is, who runs, how much gets done, what they may do. */

import * as schemas from "../../wire/index.ts";
import { jsonOf } from "../json-view.ts";
import { textField, wholeUpTo } from "../query.ts";
import { type Route, route } from "../route.ts";
import { workflowOf } from "./shared.ts";

/** A week. */
const minutesMax = 10_080;

export const overviewRoutes: readonly Route[] = [
  route({
    action: "overview",
    method: "GET",
    path: "/overview",
    hook: "read",
    summary: "How it all is, at a glance. Kept for ten times as long as it took to find out.",
    answer: { status: 200, schema: schemas.overview },
    codes: [],
    run: async ({ host }) => ({ body: await host.overview() }),
  }),
  route({
    action: "runners",
    method: "GET",
    path: "/runners",
    hook: "read",
    summary: "The processes that run instances, those seen last first.",
    answer: { status: 200, schema: schemas.runners },
    codes: [],
    run: async ({ app }) => ({ body: jsonOf(schemas.runners, { runners: await app.runners() }) }),
  }),
  route({
    action: "activity",
    method: "GET",
    path: "/activity",
    hook: "read",
    summary: "How much was done in the last minutes, by time: of one workflow, or of all.",
    query: {
      minutes: wholeUpTo(minutesMax)("How far back; default 60, at most 10,080 (a week)."),
      workflowName: textField("Only of this workflow."),
    },
    answer: { status: 200, schema: schemas.activity },
    codes: ["WORKFLOW_NOT_FOUND"],
    async run({ app, path, query }) {
      const { workflowName } = query;
      if (workflowName !== undefined) workflowOf({ app, path: { ...path, workflowName } });
      return { body: jsonOf(schemas.activity, await app.activity(query)) };
    },
  }),
  route({
    action: "access",
    method: "GET",
    path: "/access",
    hook: "read",
    summary: "What whoever asks may do beside reading, so that nobody is offered what is refused.",
    query: { workflowName: textField("With instances of this workflow.") },
    answer: { status: 200, schema: schemas.access },
    codes: ["WORKFLOW_NOT_FOUND"],
    async run({ app, parts, path, query, host }) {
      const { workflowName } = query;
      if (workflowName !== undefined) workflowOf({ app, path: { ...path, workflowName } });
      const [instanceCreation, management, sendEvent] = await Promise.all([
        host.may("instanceCreation", query),
        host.may("management", query),
        host.may("sendEvent", query),
      ]);
      const now = new Date(parts.runtime.now()).toISOString();
      return { body: { instanceCreation, management, sendEvent, now } };
    },
  }),
];

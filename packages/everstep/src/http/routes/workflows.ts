import type { WorkflowManifest } from "../../wire/index.ts";
import * as schemas from "../../wire/index.ts";
import { jsonView } from "../json-view.ts";
import { paramsSchemaOf } from "../params-schema.ts";
import { textField } from "../query.ts";
import { type Route, route } from "../route.ts";
import { workflowOf } from "./shared.ts";

export const workflowRoutes: readonly Route[] = [
  route({
    action: "listWorkflows",
    method: "GET",
    path: "/workflows",
    hook: "read",
    summary: "The workflows of this app.",
    answer: { status: 200, schema: schemas.workflows },
    codes: [],
    run: async ({ app }) => ({ body: { workflows: (await app.manifest()).map(({ name }) => ({ name })) } }),
  }),
  route({
    action: "getWorkflow",
    method: "GET",
    path: "/workflows/:workflowName",
    hook: "read",
    summary: "One workflow: what it checks, its limits, its instances by status.",
    answer: { status: 200, schema: schemas.workflow },
    codes: ["WORKFLOW_NOT_FOUND"],
    async run(call) {
      const { name } = workflowOf(call);
      const manifest = (await call.app.manifest()).find((each) => each.name === name) as WorkflowManifest;
      const paramsSchema = paramsSchemaOf(call.parts.definitions.get(name)?.options.params);
      const limits = Object.entries(manifest.limits).map(([key, limit]) => [
        key,
        Number.isFinite(limit) ? limit : null,
      ]);
      return {
        body: {
          ...manifest,
          ...(paramsSchema === undefined ? {} : { paramsSchema: jsonView(paramsSchema) }),
          limits: Object.fromEntries(limits),
          counts: await call.app.counts(name),
        },
      };
    },
  }),
  route({
    action: "counts",
    method: "GET",
    path: "/counts",
    hook: "read",
    summary: "Instances by status: of one workflow, or of all.",
    query: { workflowName: textField("Only of this workflow.") },
    answer: { status: 200, schema: schemas.countsAnswer },
    codes: ["WORKFLOW_NOT_FOUND"],
    async run({ app, path, query: { workflowName } }) {
      if (workflowName !== undefined) workflowOf({ app, path: { ...path, workflowName } });
      return { body: { counts: await app.counts(workflowName) } };
    },
  }),
];

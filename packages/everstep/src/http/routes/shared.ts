/** What several routes need: finding what a path names, and showing it. */
import type { InstanceHandle } from "../../handles/instance-handle.ts";
import type { InstanceStatusView, InstanceView } from "../../handles/views.ts";
import type { WorkflowHandle } from "../../handles/workflow-handle.ts";
import { EverstepError } from "../../model/error.ts";
import {
  type MetaView,
  meta,
  type WireInstance,
  type WireInstancesWithMeta,
  type WireInstanceWithMeta,
  type WireListedInstance,
  type WireOk,
} from "../../wire/index.ts";
import type { PageEnd, PageView } from "../../wire/page.ts";
import { jsonOf, jsonView } from "../json-view.ts";
import { flagField, textField, timeField, wholeField, wordField, wordsField } from "../query.ts";
import type { Answer, Call } from "../route.ts";

export const pageFields = {
  pageSize: wholeField("How many at most; default 25, at most 100."),
  cursor: textField("The cursor of the page before."),
} as const;

export const order = wordField(["asc", "desc"]);

/** Lists are brief unless asked otherwise: a page of the largest values would be 200 MB. */
export const briefField = flagField(
  "Default true. false: with params and output. Pages then end early once they have 4 MiB, and go on behind their cursor.",
);

export const listFields = {
  ...pageFields,
  status: wordsField("One status or several; words of other engines (running, failed, ...) are understood."),
  order: order("By creation: desc (newest first) or asc."),
  deadLetter: flagField("Only those the engine gave up on, or only others."),
  createdFrom: timeField("Created at this time or later: ISO text or epoch milliseconds."),
  createdBefore: timeField("Created before this time."),
  idPrefix: textField("Only ids that begin with this, in exact case. Pages may then be short, or empty."),
  brief: briefField,
} as const;

export const instanceCodes = ["WORKFLOW_NOT_FOUND", "INSTANCE_NOT_FOUND", "INVALID_INSTANCE_ID"] as const;

/** That it was done is all there is to say. */
export const done: Answer<WireOk> = { body: { ok: true } };

export function workflowOf({ app, path: { workflowName } }: Pick<Call, "app" | "path">): WorkflowHandle {
  const found = Object.values(app.workflows as Record<string, WorkflowHandle>).find(
    ({ name }) => name === workflowName,
  );
  if (found) return found;
  throw new EverstepError(
    "WORKFLOW_NOT_FOUND",
    `There is no workflow ${JSON.stringify(workflowName.slice(0, 64))} here. Check the name, and whether this server has the code of it.`,
  );
}

export function instanceOf(call: Pick<Call, "app" | "path">): InstanceHandle {
  return workflowOf(call).at(call.path.instanceId);
}

export function instance(id: string, details: InstanceStatusView): WireInstance {
  const { status, output, error } = details;
  return {
    id,
    details: {
      status,
      ...(status === "complete" ? { output: jsonView(output) } : {}),
      ...(error ? { error } : {}),
    },
  };
}

/** The same, with what it ended with only for those who may see it. */
export async function instanceFor(
  { host }: Pick<Call, "host">,
  id: string,
  details: InstanceStatusView,
): Promise<WireInstance> {
  const { status } = details;
  const endedWith = status === "complete" || status === "errored";
  return endedWith && !(await host.maySee(id)) ? { id, details: { status } } : instance(id, details);
}

/** Without what may be much. */
export function briefly<Shown extends WireListedInstance>(shown: Shown): Shown {
  const { output: _, ...details } = shown.details;
  if (!shown.meta) return { ...shown, details };
  const { params: __, ...meta } = shown.meta;
  return { ...shown, details, meta };
}

export function instanceWithMeta(
  view: InstanceView & Pick<MetaView, "currentStep" | "running">,
): WireInstanceWithMeta {
  const { id, instanceId, status, output, error, running = [], ...facts } = view;
  const shown = { ...facts, ...(running.length > 0 ? { running } : {}) };
  return { ...instance(id, view), meta: jsonOf(meta, shown) };
}

/** A page of instances of all workflows, or of one with `meta`. */
export function instancesPage(page: PageView<InstanceView>, brief: boolean): WireInstancesWithMeta {
  const items = page.items.map(instanceWithMeta);
  return { instances: brief ? items.map(briefly) : items, ...pageEnd(page) };
}

/** What a list's page says after its items. */
export function pageEnd({ cursor, hasNextPage }: PageEnd): PageEnd {
  return cursor === undefined ? { hasNextPage } : { cursor, hasNextPage };
}

/** There is an instance with that id already. */
export function isTaken(problem: unknown): boolean {
  return problem instanceof EverstepError && problem.code === "INSTANCE_ID_ALREADY_EXISTS";
}

/** ISO text or epoch milliseconds, as the body has it. */
export function timeFrom(value: string | number | undefined): number | undefined {
  return typeof value === "string" ? Date.parse(value) : value;
}

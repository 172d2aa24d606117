import type { InstanceHandle } from "../../handles/instance-handle.ts";
import * as schemas from "../../wire/index.ts";
import type { Schema } from "../../wire/schema.ts";
import { flagField, timeField } from "../query.ts";
import { type Call, type Route, route } from "../route.ts";
import {
  done,
  instance,
  instanceCodes,
  instanceFor,
  instanceOf,
  isTaken,
  timeFrom,
  workflowOf,
} from "./shared.ts";
import { storedInstanceOf } from "./stored-workflow.ts";

const one = "/workflows/:workflowName/instances/:instanceId";

type How = Pick<Call, "idempotencyKey" | "actor">;

/** An action on one instance that is answered with no more than that it was done. */
function verb<Body>(
  name: string,
  terms: {
    readonly action?: string;
    readonly summary: string;
    readonly body: Schema<Body, unknown>;
    readonly codes?: readonly string[];
    /** Also of instances whose workflow is no longer in the code. */
    readonly withoutCode?: true;
  },
  act: (handle: InstanceHandle, body: Body, how: How) => Promise<void>,
): Route {
  const { action = name, summary, body, codes = [], withoutCode } = terms;
  return route({
    action,
    method: "POST",
    path: `${one}/${name}`,
    hook: "management",
    summary,
    body,
    answer: { status: 200, schema: schemas.ok },
    codes: [...instanceCodes, ...codes],
    async run(call: Call<unknown, Body>) {
      const handle = await (withoutCode ? storedInstanceOf(call) : instanceOf(call));
      await act(handle, call.body, howOf(call));
      return done;
    },
  });
}

export const managementRoutes: readonly Route[] = [
  verb(
    "pause",
    {
      summary: "Stops it after the step in flight. Timers keep counting, events are kept.",
      body: schemas.nothing,
      codes: ["INSTANCE_TERMINAL"],
      withoutCode: true,
    },
    (handle, _, how) => handle.pause(how),
  ),
  verb("resume", { summary: "Continues a paused instance.", body: schemas.nothing }, (handle, _, how) =>
    handle.resume(how),
  ),
  verb(
    "terminate",
    {
      summary: "Ends it for good.",
      body: schemas.terminateBody,
      codes: ["INSTANCE_TERMINAL"],
      withoutCode: true,
    },
    (handle, body, how) => handle.terminate({ ...body, ...how }),
  ),
  verb(
    "restart",
    {
      summary: "Runs it again, from the beginning or from a step, as its next run.",
      body: schemas.restartBody,
      codes: ["STEP_NOT_FOUND"],
    },
    (handle, body, how) => handle.restart({ ...body, ...how }),
  ),
  verb(
    "rewind",
    {
      summary: "Runs it again from a step; what was recorded before that is kept.",
      body: schemas.rewindBody,
      codes: ["STEP_NOT_FOUND"],
    },
    (handle, body, how) => handle.restart({ from: body.step, ...how }),
  ),
  verb(
    "retry-failed-step",
    {
      action: "retryFailedStep",
      summary: "Gives the step that failed an errored instance one more attempt.",
      body: schemas.retryBody,
      codes: ["INSTANCE_NOT_ERRORED", "FAILED_STEP_NOT_RETRYABLE", "INVALID_DURATION"],
    },
    (handle, body, how) => handle.retryFailedStep({ ...body, ...how }),
  ),
  verb(
    "skip-sleep",
    { action: "skipSleep", summary: "Ends the sleep it is in now.", body: schemas.nothing },
    (handle, _, how) => handle.skipSleep(how),
  ),
  route({
    action: "delete",
    method: "DELETE",
    path: one,
    hook: "management",
    summary: "Removes it with everything recorded of it. Its id may be created again at once.",
    body: schemas.nothing,
    query: {
      force: flagField("Also one that has not ended: it is ended and removed at once."),
      createdAt: timeField(
        "Only the instance that was created at this time, not a later one of the same id.",
      ),
    },
    answer: { status: 200, schema: schemas.ok },
    codes: [...instanceCodes, "INSTANCE_NOT_TERMINAL"],
    async run(call) {
      const { force, createdAt } = call.query;
      const handle = await storedInstanceOf(call);
      await handle.delete({
        force,
        ...(createdAt === undefined ? {} : { createdAt: new Date(createdAt) }),
      });
      return done;
    },
  }),
  route({
    action: "fork",
    method: "POST",
    path: `${one}/fork`,
    hook: "management",
    creates: ({ body: { newId } }) => [newId === undefined ? {} : { id: newId }],
    summary: "A new instance that begins with what this one recorded before a step.",
    body: schemas.forkBody,
    answer: { status: 201, schema: schemas.instance },
    codes: [...instanceCodes, "STEP_NOT_FOUND", "INSTANCE_ID_ALREADY_EXISTS"],
    async run(call) {
      const { from, newId = await idFromKey(call) } = call.body;
      const forked = await instanceOf(call)
        .fork({ from, newId })
        .catch((problem: unknown) => {
          if (call.body.newId === undefined && isTaken(problem)) return { id: newId as string };
          throw problem;
        });
      return { status: 201, body: instance(forked.id, { status: "active" }) };
    },
  }),
  route({
    action: "restartOrCreate",
    creates: ({ path, body }) => [{ id: path.instanceId, params: body.params }],
    method: "POST",
    path: `${one}/restart-or-create`,
    hook: "management",
    summary:
      "Restarts it if it exists and fits the condition, creates it if there is none, else leaves it alone.",
    body: schemas.restartOrCreateBody,
    answer: { status: 200, schema: schemas.restartedOrCreated },
    codes: [
      "WORKFLOW_NOT_FOUND",
      "INVALID_INSTANCE_ID",
      "WORKFLOW_PARAMS_INVALID",
      "INVALID_DURATION",
      "PAYLOAD_TOO_LARGE",
    ],
    async run(call) {
      const { startAt, deadline, ...others } = call.body;
      const options = {
        ...others,
        id: call.path.instanceId,
        ...howOf(call),
        ...(startAt === undefined ? {} : { startAt: timeFrom(startAt) }),
        ...(deadline === undefined ? {} : { deadline: timeFrom(deadline) }),
      };
      const workflow = workflowOf(call);
      const { outcome, instance: handle } = await workflow.restartOrCreate(
        options as Parameters<typeof workflow.restartOrCreate>[0],
      );
      return { body: { outcome, ...(await instanceFor(call, handle.id, await handle.status())) } };
    },
  }),
];

/** Once, and by whom. */
function howOf({ idempotencyKey, actor }: Call): How {
  return { idempotencyKey, actor };
}

/** The same key makes the same id, so that a repeat finds what the first call made. */
async function idFromKey({ path, idempotencyKey }: Call): Promise<string | undefined> {
  if (idempotencyKey === undefined) return;
  const text = JSON.stringify([path.workflowName, path.instanceId, idempotencyKey]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest, 0, 16), (byte) => byte.toString(16).padStart(2, "0"));
  return `fork-${hex.join("")}`;
}

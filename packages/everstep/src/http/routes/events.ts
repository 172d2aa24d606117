import { EverstepError } from "../../model/error.ts";
import * as schemas from "../../wire/index.ts";
import { jsonOf } from "../json-view.ts";
import { type Call, type Route, route } from "../route.ts";
import { instanceCodes, instanceFor, instanceOf, pageEnd, pageFields } from "./shared.ts";

export const eventRoutes: readonly Route[] = [
  route({
    action: "sendEvent",
    method: "POST",
    path: "/workflows/:workflowName/instances/:instanceId/events",
    hook: "sendEvent",
    summary: "Sends an event to an instance. It is kept until the workflow asks for its type.",
    body: schemas.sendEventBody,
    answer: { status: 200, schema: schemas.sent },
    codes: [
      ...instanceCodes,
      "INVALID_EVENT_TYPE",
      "UNKNOWN_EVENT_TYPE",
      "EVENT_PAYLOAD_INVALID",
      "INSTANCE_TERMINAL",
      "IDEMPOTENCY_KEY_CONFLICT",
      "EVENT_BUFFER_FULL",
      "PAYLOAD_TOO_LARGE",
    ],
    async run(call) {
      const handle = instanceOf(call);
      await handle.sendEvent({ ...call.body, idempotencyKey: keyOf(call) });
      return { body: { status: (await instanceFor(call, handle.id, await handle.status())).details } };
    },
  }),
  route({
    action: "publish",
    method: "POST",
    path: "/topics/:topic",
    hook: "sendEvent",
    summary: "One event for every instance that waits on the topic now.",
    body: schemas.publishBody,
    answer: { status: 200, schema: schemas.published },
    codes: ["INVALID_TOPIC", "PAYLOAD_TOO_LARGE"],
    run: async (call) => ({
      body: await call.app.publish(call.path.topic, call.body.payload, { idempotencyKey: keyOf(call) }),
    }),
  }),
  route({
    action: "listTopics",
    method: "GET",
    path: "/topics",
    hook: "read",
    summary: "Topics that instances wait on now, by name.",
    query: pageFields,
    answer: { status: 200, schema: schemas.topics },
    codes: ["INVALID_CURSOR"],
    async run({ app, query }) {
      const page = await app.topics(query);
      return { body: { topics: page.items, ...pageEnd(page) } };
    },
  }),
  route({
    action: "waiters",
    method: "GET",
    path: "/topics/:topic/waiters",
    hook: "read",
    summary: "Who waits on a topic.",
    query: pageFields,
    answer: { status: 200, schema: schemas.waiters },
    codes: ["INVALID_TOPIC", "INVALID_CURSOR"],
    async run({ app, path, query }) {
      const page = await app.waiters(path.topic, query);
      return { body: jsonOf(schemas.waiters, { waiters: page.items, ...pageEnd(page) }) };
    },
  }),
];

/** From the body or the header; the body may hold keys that no header can. */
function keyOf({ body, idempotencyKey }: Call<unknown, SentKey>): string | undefined {
  const inBody = body.idempotencyKey;
  if (inBody === undefined || idempotencyKey === undefined || inBody === idempotencyKey) {
    return inBody ?? idempotencyKey;
  }
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "The request has two idempotency keys: idempotencyKey in the body differs from the header. Send one of them.",
  );
}

type SentKey = Pick<schemas.SendEventBody, "idempotencyKey">;

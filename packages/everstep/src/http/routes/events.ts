import * as schemas from "../../wire/index.ts";
import { jsonOf } from "../json-view.ts";
import { type Route, route } from "../route.ts";
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
      "INSTANCE_TERMINAL",
      "EVENT_ID_CONFLICT",
      "EVENT_BUFFER_FULL",
      "PAYLOAD_TOO_LARGE",
    ],
    async run(call) {
      const handle = instanceOf(call);
      await handle.sendEvent(call.body);
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
    run: async ({ app, path, body: { payload, id } }) => ({
      body: await app.publish(path.topic, payload, { id }),
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

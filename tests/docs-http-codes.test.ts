/** The codes that http.md shows are answered to the commands beside them. */
import { readFileSync } from "node:fs";
import {
  allowAll,
  bearerToken,
  createHandler,
  createWorkflows,
  defineWorkflow,
  type StandardSchema,
} from "everstep";
import { memory } from "everstep/memory";
import { serve } from "everstep/node";
import { createTestHarness, type TestHarness } from "everstep/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { order } from "../examples/http/shop.ts";
import { readCurl } from "./support/curl.ts";

const page = readFileSync("docs/http.md", "utf8");
const section = page.slice(page.indexOf("## Codes by example"), page.indexOf("## Limits"));
const rows = [...section.matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| `(curl .+)` \|$/gm)].map(
  ([, code = "", status, command = ""]) => ({ code, status: Number(status), command }),
);

const tokens = { all: "a-token-for-the-documentation", reader: "a-token-that-may-only-look" };

const weighed: StandardSchema<{ readonly weight: number }> = {
  "~standard": {
    version: 1,
    vendor: "shop",
    validate: (value) =>
      typeof (value as { weight?: unknown } | null)?.weight === "number"
        ? { value: value as { readonly weight: number } }
        : { issues: [{ message: "weight is missing", path: ["weight"] }] },
  },
};
const parcel = defineWorkflow({ name: "parcel", params: weighed, events: { arrived: weighed } }, async () => {
  throw new Error("It fell off the cart.");
});

let harness: TestHarness<{ ORDER: typeof order; PARCEL: typeof parcel }>;
const servers = new Map<string, Awaited<ReturnType<typeof serve>>>();

beforeAll(async () => {
  const limits = { maxBatchSize: 1, maxBufferedEvents: 1, maxEventBytes: 40 };
  harness = createTestHarness({ workflows: { ORDER: order, PARCEL: parcel }, limits });
  const { ORDER, PARCEL } = harness.app.workflows;
  for (const id of ["o-1", "o-2", "over"]) await ORDER.create({ id, params: { userId: 7 } });
  await PARCEL.create({ id: "lost", params: { weight: 2 } });
  await harness.runUntilIdle();
  await ORDER.at("over").terminate();
  await ORDER.at("o-1").sendEvent({ type: "noted", idempotencyKey: "e-1" });
  await ORDER.at("o-2").sendEvent({ type: "noted", idempotencyKey: "e-2" });
  await ORDER.at("o-2").restart();
  await harness.runUntilIdle();

  const authorize = bearerToken({ tokens: tokens.all, readOnlyTokens: tokens.reader });
  const countByStatus = async (): Promise<never> => {
    throw new Error("A row is not as it was written.");
  };
  const broken = Object.assign(memory(), { countByStatus });
  const appOn = (store: ReturnType<typeof memory>) =>
    createWorkflows({ workflows: { ORDER: order }, store, authorize: allowAll(), onProblem: () => {} });
  const stopped = appOn(memory());
  await stopped.stop();
  const handlers = {
    api: createHandler(harness.app, { authorize }),
    closed: createHandler(harness.app),
    named: createHandler(harness.app, { authorize, hosts: ["shop.example"] }),
    small: createHandler(harness.app, { authorize, maxBodyBytes: 8, maxStreams: 0 }),
    sick: appOn(broken).fetch,
    stopped: stopped.fetch,
  };
  for (const [name, handler] of Object.entries(handlers))
    servers.set(name, await serve(handler, { port: 0 }));
});

afterAll(async () => {
  for (const server of servers.values()) await server.close();
  await harness.stop();
});

test("there are rows, one for each code", () => {
  expect(rows.length).toBeGreaterThan(30);
  expect(new Set(rows.map(({ code }) => code)).size).toBe(rows.length);
});

test.each(rows)("$code", async ({ code, status, command }) => {
  const variables = {
    ...Object.fromEntries([...servers].map(([name, { url }]) => [name, url.slice(0, -1)])),
    auth: `authorization: Bearer ${tokens.all}`,
    reader: `authorization: Bearer ${tokens.reader}`,
  };
  const [{ url, method, headers, body }] = readCurl(command, variables) as [ReturnType<typeof readCurl>[0]];
  const answer = await fetch(url, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...(body === undefined ? {} : { body }),
  });
  expect(await answer.json()).toMatchObject({ error: { code } });
  expect(answer.status).toBe(status);
});

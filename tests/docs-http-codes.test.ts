/** The codes that http.md shows are answered to the commands beside them. */
import { readFileSync } from "node:fs";
import { bearerToken, createHandler } from "everstep";
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
let harness: TestHarness<{ ORDER: typeof order }>;
let server: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  harness = createTestHarness({ workflows: { ORDER: order } });
  const authorize = bearerToken({ tokens: tokens.all, readOnlyTokens: tokens.reader });
  server = await serve(createHandler(harness.app, { authorize }), { port: 0 });
  const { ORDER } = harness.app.workflows;
  for (const id of ["o-1", "o-2", "over"]) await ORDER.create({ id, params: { userId: 7 } });
  await harness.runUntilIdle();
  await ORDER.at("over").terminate();
  await ORDER.at("o-1").sendEvent({ type: "noted", id: "e-1" });
});

afterAll(async () => {
  await server.close();
  await harness.stop();
});

test("there are rows, one for each code", () => {
  expect(rows.length).toBeGreaterThan(20);
  expect(new Set(rows.map(({ code }) => code)).size).toBe(rows.length);
});

test.each(rows)("$code", async ({ code, status, command }) => {
  const variables = {
    api: server.url.slice(0, -1),
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

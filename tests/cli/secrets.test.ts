/** What proves who calls is sent, and never shown. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../support/scripted-server.ts";
import { emptyFolder, everstep } from "./support/everstep.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await ScriptedServer.open("/api/workflows");
});
afterEach(() => server.close());

const none = { json: { workflows: [] } };
const canary = "canary-7f3a9c51e2";

const secret = {
  status: 401,
  json: { error: { code: "UNAUTHORIZED", message: `Not ${canary}!`, docs: "" } },
};

test("SEC-15: a token from the environment is sent and never shown, whatever the server says", async () => {
  server.script(secret);
  const ran = await everstep(["workflows", "list", "--url", server.url], {
    env: { EVERSTEP_TOKEN: canary },
  });
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${canary}`);
  expect(ran.code).toBe(70);
  expect(ran.err).toContain("Not [hidden]!");
  expect(ran.out + ran.err).not.toContain(canary);
});

test("SEC-15: a header from a config file is sent and never shown", async () => {
  const cwd = emptyFolder();
  writeFileSync(
    join(cwd, "everstep.config.json"),
    JSON.stringify({ url: server.url, headers: { "X-Api-Key": canary } }),
    { mode: 0o600 },
  );
  server.script(secret);
  const ran = await everstep(["workflows", "list"], { cwd });
  expect(server.requests[0]?.headers["x-api-key"]).toBe(canary);
  expect(ran.out + ran.err).not.toContain(canary);
});

test.each([
  ["no answer", "drop" as const],
  ["an answer that is no JSON", { text: "<html>" }],
  ["a failure", { status: 500, json: { error: { code: "INTERNAL_ERROR", message: "Oh.", docs: "" } } }],
  ["success", none],
])("SEC-15: nothing that was sent is shown after %s", async (_, answer) => {
  server.script(answer);
  const words = [
    "workflows",
    "list",
    "--url",
    server.url,
    "--retries",
    "0",
    "-H",
    `Cookie: session=${canary}`,
  ];
  const ran = await everstep(words, { env: { EVERSTEP_TOKEN: `${canary}-token` } });
  expect(server.requests[0]?.headers.cookie).toBe(`session=${canary}`);
  expect(ran.out + ran.err).not.toContain(canary);
});

test("SEC-15: what is typed wrongly is not repeated where it may be a secret", async () => {
  const header = await everstep(["workflows", "list", "--url", server.url, "-H", `Authorization ${canary}`]);
  const url = await everstep(["workflows", "list", "--url", `https://ann:${canary}@host/`]);
  const token = await everstep(["workflows", "list", "--url", server.url], {
    env: { EVERSTEP_TOKEN: `${canary}\nX-B: c` },
  });
  for (const ran of [header, url, token]) {
    expect(ran.code).toBe(64);
    expect(ran.out + ran.err).not.toContain(canary);
  }
});

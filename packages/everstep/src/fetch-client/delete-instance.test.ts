/** A delete whose answer is lost: a repeat that finds nothing is done, and no later instance of the id is deleted. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScriptedServer } from "../../../../tests/support/scripted-server.ts";
import { createClient, type InstanceClient } from "./index.ts";

let server: ScriptedServer;
let instance: InstanceClient;

beforeEach(async () => {
  server = await ScriptedServer.open();
  instance = createClient({ url: server.url, retryDelay: 0 }).workflow("order").get("o-1");
});
afterEach(() => server.close());

const createdAt = "2026-03-01T09:00:00.000Z";
const found = { json: { id: "o-1", details: { status: "complete" }, meta: { createdAt } } };
const done = { json: { ok: true } };
const problem = (status: number, code: string) => ({
  status,
  json: { error: { code, message: "No.", docs: "" } },
});
const missing = problem(404, "INSTANCE_NOT_FOUND");

test("it names the instance that was there when it was asked for, with every try", async () => {
  server.script(found, "drop", done);
  await instance.delete({ force: true });
  const [look, first, second] = server.requests;
  expect(look?.method).toBe("GET");
  for (const each of [first, second]) {
    expect(each?.method).toBe("DELETE");
    expect(new URL(each?.url ?? "", server.url).searchParams.get("createdAt")).toBe(createdAt);
  }
});

test("a repeat that finds nothing is done", async () => {
  server.script(found, "drop", missing);
  await instance.delete();
});

test("what is missing from the beginning is said to be", async () => {
  server.script(missing);
  await expect(instance.delete()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
  server.script(found, missing);
  await expect(instance.delete()).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
});

test("who may not look deletes without a repeat", async () => {
  server.script(problem(403, "FORBIDDEN"), "drop", done);
  await expect(instance.delete()).rejects.toMatchObject({ code: "CONNECTION_FAILED" });
  expect(server.requests).toHaveLength(2);
});

test("with createdAt nothing is looked at before", async () => {
  server.script(done);
  await instance.delete({ createdAt: new Date(createdAt) });
  expect(server.requests.map(({ method }) => method)).toEqual(["DELETE"]);
});

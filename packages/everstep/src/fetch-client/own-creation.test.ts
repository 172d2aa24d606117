/** A create whose answer is lost: what is said must be true. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedServer } from "../../../../tests/support/scripted-server.ts";
import { createClient, type InstanceClient, type WorkflowClient } from "./index.ts";

let server: ScriptedServer;
let order: WorkflowClient;

beforeEach(async () => {
  server = await ScriptedServer.open();
  order = createClient({ url: server.url, retryDelay: 0 }).workflow("order");
});
afterEach(() => server.close());

const exists = {
  status: 409,
  json: {
    error: {
      code: "INSTANCE_ID_ALREADY_EXISTS",
      message: "It exists.",
      details: { instanceId: "o-1" },
      docs: "",
    },
  },
};
const tooMany = { status: 429, json: { error: { code: "EVENT_BUFFER_FULL", message: "Later.", docs: "" } } };
const found = { json: { id: "o-1", details: { status: "active" } } };

const creations: [string, (id?: string) => Promise<InstanceClient>][] = [
  ["create", (id) => order.create(id === undefined ? {} : { id })],
  ["fork", (id) => order.get("o-0").fork(id === undefined ? {} : { newId: id })],
];

describe.each(creations)("%s", (_what, create) => {
  test("with an id of the client's that exists after a lost answer has created it", async () => {
    server.script("drop", exists);
    const { id } = await create();
    expect(server.requests[1]!.body).toContain(id);
  });

  test("with an id of the client's never fails because it exists: something on the way repeated it", async () => {
    server.script(exists);
    await create();
  });

  test("with an id of the caller's that exists after a lost answer says that it may be its own", async () => {
    for (const lost of ["drop", { status: 502, text: "" }] as const) {
      server.script(lost, exists);
      await expect(create("o-1")).rejects.toMatchObject({
        code: "INSTANCE_ID_ALREADY_EXISTS",
        message: expect.stringContaining("may be the one that this call created"),
        details: { instanceId: "o-1", status: 409, perhapsOwn: true },
      });
    }
  });

  test("with an id of the caller's that exists does not say so when no answer was lost", async () => {
    server.script(tooMany, exists);
    const failed = await create("o-1").catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "INSTANCE_ID_ALREADY_EXISTS", message: "It exists." });
    expect(failed).not.toHaveProperty("details.perhapsOwn");
  });
});

test('with ifExists: "return" a lost answer makes no difference', async () => {
  server.script("drop", found);
  expect((await order.create({ id: "o-1", ifExists: "return" })).id).toBe("o-1");
});

test("a batch whose answer was lost has the instances whose ids the client made", async () => {
  server.script("drop", { json: { instances: [] } });
  const created = await order.createBatch([{ id: "own" }, {}, {}]);
  const sent = JSON.parse(server.requests[0]!.body).instances.map(({ id }: { id: string }) => id);
  expect(created.map(({ id }) => id)).toEqual(sent.slice(1));
});

/** Events that a workflow declares are checked by every sender, before anything is stored. */
import { allowAll, createHandler, defineWorkflow, type StandardSchema } from "everstep";
import { createClient } from "everstep/client";
import { createBinding } from "everstep/cloudflare";
import { createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { createServices } from "../packages/everstep/src/fragment/services.ts";

function schema<Input, Output>(
  validate: StandardSchema<Input, Output>["~standard"]["validate"],
): StandardSchema<Input, Output> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

interface Approval {
  by: string;
}

/** Puts in a default, and takes its time if it is told to. */
const approval = (wait?: () => Promise<void>) =>
  schema<Approval, Approval & { level: number }>((value) => {
    const { by, level = 1 } = (value ?? {}) as Partial<Approval & { level: number }>;
    const checked =
      typeof by === "string"
        ? { value: { by, level } }
        : { issues: [{ message: "Expected string", path: ["by"] }] };
    return wait === undefined ? checked : wait().then(() => checked);
  });

const nothing = schema<undefined, undefined>((value) =>
  value === undefined ? { value } : { issues: [{ message: "Expected nothing" }] },
);

const order = defineWorkflow(
  { name: "order", events: { approved: approval(), cancelled: nothing } },
  async (_event, step) => {
    const { payload } = await step.waitForEvent("approval", { type: "approved" });
    return payload;
  },
);

const slow = defineWorkflow(
  { name: "slow", events: { approved: approval(async () => {}) } },
  async (_event, step) => (await step.waitForEvent("approval", { type: "approved" })).payload,
);

const invalid = {
  code: "EVENT_PAYLOAD_INVALID",
  message: expect.stringContaining('"approved" of workflow "order": by: Expected string'),
  details: { type: "approved", issues: [{ message: "Expected string", path: ["by"] }] },
};
const unknown = {
  code: "UNKNOWN_EVENT_TYPE",
  message: expect.stringContaining('Did you mean "approved"?'),
  details: { type: "aproved", declared: ["approved", "cancelled"], nearest: "approved" },
};

describe("a payload that does not fit, and a type that is not declared, are refused, and nothing is stored", () => {
  test.each(["handle", "harness", "client", "fragment", "binding"] as const)("by the %s", async (sender) => {
    await using harness = createTestHarness({ workflows: { ORDER: order } });
    await harness.workflows.ORDER.create({ id: "o" });
    await harness.runUntilIdle();
    const handler = createHandler(harness.app, { authorize: allowAll() });
    const client = createClient({
      url: "http://here",
      fetch: async (request, init) => handler(new Request(request, init)),
    });
    const senders = {
      handle: (event: never) => harness.workflows.ORDER.at("o").sendEvent(event),
      harness: (event: never) => harness.sendEvent("o", event),
      client: (event: never) => client.workflow("order").get("o").sendEvent(event),
      fragment: (event: never) => createServices(harness.app as never).sendEvent("order", "o", event),
      binding: async (event: never) =>
        (await createBinding(harness.app as never, "ORDER" as never).get("o")).sendEvent(event),
    };
    const send = (event: unknown) => senders[sender](event as never);
    await expect(send({ type: "approved", payload: { by: 7 } })).rejects.toMatchObject(
      sender === "client" ? { ...invalid, details: { ...invalid.details, status: 400 } } : invalid,
    );
    await expect(send({ type: "approved" })).rejects.toMatchObject({ code: "EVENT_PAYLOAD_INVALID" });
    await expect(send({ type: "aproved" })).rejects.toMatchObject({
      code: unknown.code,
      message: unknown.message,
    });
    await expect(send({ type: "constructor" })).rejects.toMatchObject({ code: "UNKNOWN_EVENT_TYPE" });
    expect((await harness.history("o")).events).toEqual([]);
    await send({ type: "approved", payload: { by: "kim" } });
    await harness.runUntilIdle();
    expect(await harness.workflows.ORDER.at("o").status()).toEqual({
      status: "complete",
      output: { by: "kim", level: 1 },
    });
  });

  test("the error names what is declared", async () => {
    await using harness = createTestHarness({ workflows: { ORDER: order } });
    const instance = await harness.workflows.ORDER.create();
    await expect(instance.sendEvent({ type: "aproved" } as never)).rejects.toMatchObject(unknown);
  });

  test("by a step, which fails at once; by its definition where the app does not run it", async () => {
    for (const workflow of ["order", order] as const) {
      const tried: number[] = [];
      const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
        step.do("send", async (ctx) => {
          tried.push(ctx.attempt);
          const to: { workflow: string | typeof order; id: string } = { workflow, id: "o" };
          ctx.sendEvent(to, { type: "approved", payload: {} } as never);
        }),
      );
      await using harness = createTestHarness({
        workflows: { PARENT: parent, ...(workflow === order ? {} : { ORDER: order }) },
      });
      const instance = await harness.workflows.PARENT.create();
      await harness.runUntilIdle();
      expect(await instance.status()).toMatchObject({
        status: "errored",
        error: { code: "EVENT_PAYLOAD_INVALID" },
      });
      expect(tried).toEqual([1]);
    }
  });
});

test("what the schema makes of a payload is stored, also by a step", async () => {
  const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
    step.do("send", async (ctx) =>
      ctx.sendEvent({ workflow: order, id: "o" }, { type: "approved", payload: { by: "kim" } }),
    ),
  );
  await using harness = createTestHarness({ workflows: { ORDER: order, PARENT: parent } });
  const instance = await harness.workflows.ORDER.create({ id: "o" });
  await harness.workflows.PARENT.create();
  await harness.runUntilIdle();
  expect(await instance.status()).toMatchObject({ output: { by: "kim", level: 1 } });
});

test("a schema may take its time, and sees the payload as it was at the call; a step cannot wait for it", async () => {
  const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
    step.do("send", { retries: false }, async (ctx) =>
      ctx.sendEvent({ workflow: slow, id: "s" }, { type: "approved", payload: { by: "kim" } }),
    ),
  );
  await using harness = createTestHarness({ workflows: { SLOW: slow, PARENT: parent } });
  const instance = await harness.workflows.SLOW.create({ id: "s" });
  const sender = await harness.workflows.PARENT.create();
  await harness.runUntilIdle();
  expect(await sender.status()).toMatchObject({
    status: "errored",
    error: { message: expect.stringContaining("checked asynchronously") },
  });
  await expect(instance.sendEvent({ type: "approved", payload: {} as Approval })).rejects.toMatchObject({
    code: "EVENT_PAYLOAD_INVALID",
  });
  const payload = { by: "kim" };
  const sent = instance.sendEvent({ type: "approved", payload });
  payload.by = "ann";
  await sent;
  await harness.runUntilIdle();
  expect(await instance.status()).toMatchObject({ output: { by: "kim", level: 1 } });
});

test("a wait for a type that is not declared fails the run", async () => {
  const events = { approved: approval() };
  const typo = defineWorkflow({ name: "typo", events }, async (_event, step) => {
    // @ts-expect-error not declared
    await step.waitForEvent("approval", { type: "aproved" });
  });
  await using harness = createTestHarness({ workflows: { TYPO: typo } });
  const instance = await harness.workflows.TYPO.create();
  await harness.runUntilIdle();
  expect(await instance.status()).toMatchObject({
    status: "errored",
    error: { code: "UNKNOWN_EVENT_TYPE", message: expect.stringContaining('Did you mean "approved"?') },
  });
});

test("publications are not checked: a topic belongs to no workflow", async () => {
  const events = { approved: approval() };
  const listener = defineWorkflow({ name: "listener", events }, async (_event, step) => {
    const { payload } = await step.waitForEvent<number>("news", { topic: "approved" });
    return payload;
  });
  await using harness = createTestHarness({ workflows: { LISTENER: listener } });
  const instance = await harness.workflows.LISTENER.create();
  await harness.runUntilIdle();
  expect(await harness.app.publish("approved", 7)).toEqual({ waiters: 1 });
  await harness.runUntilIdle();
  expect(await instance.status()).toMatchObject({ output: 7 });
});

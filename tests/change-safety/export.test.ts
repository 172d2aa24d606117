/** A history as a document: everything is in it, it survives text, and it can be replayed anywhere. */
import { createWorkflows, defineWorkflow, type RedactPlace, replayHistory } from "everstep";
import { createMemoryDatabase, memory } from "everstep/memory";
import { createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { interceptStore } from "../../packages/everstep/src/testing/intercept-store.ts";
import { onEachStore } from "../scenarios/each-store.ts";

const rich = {
  at: new Date(Date.UTC(2026, 0)),
  map: new Map<unknown, unknown>([[1n, new Set(["a"])]]),
  nothing: undefined,
  zero: -0,
  big: 12345678901234567890n,
  odd: [Number.NaN, Number.POSITIVE_INFINITY],
  bytes: new Uint8Array([1, 2, 3]),
  error: Object.assign(new RangeError("far"), { stack: undefined }),
};

const order = defineWorkflow({ name: "order" }, async ({ payload }, step) => {
  let tries = 0;
  const kept = await step.do("charge", { retries: { limit: 2, delay: "1 minute" } }, async () => {
    if (++tries === 1) throw new TypeError("card declined");
    return payload;
  });
  await step.log.info("charged", { card: "4111" });
  const { payload: by } = await step.waitForEvent<{ name: string }>("approved", { type: "approved" });
  return { kept, by };
});

const throughText = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

onEachStore("an exported history", (tell) => {
  async function approved() {
    const story = tell({ ORDER: order });
    const instance = await story.workflows.ORDER.create({ id: "i", params: rich });
    await story.advance("5 minutes");
    await story.sendEvent("i", { type: "approved", idempotencyKey: "e-1", payload: { name: "Ann" } });
    await story.runUntilIdle();
    return { story, instance };
  }

  test("has everything of a run, and survives text", async () => {
    const { instance } = await approved();
    const document = await instance.exportHistory();
    expect(document).toMatchObject({
      format: "everstep-history",
      version: 1,
      redacted: false,
      workflowName: "order",
      instanceId: "i",
      runNumber: 1,
      status: "complete",
      error: null,
      steps: [
        {
          key: "charge",
          type: "do",
          attempts: 2,
          errors: [{ error: { message: "card declined" }, retryAt: expect.any(Number) }],
          settledIndex: 0,
        },
        { key: "approved", type: "waitForEvent", eventType: "approved", settledIndex: 1 },
      ],
      events: [{ id: "e-1", type: "approved", consumedBy: "approved" }],
      logs: [{ message: "charged", data: { json: '{"card":"4111"}' } }],
    });
    expect(throughText(document)).toEqual(document);
  });

  test("replays to the same output, with every kind of value", async () => {
    const { instance } = await approved();
    const replayed = await replayHistory(throughText(await instance.exportHistory()), order);
    expect(replayed).toMatchObject({ classification: "identical", output: { by: { name: "Ann" } } });
    expect((replayed.output as { kept: unknown }).kept).toEqual(rich);
    expect(Object.is((replayed.output as { kept: typeof rich }).kept.zero, -0)).toBe(true);
  });

  test("can be of an earlier run", async () => {
    const { story, instance } = await approved();
    await instance.restart({ from: "approved" });
    await story.runUntilIdle();
    const [first, second] = [await instance.exportHistory({ runNumber: 1 }), await instance.exportHistory()];
    expect([first, second].map(({ runNumber, status }) => [runNumber, status])).toEqual([
      [1, "complete"],
      [2, "waiting"],
    ]);
    for (const document of [first, second]) {
      expect(await replayHistory(document, order)).toMatchObject({ classification: "identical" });
    }
    await expect(instance.exportHistory({ runNumber: 3 })).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("has all pages of a long run", async () => {
    const long = defineWorkflow({ name: "long" }, async (_event, step) => {
      for (let n = 0; n < 230; n++) await step.do(`n ${n}`, async () => step.log.info(`line ${n}`));
    });
    const story = tell({ LONG: long });
    const instance = await story.workflows.LONG.create({ id: "i" });
    await story.runUntilIdle();
    const { steps, logs } = await instance.exportHistory();
    expect(steps.map(({ index }) => index)).toEqual(Array.from({ length: 230 }, (_, n) => n));
    expect(logs?.map(({ message }) => message)).toEqual(Array.from({ length: 230 }, (_, n) => `line ${n}`));
    expect(await replayHistory(await instance.exportHistory({ logs: false }), long)).toMatchObject({
      classification: "identical",
    });
  });
});

describe("an exported history", () => {
  async function failing() {
    const workflow = defineWorkflow({ name: "failing" }, async ({ payload }, step) => {
      const secret = await step.do("secret", async () => ({ token: payload.token }));
      await step.log.warn("about to fail", { secret });
      await step.do("fail", { retries: { limit: 1, delay: 0 } }, async () => {
        throw Object.assign(new Error(`refused ${secret.token}`), { status: 403 });
      });
    });
    const story = createTestHarness({ workflows: { W: workflow } });
    const instance = await story.workflows.W.create({ id: "i", params: { token: "t-1" } });
    await story.sendEvent("i", { type: "unused", idempotencyKey: "e", payload: "t-1" });
    await story.advance("1 minute");
    return { story, instance, workflow };
  }

  test("says nothing of what was redacted, and can still be replayed", async () => {
    const { story, instance, workflow } = await failing();
    const places: RedactPlace[] = [];
    const document = await instance.exportHistory({
      redact: (value, where) => {
        places.push(where);
        if (value instanceof Error) return new Error("hidden");
        if (where.of === "params" || where.of === "result") return { token: "hidden" };
        return "hidden";
      },
    });
    expect(JSON.stringify(document)).not.toContain("t-1");
    expect(document.redacted).toBe(true);
    expect(places).toEqual([
      { of: "params" },
      { of: "error", stepKey: null, attempt: null },
      { of: "result", stepKey: "secret" },
      { of: "error", stepKey: "fail", attempt: 1 },
      { of: "error", stepKey: "fail", attempt: 2 },
      { of: "error", stepKey: "fail", attempt: null },
      { of: "event", id: "e", type: "unused", topic: null },
      { of: "log message", stepKey: null, category: "workflow" },
      { of: "log data", stepKey: null, category: "workflow" },
    ]);
    expect(await replayHistory(throughText(document), workflow)).toMatchObject({
      classification: "identical",
      error: { message: "hidden" },
    });
    await story.stop();
  });

  test("may have its values changed in place by redact", async () => {
    const { story, instance } = await failing();
    const { params } = await instance.exportHistory({
      redact: (value, where) => {
        if (where.of === "params") (value as { token: string }).token = "hidden";
        return value;
      },
    });
    expect(params.json).toBe('{"token":"hidden"}');
    await story.stop();
  });

  test("is refused when it takes more bytes than allowed", async () => {
    const { story, instance } = await failing();
    const bytes = JSON.stringify(await instance.exportHistory()).length;
    await expect(instance.exportHistory({ maxBytes: bytes / 2 })).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringContaining("maxBytes"),
    });
    await expect(instance.exportHistory({ maxBytes: bytes })).resolves.toBeDefined();
    await expect(instance.exportHistory({ maxBytes: 0 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await story.stop();
  });

  test("is of one moment, although the run goes on while it is read", async () => {
    const database = createMemoryDatabase();
    const harness = createTestHarness({ workflows: { ORDER: order }, store: () => memory({ database }) });
    await harness.workflows.ORDER.create({ id: "i", params: 1 });
    await harness.advance("5 minutes");
    let isRead = false;
    const store = interceptStore(memory({ database }), async (call, apply) => {
      if (call.method === "listEvents" && !isRead) {
        isRead = true;
        await harness.sendEvent("i", { type: "approved", payload: { name: "Ann" } });
        await harness.runUntilIdle();
      }
      return apply();
    });
    const app = createWorkflows({ workflows: { ORDER: order }, store });
    const { status, steps } = await (await app.workflows.ORDER.get("i")).exportHistory();
    expect([status, ...steps.map((step) => step.status)]).toEqual(["complete", "completed", "completed"]);
    await harness.stop();
  });

  test("can leave log lines out", async () => {
    const { story, instance } = await failing();
    expect(await instance.exportHistory({ logs: false })).not.toHaveProperty("logs");
    await story.stop();
  });
});

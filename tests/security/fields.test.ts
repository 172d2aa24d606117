/** Whoever creates and sends says what they may say; the rest is the engine's, whatever is written beside it. */
import { createWorkflows, defineWorkflow } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachData } from "../regressions/each-data.ts";
import { quiet } from "../regressions/quiet.ts";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const waiter = defineWorkflow({ name: "w" }, async (_event, step) => {
  const { payload } = await step.waitForEvent("note", { type: "note", timeout: "1 day" });
  return payload;
});

/** Every field of the records behind them, and then some. */
const smuggled = {
  runId: 99,
  runNumber: 7,
  status: "complete",
  output: { json: '"stolen"', marks: null },
  error: { name: "Error", message: "planted" },
  deadLetter: true,
  createdAt: 0,
  startedAt: 1,
  updatedAt: 2,
  completedAt: 3,
  pausedAt: 4,
  dueAt: 9e15,
  deadlineAt: 5,
  retentionMs: 1,
  retentionUntil: 1,
  executing: true,
  crashCount: 9,
  token: 1000,
  begun: [{ key: "k", name: "n", start: 1, at: 1 }],
  history: [{ index: 0, key: "note", status: "completed" }],
  lease: { owner: "thief", until: 9e15 },
  workflowName: "other",
  instanceId: "another",
  kind: "terminate",
  seq: 50,
  topic: "news",
  forStep: "elsewhere",
  system: true,
  deliveredAt: 1,
  consumedBy: "nobody",
  bufferMax: 0,
  __proto__: { id: "from-the-prototype" },
};

class Smuggler {}

/** Objects of a class may have fields of their own, which mean nothing; plain ones are refused. */
function smuggling(given: object): never {
  return Object.assign(new Smuggler(), smuggled, given) as never;
}

onEachStore("fields", (tell) => {
  test("SEC-22 numbers, states and times of a run cannot be given when it is created", async () => {
    const story = tell({ W: waiter });
    const now = story.runtime.now();
    const plain = { ...smuggled, id: "refused" } as never;
    for (const creation of [
      () => story.workflows.W.create(plain),
      () => story.workflows.W.createBatch([plain]),
      () => story.workflows.W.restartOrCreate(plain),
    ])
      await expect(creation()).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    const given = (id: string): never => smuggling({ id });
    const made = [
      await story.workflows.W.create(given("created")),
      ...(await story.workflows.W.createBatch([given("batched")])),
      (await story.workflows.W.restartOrCreate(given("either"))).instance,
    ];
    for (const { id } of made) {
      expect(await recordOf(story, id)).toMatchObject({
        workflowName: "w",
        runNumber: 1,
        status: "active",
        output: null,
        error: null,
        deadLetter: false,
        createdAt: now,
        startedAt: null,
        completedAt: null,
        dueAt: now,
        deadlineAt: null,
        retentionMs: null,
        executing: false,
        crashCount: 0,
        begun: [],
        params: { json: "{}", marks: null },
      });
      expect((await story.history(id)).steps).toEqual([]);
    }
  });

  test("SEC-22 nor whose an event is, when it came and who shall have it", async () => {
    const story = tell({ W: waiter });
    const now = story.runtime.now();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.workflows.W.create({ id: "another" });
    await story.runUntilIdle();
    const event = { idempotencyKey: "e", type: "note", payload: "given" };
    await expect(instance.sendEvent({ ...smuggled, ...event } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    await instance.sendEvent(smuggling(event));
    const { events } = await story.history("i");
    expect(events).toMatchObject([
      {
        id: "e",
        type: "note",
        topic: null,
        payload: "given",
        createdAt: new Date(now),
        deliveredAt: null,
        consumedByStepKey: null,
      },
    ]);
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "given" });
    expect((await story.history("another")).events).toEqual([]);
  });

  test("SEC-22 nor are options of steering taken from elsewhere", async () => {
    const story = tell({ W: waiter });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await expect(instance.terminate({ ...smuggled, reason: "enough" } as never)).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect(await instance.details()).toMatchObject({ status: "waiting" });
    await instance.terminate(smuggling({ reason: "enough" }));
    expect(await instance.details()).toMatchObject({
      status: "terminated",
      terminationReason: { source: "user", message: "enough" },
      runNumber: 1,
    });
    await instance.restart(smuggling({}));
    expect(await recordOf(story, "i")).toMatchObject({
      runNumber: 2,
      status: "active",
      createdAt: story.runtime.now(),
    });
    const forked = await instance.fork(smuggling({ newId: "forked" }));
    expect(await recordOf(story, forked.id)).toMatchObject({ runNumber: 1, workflowName: "w" });
  });
});

onEachData("what is not what it should be", {}, (take) => {
  const large = "x".repeat(1_000_000);

  const refused: Record<string, { readonly values: readonly unknown[]; readonly code: RegExp }> = {
    "an event's id": {
      values: [5, "", {}, [], true, "a\ud83eb", "x".repeat(513), "é".repeat(257), large],
      code: /^INVALID_ARGUMENT$/,
    },
    "a publication's id": { values: [5, "", {}, true, "a\ud83eb", large], code: /^INVALID_ARGUMENT$/ },
    "a parent": {
      values: [
        "x",
        5,
        {},
        { workflowName: "w" },
        { workflowName: 5, instanceId: 6 },
        { workflowName: "../x", instanceId: "i" },
        { workflowName: "w", instanceId: "a\0b" },
        { workflowName: large, instanceId: "i" },
      ],
      code: /^INVALID_(WORKFLOW_NAME|INSTANCE_ID)$/,
    },
    "a reason": { values: [5, {}, ["a"], true], code: /^INVALID_ARGUMENT$/ },
    "a run's number": { values: [Number.NaN, 1.5, 0, -1, "1", 1e300, {}], code: /^RUN_NOT_FOUND$/ },
    "a category": { values: [5, {}, ["a"], true], code: /^INVALID_ARGUMENT$/ },
  };

  test.each(Object.entries(refused))(
    "SEC-22 %s is refused before a store hears of it",
    async (what, { values, code }) => {
      const app = createWorkflows({ workflows: { W: waiter }, store: take().open(), ...quiet() });
      const { W } = app.workflows;
      const instance = await W.create({ id: "i" });
      const ask: Record<string, (value: never) => Promise<unknown>> = {
        "an event's id": (id) => instance.sendEvent({ type: "note", idempotencyKey: id }),
        "a publication's id": (id) => app.publish("news", 1, { idempotencyKey: id }),
        "a parent": (parent) => W.create({ id: "j", parent }),
        "a reason": (reason) => instance.terminate({ reason }),
        "a run's number": (runNumber) => instance.history({ runNumber }),
        "a category": (category) => instance.logs({ category }),
      };
      for (const value of values)
        await expect(ask[what]?.(value as never), JSON.stringify(value)?.slice(0, 60)).rejects.toMatchObject({
          name: "EverstepError",
          code: expect.stringMatching(code),
        });
      expect(await app.counts()).toMatchObject({ active: 1 });
      expect((await instance.history()).events).toEqual([]);
      await app.stop({ grace: 0 });
    },
  );

  test("SEC-22 an id of every kind that may be is kept as it is, and is the same the second time", async () => {
    const app = createWorkflows({ workflows: { W: waiter }, store: take().open(), ...quiet() });
    const instance = await app.workflows.W.create({ id: "i" });
    const ids = ["1", "a b", "a\0b", "é".repeat(256), "x".repeat(512), "🎉", "'; --", "A", "a", "a "];
    for (let n = 0; n < 2; n++)
      for (const id of ids) await instance.sendEvent({ type: "other", idempotencyKey: id });
    expect((await instance.history({ pageSize: 100 })).events.map(({ id }) => id)).toEqual(ids);
    await app.stop({ grace: 0 });
  });

  describe("SEC-22 a name that is none, given by a step to others,", () => {
    const starts = defineWorkflow<{ what: string; name: never; id: string }>(
      { name: "starts" },
      async ({ payload }, step) =>
        step.do("others", { retries: false }, async (context) => {
          const { what, name, id } = payload;
          if (what === "start") context.startWorkflow(name, { id });
          else context.sendEvent({ workflow: name, id }, { type: "note" });
        }),
    );

    test.each(["start", "send"])(
      "fails the step once, and not the writes of its process (%s)",
      async (what) => {
        const problems: unknown[] = [];
        const app = createWorkflows({
          workflows: { W: waiter, STARTS: starts },
          store: take().open(),
          ...quiet(problems),
        });
        const names = ["../x", "", "a\0b", "x".repeat(1000), 5, null, {}];
        for (const [n, name] of names.entries())
          await app.workflows.STARTS.create({
            id: `i${n}`,
            params: { what, name: name as never, id: "child" },
          });
        await app.tick();
        for (const n of names.keys()) {
          const instance = await app.workflows.STARTS.get(`i${n}`);
          expect((await instance.status()).status, String(names[n])).toBe("errored");
          expect((await instance.history()).steps, String(names[n])).toMatchObject([{ attempts: 1 }]);
        }
        expect(problems).toEqual([]);
        await app.stop({ grace: 0 });
      },
    );
  });
});

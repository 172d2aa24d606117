/** What a call was given is what it was at the call, whatever the caller does with its objects afterwards. */
import { createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { StandardSchema } from "../authoring/standard-schema.ts";

interface Count {
  n: number;
}

function schemaOf(
  validate: StandardSchema<Count, Count>["~standard"]["validate"],
): StandardSchema<Count, Count> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const atOnce = schemaOf((value) => ({ value: value as Count }));
const later = schemaOf(async (value) => {
  await Promise.resolve();
  return { value: { n: (value as Count).n } };
});

const kinds = [
  ["without a schema", undefined],
  ["with a schema that answers at once", atOnce],
  ["with a schema that answers later", later],
] as const;

function harnessWith(schema: StandardSchema<Count, Count> | undefined) {
  const options = { name: "w", ...(schema ? { params: schema } : {}) };
  const workflow = defineWorkflow<Count, unknown>(options as never, async (event) => event.payload);
  return createTestHarness({ workflows: { W: workflow } });
}

describe.each(kinds)(
  "params changed after the call, %s, are stored as they were at the call",
  (_, schema) => {
    test("by create", async () => {
      await using story = harnessWith(schema);
      const params = { n: 0 };
      const calls = [1, 2, 3].map((n) => {
        params.n = n;
        return story.workflows.W.create({ params });
      });
      const created = await Promise.all(calls);
      await story.runUntilIdle();
      const outputs = await Promise.all(created.map(async (instance) => (await instance.status()).output));
      expect(outputs).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    });

    test("by createBatch", async () => {
      await using story = harnessWith(schema);
      const params = { n: 1 };
      const batch = [
        { id: "a", params },
        { id: "b", params },
      ];
      const call = story.workflows.W.createBatch(batch);
      params.n = 2;
      batch.push({ id: "c", params });
      await call;
      await story.runUntilIdle();
      expect([await story.status("a"), await story.status("b")]).toMatchObject([
        { output: { n: 1 } },
        { output: { n: 1 } },
      ]);
      await expect(story.workflows.W.get("c")).rejects.toMatchObject({ code: "INSTANCE_NOT_FOUND" });
    });

    test("by restartOrCreate", async () => {
      await using story = harnessWith(schema);
      const options = { id: "a", params: { n: 1 } };
      const call = story.workflows.W.restartOrCreate(options);
      options.params.n = 2;
      options.id = "b";
      await call;
      await story.runUntilIdle();
      expect(await story.status("a")).toMatchObject({ output: { n: 1 } });
    });
  },
);

test("an event's payload and a publication's are kept as they were at the call", async () => {
  const waiter = defineWorkflow({ name: "w" }, async (_event, step) => [
    (await step.waitForEvent("sent", { type: "go" })).payload,
    (await step.waitForEvent("published", { topic: "news" })).payload,
  ]);
  await using story = createTestHarness({ workflows: { W: waiter } });
  const instance = await story.workflows.W.create({ id: "it" });
  await story.restartRunner();
  const payload = { n: 1 };
  const sent = instance.sendEvent({ type: "go", payload });
  payload.n = 2;
  await sent;
  await story.runUntilIdle();
  const published = story.app.publish("news", payload);
  payload.n = 3;
  await published;
  await story.runUntilIdle();
  expect(await instance.status()).toMatchObject({ output: [{ n: 1 }, { n: 2 }] });
});

test("what only the schema can make plain is handed to the schema as it is", async () => {
  class Money {
    readonly cents = 5;
  }
  const schema = schemaOf((value) => ({
    value: { n: (value as { money: Money }).money instanceof Money ? 5 : 0 },
  }));
  await using story = harnessWith(schema);
  await story.workflows.W.create({ id: "it", params: { money: new Money() } as never });
  await story.runUntilIdle();
  expect(await story.status("it")).toMatchObject({ output: { n: 5 } });
});

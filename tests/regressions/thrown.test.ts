/** Whatever is thrown, and wherever: it is kept in bounds, the instance comes to its end, and nobody else notices. */
import { defineWorkflow, type WorkflowDefinition, type WorkflowStep } from "everstep";
import { defineEntrypoint, WorkflowEntrypoint } from "everstep/cloudflare";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const mib = 1024 * 1024;

function circular(): Error {
  const one = new Error("one");
  one.cause = new Error("other", { cause: one });
  return one;
}

function deep(depth: number): Error {
  let error = new Error("innermost");
  for (let n = 0; n < depth; n++) error = new Error(`level ${n}`, { cause: error });
  return error;
}

const trap = (): never => {
  throw new Error("looked at");
};

/** Made anew each time. */
const thrown: Record<string, () => unknown> = {
  undefined: () => undefined,
  null: () => null,
  "a number": () => 0,
  "empty text": () => "",
  text: () => "str",
  "a symbol": () => Symbol("s"),
  "a BigInt": () => 10n,
  "a plain object": () => ({ message: "plain", code: 7 }),
  "a circle of causes": circular,
  "a thousand causes": () => deep(1000),
  "many errors in one": () =>
    new AggregateError(
      Array.from({ length: 1000 }, (_, n) => new Error(`part ${n} ${"x".repeat(1000)}`)),
      "many",
    ),
  "an error whose getters throw": () =>
    Object.defineProperties(new Error("hidden"), {
      message: { get: trap },
      name: { get: trap },
      stack: { get: trap },
      cause: { get: trap },
      code: { get: trap, enumerable: true },
    }),
  "a proxy that throws": () => new Proxy({}, { get: trap, getPrototypeOf: trap, ownKeys: trap, has: trap }),
  "ten megabytes": () => new Error("x".repeat(10 * mib)),
  "ten megabytes of properties": () => Object.assign(new Error("fat"), { body: "x".repeat(10 * mib) }),
  "text that is half a character": () => new Error("\ud83e and \0"),
  "an error with functions": () => Object.assign(new Error("tools"), { again: () => {}, at: new WeakMap() }),
  "a rejected response": () => Object.assign(new Error("HTTP 500"), { response: { headers: new Headers() } }),
};

onEachStore("thrown", (tell) => {
  describe("R-064 (INV-49) a step and a workflow that throw it are errored, with an error of bounded size", () => {
    test.each(Object.entries(thrown))("%s", async (_title, make) => {
      const workflow = defineWorkflow<{ where: string }>({ name: "w" }, async ({ payload }, step) => {
        if (payload.where === "run") throw make();
        if (payload.where === "caught") {
          const known = await step
            .do("throws", { retries: false }, async () => throwing(make))
            .catch((error) => error);
          return { isError: known instanceof Error, words: typeof known.name + typeof known.message };
        }
        return step.do("throws", { retries: { limit: 1, delay: 0 } }, async () => throwing(make));
      });
      const story = tell({ W: workflow });
      const wheres = ["run", "step", "caught"];
      await story.workflows.W.createBatch(wheres.map((where) => ({ id: where, params: { where } })));
      await story.runUntilIdle();
      await story.restartRunner();
      await story.advance("1 second");
      for (const id of ["run", "step"]) {
        const record = await recordOf(story, id);
        expect(record, id).toMatchObject({
          status: "errored",
          dueAt: null,
          error: { name: expect.any(String), message: expect.any(String) },
        });
        expect(JSON.stringify(record.error).length, id).toBeLessThan(200_000);
        const { items } = await story.app.store.listSteps(record.runId, { limit: 10 });
        expect(JSON.stringify(items).length, id).toBeLessThan(600_000);
      }
      expect((await story.history("step")).steps).toMatchObject([{ attempts: 2, status: "errored" }]);
      expect(await story.status("caught")).toEqual({
        status: "complete",
        output: { isError: true, words: "stringstring" },
      });
      expect((await story.workflows.W.list()).items).toHaveLength(3);
    });
  });

  test("a thrown plain object keeps its name, message, code, cause and data, in a status and in a catch", async () => {
    const make = () => ({
      name: "PostgrestError",
      message: "no such row",
      code: "PGRST116",
      cause: { message: "why" },
      details: { rows: 0 },
    });
    const workflow = defineWorkflow<{ isCaught: boolean }>({ name: "w" }, async ({ payload }, step) => {
      const asked = step.do("ask", { retries: false }, async () => throwing(make));
      if (!payload.isCaught) return asked;
      const caught = await asked.catch((error) => error);
      await step.sleep("nap", "1 second");
      const { name, message, code, cause, details } = caught;
      return { name, message, code, cause: cause.message, details };
    });
    const story = tell({ W: workflow });
    await story.workflows.W.createBatch([
      { id: "ends", params: { isCaught: false } },
      { id: "caught", params: { isCaught: true } },
    ]);
    await story.runUntilIdle();
    await story.restartRunner();
    await story.advance("1 second");
    expect(await story.status("ends")).toMatchObject({
      status: "errored",
      error: { name: "PostgrestError", message: "no such row" },
    });
    const kept = (await recordOf(story, "ends")).error;
    expect(kept).toMatchObject({ name: "PostgrestError", message: "no such row", cause: { message: "why" } });
    expect(JSON.parse(kept?.properties?.json ?? "{}")).toEqual({ code: "PGRST116", details: { rows: 0 } });
    expect(await story.status("caught")).toEqual({
      status: "complete",
      output: { ...make(), cause: "why" },
    });
  });

  const broken: Record<string, () => WorkflowDefinition> = {
    "throws before its first step": () =>
      defineWorkflow({ name: "broken" }, () => {
        throw new Error("at once");
      }),
    "throws nothing at all": () => defineWorkflow({ name: "broken" }, () => Promise.reject(undefined)),
    "throws text": () =>
      defineWorkflow({ name: "broken" }, () => {
        throw "text";
      }),
    "returns something that throws when it is awaited": () =>
      defineWorkflow({ name: "broken" }, () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is what is broken about it
        get then(): never {
          throw new Error("do not await me");
        },
      })),
    "is a class whose constructor throws": () => {
      class Unbuildable extends WorkflowEntrypoint {
        constructor(ctx: unknown, env: unknown) {
          super(ctx as never, env as never);
          throw new Error("cannot be built");
        }
      }
      return defineEntrypoint({ name: "broken" }, Unbuildable);
    },
    "is a class whose constructor throws nothing": () => {
      class Unbuildable extends WorkflowEntrypoint {
        constructor(ctx: unknown, env: unknown) {
          super(ctx as never, env as never);
          throw undefined;
        }
      }
      return defineEntrypoint({ name: "broken" }, Unbuildable);
    },
    "is a class whose environment cannot be loaded": () =>
      defineEntrypoint({ name: "broken" }, WorkflowEntrypoint, {
        env: () => {
          throw new Error("no such binding");
        },
      }),
    "is a class without a run": () => defineEntrypoint({ name: "broken" }, class {} as never),
    "throws when its run is looked up": () =>
      defineEntrypoint(
        { name: "broken" },
        class {
          get run(): never {
            throw new Error("no run for you");
          }
        } as never,
      ),
  };

  describe("R-059 (INV-49) a workflow that cannot even begin ends errored, once, and others go on: one that", () => {
    test.each(Object.entries(broken))("%s", async (_title, define) => {
      let works = 0;
      const fine = defineWorkflow({ name: "fine" }, async (_event, step: WorkflowStep) =>
        step.do("work", async () => ++works),
      );
      const story = tell({ BROKEN: define(), FINE: fine });
      const loop = story.runner("loop");
      await loop.start();
      for (let n = 0; n < 3; n++) {
        await story.workflows.BROKEN.create({ id: `broken-${n}` });
        await story.workflows.FINE.create({ id: `fine-${n}` });
      }
      await story.clock.advance("1 minute");
      for (let n = 0; n < 3; n++) {
        expect(await recordOf(story, `broken-${n}`, "broken")).toMatchObject({
          status: "errored",
          crashCount: 0,
          dueAt: null,
          error: { name: expect.any(String) },
        });
      }
      // A process that starts afterwards is not disturbed by it.
      await story.restartRunner("loop");
      await story.runner("loop").start();
      await story.workflows.FINE.create({ id: "fine-3" });
      await story.clock.advance("1 minute");
      expect(await story.app.counts()).toMatchObject({ errored: 3, complete: 4, active: 0 });
      expect(works).toBe(4);
      expect(story.problems).toEqual([]);
    });
  });
});

function throwing(make: () => unknown): never {
  throw make();
}

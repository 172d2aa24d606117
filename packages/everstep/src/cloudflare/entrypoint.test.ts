import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { App } from "../client/app.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { memory } from "../stores/memory/index.ts";
import {
  createBinding,
  defineEntrypoint,
  type ExecutionContext,
  NonRetryableError,
  type Workflow,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "./index.ts";

interface Env {
  readonly greeting: string;
}

class Greeter extends WorkflowEntrypoint<Env, { readonly name: string }> {
  override async run(event: WorkflowEvent<{ readonly name: string }>, step: WorkflowStep) {
    return step.do("greet", async () => `${this.env.greeting}, ${event.payload.name}`);
  }
}

const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop({ grace: 0 });
});

async function start<Workflows extends Record<string, WorkflowDefinition>>(
  workflows: Workflows,
): Promise<App<Workflows>> {
  const app = createWorkflows({ workflows, store: memory() });
  apps.push(app as unknown as App);
  await app.start();
  return app;
}

/** Runs a class whose `run` is this function. */
async function outcomeOf(run: (step: WorkflowStep) => Promise<unknown>) {
  class Entrypoint extends WorkflowEntrypoint {
    override run(_: WorkflowEvent, step: WorkflowStep): Promise<unknown> {
      return run(step);
    }
  }
  const app = await start({ ONE: defineEntrypoint({ name: "one" }, Entrypoint) });
  const handle = await app.workflows.ONE.create({ id: "a" });
  await handle.result();
  const status = await (await createBinding(app, "ONE").get("a")).status();
  return { ...status, details: await handle.details() };
}

describe("a class", () => {
  test("gets its environment, and its params and output have types", async () => {
    const definition = defineEntrypoint({ name: "greeter" }, Greeter, { env: { greeting: "Hello" } });
    const app = await start({ GREETER: definition });
    const result = await (await app.workflows.GREETER.create({ params: { name: "Ada" } })).result();
    expect(result.output).toBe("Hello, Ada");
    expectTypeOf(definition).toEqualTypeOf<WorkflowDefinition<{ readonly name: string }, string>>();
    expectTypeOf(createBinding(app, "GREETER")).toEqualTypeOf<Workflow<{ readonly name: string }>>();
  });

  test("may get an environment that exists only after the app", async () => {
    interface ParentEnv {
      readonly GREETER: Workflow<{ readonly name: string }>;
    }
    class Parent extends WorkflowEntrypoint<ParentEnv> {
      override async run(event: WorkflowEvent, step: WorkflowStep) {
        await step.do("start", async () => {
          await this.env.GREETER.create({ id: `${event.instanceId}-child`, params: { name: "Bob" } });
        });
      }
    }
    const app = await start({
      GREETER: defineEntrypoint({ name: "greeter" }, Greeter, { env: { greeting: "Hi" } }),
      PARENT: defineEntrypoint({ name: "parent" }, Parent, {
        env: (): ParentEnv => ({ GREETER: createBinding(app, "GREETER") }),
      }),
    });
    await (await app.workflows.PARENT.create({ id: "p" })).result();
    expect((await (await app.workflows.GREETER.get("p-child")).result()).output).toBe("Hi, Bob");
  });

  test("gets a context it can leave work to, which may fail", async () => {
    class Background extends WorkflowEntrypoint {
      override async run() {
        this.ctx.waitUntil(Promise.reject(new Error("nobody listens")));
        return "done";
      }
    }
    const app = await start({ BACKGROUND: defineEntrypoint({ name: "background" }, Background) });
    expect((await (await app.workflows.BACKGROUND.create()).result()).output).toBe("done");
  });

  test("need not extend ours", async () => {
    class Foreign {
      readonly #env: Env;
      constructor(_ctx: ExecutionContext, env: Env) {
        this.#env = env;
      }
      async run(event: WorkflowEvent<number>): Promise<string> {
        return `${this.#env.greeting} ${event.payload}`;
      }
    }
    const definition = defineEntrypoint({ name: "foreign" }, Foreign, { env: { greeting: "No." } });
    const app = await start({ FOREIGN: definition });
    expect((await (await app.workflows.FOREIGN.create({ params: 7 })).result()).output).toBe("No. 7");
  });

  test("whose constructor throws makes an errored instance, not a crash", async () => {
    class Broken extends WorkflowEntrypoint {
      constructor(ctx: ExecutionContext, env: unknown) {
        super(ctx, env);
        throw new TypeError("no database");
      }
    }
    const app = await start({ BROKEN: defineEntrypoint({ name: "broken" }, Broken) });
    const result = await (await app.workflows.BROKEN.create()).result();
    expect(result).toMatchObject({ status: "errored", error: { name: "TypeError", message: "no database" } });
  });

  test("without a run says so", async () => {
    class Empty extends WorkflowEntrypoint {}
    class Nothing {}
    const app = await start({
      EMPTY: defineEntrypoint({ name: "empty" }, Empty),
      NOTHING: defineEntrypoint({ name: "nothing" }, Nothing as never),
    });
    for (const handle of [app.workflows.EMPTY, app.workflows.NOTHING]) {
      const { error } = await (await handle.create()).result();
      expect(error?.message).toMatch(/^(Empty|Nothing) has no run method\./);
    }
    expect(() => defineEntrypoint({ name: "x" }, {} as never)).toThrow("needs a class");
  });

  test("has Cloudflare's limits unless it sets its own", () => {
    expect(defineEntrypoint({ name: "x" }, Greeter).limits).toMatchObject({
      maxSteps: 10_000,
      minWaitTimeoutMs: 0,
    });
    const own = defineEntrypoint({ name: "x", limits: { maxSteps: 25_000 } }, Greeter);
    expect(own.limits).toMatchObject({ maxSteps: 25_000, minWaitTimeoutMs: 0 });
  });
});

describe("an error has Cloudflare's name", () => {
  test("when an attempt timed out, and still counts as retries used up", async () => {
    const { status, error, details } = await outcomeOf((step) =>
      step.do("slow", { retries: { limit: 1, delay: 1 }, timeout: 20 }, () => new Promise(() => {})),
    );
    expect({ status, error }).toEqual({
      status: "errored",
      error: { name: "WorkflowTimeoutError", message: "Execution timed out after 20ms" },
    });
    expect(details.deadLetter).toBe(true);
  });

  test("when an attempt timed out, for the function that chooses the next delay", async () => {
    const seen: string[] = [];
    const delay = ({ error }: { readonly error: Error }): number => {
      seen.push(`${error.name}: ${error.message}`);
      return 1;
    };
    const { output } = await outcomeOf((step) =>
      step.do("slow", { retries: { limit: 1, delay }, timeout: 20 }, ({ attempt }) =>
        attempt === 1 ? new Promise(() => {}) : attempt,
      ),
    );
    expect({ output, seen }).toEqual({
      output: 2,
      seen: ["WorkflowTimeoutError: Execution timed out after 20ms"],
    });
  });

  test("when nobody answered a wait", async () => {
    const { error } = await outcomeOf((step) => step.waitForEvent("w", { type: "never", timeout: "20 ms" }));
    expect(error).toEqual({ name: "WorkflowTimeoutError", message: "Execution timed out after 20ms" });
  });

  test("when a wait inside a step was not answered, and the step is tried again", async () => {
    const { output } = await outcomeOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: 1 } }, async ({ attempt }) => {
        if (attempt === 1) await step.waitForEvent("w", { type: "never", timeout: 10 });
        return attempt;
      }),
    );
    expect(output).toBe(2);
  });

  test.each<[string, (step: WorkflowStep) => Promise<unknown>]>([
    ["a bad name", (step) => step.do("a\nb", async () => 1)],
    ["a missing callback", (step) => step.do("x", {} as never)],
    ["a bad config", (step) => step.do("x", { retries: { limit: -1 } }, async () => 1)],
    ["a bad duration", (step) => step.sleep("x", "banana")],
    ["a bad time", (step) => step.sleepUntil("x", Number.NaN)],
    ["a bad event type", (step) => step.waitForEvent("x", { type: "a b" })],
    [
      "a rollback handler",
      (step) => (step.do as (...given: unknown[]) => Promise<unknown>)("x", () => 1, {}),
    ],
  ])("for %s", async (_, call) => {
    const { status, error } = await outcomeOf(call);
    expect({ status, name: error?.name }).toEqual({ status: "errored", name: "WorkflowFatalError" });
  });

  test("for a value that cannot be kept, in a step and as output", async () => {
    const inStep = await outcomeOf((step) => step.do("x", async () => Symbol("x")));
    const asOutput = await outcomeOf(async () => () => {});
    expect([inStep.error?.name, asOutput.error?.name]).toEqual(["DataCloneError", "DataCloneError"]);
  });

  test("but the author's errors keep theirs, and a custom name stays final", async () => {
    let calls = 0;
    const { error } = await outcomeOf((step) =>
      step.do("pay", async () => {
        calls++;
        throw new NonRetryableError("card declined", "PaymentError");
      }),
    );
    expect({ error, calls }).toEqual({ error: { name: "PaymentError", message: "card declined" }, calls: 1 });
  });
});

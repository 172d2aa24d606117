/**
 * Who lives in a golden store: workflows for every state an instance can be left in. The code that writes a store and the
 * code that finds it years later run the same workflows; what differs is the world they live in. Only what every version
 * of the library has may be used here, and what was recorded once may not change: add another workflow instead.
 */
import { defineWorkflow, NonRetryableError, type WorkflowStep } from "everstep";
import { defineEntrypoint, WorkflowEntrypoint } from "everstep/cloudflare";

export interface World {
  /** "order-1/charge": bodies that were started. */
  readonly started: string[];
  /** While the store is written some bodies fail, and some never end. */
  readonly isBeingWritten: boolean;
}

/** With a stack that is the same wherever it is thrown. */
function bare<Thrown extends Error>(error: Thrown): Thrown {
  error.stack = `${error.name}: ${error.message}\n    at somewhere`;
  return error;
}

/** One of each that must survive. */
export const everyValue = {
  text: "ünïcödé 🎉 \0 \u2028 '\";--",
  numbers: [0, -0, 1.5, 1e21, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  nothing: [undefined, null, { there: undefined }],
  big: 2n ** 70n,
  date: new Date("2025-06-15T12:34:56.789Z"),
  map: new Map<unknown, unknown>([
    ["a", new Date(1)],
    [{ key: 1 }, new Set([1, "1"])],
  ]),
  set: new Set(["x", 2n]),
  bytes: new Uint8Array([0, 1, 254, 255]),
  pattern: /a+b/giu,
  error: bare(new RangeError("too far", { cause: bare(new TypeError("why")) })),
  keys: JSON.parse('{"__proto__":{"a":1},"constructor":2,"":3,"a.b":4,"10":5,"snake_case":6}'),
};

export function cast(world: World) {
  /** A body that notes its start. */
  const body =
    <Result>(id: string, name: string, work: () => Result | Promise<Result>) =>
    () => {
      world.started.push(`${id}/${name}`);
      return work();
    };
  const note = (step: WorkflowStep, id: string, name: string): Promise<string> =>
    step.do(
      name,
      body(id, name, () => `${name} of ${id}`),
    );

  const steps = defineWorkflow<{ count: number }>(
    { name: "steps" },
    async ({ instanceId, payload }, step) => {
      const results: string[] = [];
      await step.log.info("begun", { count: payload.count, at: new Date(0) });
      for (let n = 1; n <= payload.count; n++) results.push(await note(step, instanceId, `step ${n}`));
      return results;
    },
  );

  const sleeps = defineWorkflow({ name: "sleeps" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    await step.sleep("nap", "1 day");
    return [before, await note(step, instanceId, "after")];
  });

  const retries = defineWorkflow({ name: "retries" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    const flaky = await step.do(
      "flaky",
      { retries: { limit: 2, delay: "1 hour", backoff: "constant" } },
      body(instanceId, "flaky", () => {
        if (world.isBeingWritten) throw Object.assign(bare(new TypeError("not yet")), { status: 503 });
        return "at last";
      }),
    );
    return [before, flaky];
  });

  const events = defineWorkflow({ name: "events" }, async ({ instanceId }, step) => {
    const first = await step.waitForEvent("first", { type: "note", timeout: "30 days" });
    const late = await step
      .waitForEvent("late", { type: "never", timeout: "1 hour" })
      .catch(({ code }: { code: string }) => code);
    const after = await note(step, instanceId, "after");
    const approval = await step.waitForEvent("approval", { type: "approved", timeout: "60 days" });
    const second = await step.waitForEvent("second", { type: "note", timeout: "60 days" });
    return [first.payload, late, after, approval.payload, second.payload];
  });

  const topics = defineWorkflow({ name: "topics" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    const news = await step.waitForEvent("news", { topic: "news.daily", timeout: "60 days" });
    return [before, news.payload];
  });

  const held = defineWorkflow({ name: "held" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    const long = await step.do(
      "long",
      { timeout: "1 hour" },
      body(instanceId, "long", async () => {
        if (world.isBeingWritten) await new Promise(() => {});
        return "done after all";
      }),
    );
    return [before, long];
  });

  const fails = defineWorkflow({ name: "fails" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    const failing = await step.do(
      "failing",
      { retries: { limit: 1, delay: "1 minute" } },
      body(instanceId, "failing", () => {
        if (world.isBeingWritten) throw bare(new Error("no", { cause: bare(new Error("because")) }));
        return "repaired";
      }),
    );
    return [before, failing];
  });

  const refuses = defineWorkflow({ name: "refuses" }, async ({ instanceId }, step) => {
    const before = await note(step, instanceId, "before");
    const refused = await step.do(
      "refused",
      body(instanceId, "refused", () => {
        if (world.isBeingWritten) throw bare(new NonRetryableError("never"));
        return "accepted";
      }),
    );
    return [before, refused];
  });

  const once = defineWorkflow({ name: "once" }, async ({ instanceId }, step) =>
    step.do(
      "only once",
      { ifInterrupted: "fail", timeout: "1 hour" },
      body(instanceId, "only once", () => new Promise(() => {})),
    ),
  );

  const values = defineWorkflow({ name: "values" }, async ({ payload, instanceId }, step) => {
    const kept = await step.do(
      "keep",
      body(instanceId, "keep", () => everyValue),
    );
    await step.log.warn("kept", kept);
    const { payload: sent } = await step.waitForEvent("sent", { type: "sent", timeout: "60 days" });
    return { params: payload, kept, sent };
  });

  const branches = defineWorkflow({ name: "branches" }, async ({ instanceId }, step) => {
    const outer = step.do(
      "outer",
      { timeout: "90 days" },
      body(instanceId, "outer", async () => {
        const inner = [];
        for (let n = 0; n < 2; n++) {
          inner.push(
            await step.do(
              "inner",
              { repeat: true },
              body(instanceId, `inner ${n}`, () => `inner ${n}`),
            ),
          );
        }
        return inner;
      }),
    );
    const winner = await Promise.race([
      step.sleep("slow", "40 days").then(() => "slow"),
      step.sleep("quick", "1 minute").then(() => "quick"),
    ]);
    return [winner, await outer, (await step.waitForEvent("go", { type: "go", timeout: "60 days" })).payload];
  });

  const family = defineWorkflow<{ isChild?: boolean }>(
    { name: "family" },
    async ({ payload, instanceId }, step) => {
      if (payload.isChild) return (await step.waitForEvent("go", { type: "go", timeout: "60 days" })).payload;
      const child = await step.do("start", (context) => {
        world.started.push(`${instanceId}/start`);
        return context.startWorkflow("family", { id: `${instanceId}-child`, params: { isChild: true } });
      });
      await step.sleep("nap", "20 days");
      return child;
    },
  );

  class Ported extends WorkflowEntrypoint {
    override async run(event: { instanceId: string }, step: WorkflowStep): Promise<unknown> {
      const results: unknown[] = [];
      for (let n = 1; n <= 2; n++) {
        results.push(
          await step.do(
            "again",
            body(event.instanceId, `again ${n}`, () => n),
          ),
        );
        await step.sleep("nap", "1 day");
      }
      return results;
    }
  }
  const ported = defineEntrypoint({ name: "ported" }, Ported);

  return {
    steps,
    sleeps,
    retries,
    events,
    topics,
    held,
    once,
    fails,
    refuses,
    values,
    branches,
    family,
    ported,
  };
}

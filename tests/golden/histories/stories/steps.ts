/** Steps: their retries, nesting, repetition and failures. */
import { defineWorkflow, NonRetryableError, RetryAfterError } from "everstep";
import { handleOf, type Story } from "../story.ts";

const retried = defineWorkflow({ name: "golden-retries" }, async (_event, step) => {
  const retries = { limit: 3, delay: "1 minute", backoff: "exponential" } as const;
  const first = await step.do("third time lucky", { retries }, async ({ attempt }) => {
    if (attempt === 1) throw new TypeError("first", { cause: new RangeError("far") });
    if (attempt === 2) throw new RetryAfterError("second", "7 minutes");
    return { attempt };
  });
  const caught = await step
    .do("never", { retries: { limit: 1, delay: "1 second", backoff: "constant" } }, async () => {
      throw Object.assign(new Error("refused"), { status: 403 });
    })
    .catch((error: Error & { status?: number }) => `${error.message} ${error.status}`);
  const final = await step
    .do("at once", async () => {
      throw new NonRetryableError("no use");
    })
    .catch((error: Error) => error.name);
  return { first, caught, final };
});

const exhausted = defineWorkflow({ name: "golden-exhausted" }, async (_event, step) => {
  await step.do("fails for good", { retries: { limit: 1, delay: "1 minute" } }, async () => {
    throw new RangeError("still down");
  });
});

const nested = defineWorkflow({ name: "golden-nested" }, async (_event, step) => {
  const outer = await step.do(
    "outer/with a slash",
    { retries: { limit: 1, delay: "1 minute" } },
    async ({ attempt }) => {
      const inner = await step.do("inner", async () => `inner of attempt ${attempt}`);
      const deep = await step.do("middle", async () => step.do("deep", async () => attempt));
      await step.sleep("nap inside", "10 seconds");
      if (attempt === 1) throw new Error("outer failed once");
      return { inner, deep };
    },
  );
  const sums: number[] = [];
  for (let n = 0; n < 3; n++) sums.push(await step.do("sum", { repeat: true }, async () => n * n));
  const again = await step.do("same name", async () => "once");
  // The first of these histories are from when a second call of the name answered with the first result.
  return { outer, sums, again, twice: again };
});

const repeated = defineWorkflow({ name: "golden-repeated" }, async (_event, step) => {
  const asked: unknown[] = [await step.do("ask#2", async () => "a name of its own")];
  for (let n = 1; n < 3; n++) asked.push(await step.do("ask", async () => `answer ${n}`));
  asked.push(
    ...(await Promise.all(
      [3, 4].map((n) => step.do("ask", { repeat: true }, async () => `answer ${n}, side by side`)),
    )),
  );
  const open = step.sleep("ask", "1 minute");
  const refused = await step
    .do("ask", async () => "never")
    .catch(({ code }: Error & { code?: string }) => code);
  await open;
  const { payload } = await step.waitForEvent("ask", { type: "answer" });
  const inside = await step.do("outer", async () => [
    await step.do("part", async () => 1),
    await step.do("part", async () => 2),
  ]);
  return { asked, refused, payload, inside, last: await step.do("ask", async () => "last") };
});

const logged = defineWorkflow({ name: "golden-logs" }, async (_event, step) => {
  await step.log.info("begins", { at: "the top" });
  await step.do("noisy", async () => step.log.warn("from inside", [1n], { category: "billing" }));
  await step.log.debug("x".repeat(100));
  await step.sleep("nap", "1 hour");
  await step.log.error("ends", new Map([["a", undefined]]));
});

export const steps: readonly Story[] = [
  {
    name: "retries",
    workflows: { W: retried },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "retries" });
      await harness.runUntilIdle();
      await keep("between-attempts", instance);
      await harness.advance("1 hour");
      await keep("complete", instance);
    },
  },
  {
    name: "exhausted",
    workflows: { W: exhausted },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "exhausted" });
      await harness.advance("1 hour");
      await keep("errored", instance);
      await instance.retryFailedStep({ delay: "1 hour" });
      await harness.runUntilIdle();
      await keep("retried-by-hand", instance);
    },
  },
  {
    name: "nested",
    workflows: { W: nested },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "nested" });
      await harness.tick();
      await keep("inside", instance);
      await harness.advance("15 seconds");
      await keep("outer-failed", instance);
      await harness.advance("1 hour");
      await keep("complete", instance);
    },
  },
  {
    name: "repeated",
    workflows: { W: repeated },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "repeated" });
      await harness.runUntilIdle();
      await keep("asleep", instance);
      await harness.restartRunner();
      await harness.advance("1 minute");
      await keep("waiting", instance);
      await harness.restartRunner();
      await instance.sendEvent({ type: "answer", payload: "from outside" });
      await harness.runUntilIdle();
      await keep("complete", instance);
    },
  },
  {
    name: "logs",
    workflows: { W: logged },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "logs" });
      await harness.runUntilIdle();
      await keep("open", instance);
      await harness.restartRunner();
      await harness.advance("1 hour");
      await keep("complete", instance);
    },
  },
];

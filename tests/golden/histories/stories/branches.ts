/** Steps side by side, and what decides between them. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { handleOf, type Story } from "../story.ts";

/** The slower one is asked for first; a replay must not let it win. */
function racing(): Story {
  const gates = { slow: createGate(), fast: createGate() };
  const race = defineWorkflow({ name: "golden-race" }, async (_event, step) => {
    const winner = await Promise.race([
      step.do("slow", async () => gates.slow.wait().then(() => "slow")),
      step.do("fast", async () => gates.fast.wait().then(() => "fast")),
      step.sleep("too late", "1 hour").then(() => "too late"),
    ]);
    await step.do(`after ${winner}`, async () => winner);
    await step.sleep("nap", "10 minutes");
    return winner;
  });
  return {
    name: "race",
    workflows: { W: race },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "race" });
      await harness.tick();
      await keep("undecided", instance);
      await gates.fast.open();
      await gates.slow.open();
      await harness.runUntilIdle();
      await keep("decided", instance);
      await harness.advance("2 hours");
      await keep("complete", instance);
    },
  };
}

const joined = defineWorkflow({ name: "golden-joins" }, async (_event, step) => {
  const fails = (name: string) =>
    step.do(name, { retries: false }, async () => {
      throw new TypeError(name);
    });
  const all = await Promise.all(["a", "b", "c"].map((name) => step.do(`all ${name}`, async () => name)));
  const settled = await Promise.allSettled([fails("settled fails"), step.do("settled works", async () => 1)]);
  const any = await Promise.any([fails("any fails"), step.do("any works", async () => 2)]);
  const none = await Promise.any([fails("none a"), fails("none b")]).catch(
    (error: AggregateError) => error.errors.length,
  );
  return { all, settled: settled.map(({ status }) => status), any, none };
});

/** Three levels of all and race, each branch with steps of its own. */
const deep = defineWorkflow({ name: "golden-deep" }, async (_event, step) => {
  const branch = async (name: string, minutes: number) => {
    const before = await step.do(`${name} begins`, async () => name);
    await step.sleep(`${name} sleeps`, minutes * 60_000);
    return step.do(`${name} ends`, async () => `${before} after ${minutes}`);
  };
  return Promise.all([
    Promise.race([branch("a", 3), Promise.all([branch("b", 1), branch("c", 2)])]),
    Promise.race([Promise.all([branch("d", 2), branch("e", 5)]), branch("f", 4)]),
    branch("g", 10),
  ]);
});

/** A process dies after one of two steps has ended: the other is recorded behind it. */
const crashed = defineWorkflow({ name: "golden-crash" }, async (_event, step) => {
  const gate = crashGate;
  const both = await Promise.all([
    step.do("slow", async ({ attempt }) => {
      if (attempt === 1) await gate.wait();
      return attempt;
    }),
    step.do("fast", async () => "fast"),
  ]);
  await step.do("after both", async () => both);
  await step.sleep("nap", "1 hour");
  return both;
});
const crashGate = createGate();

export const branches: readonly Story[] = [
  racing(),
  {
    name: "joins",
    workflows: { W: joined },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "joins" });
      await harness.runUntilIdle();
      await keep("complete", instance);
    },
  },
  {
    name: "deep",
    workflows: { W: deep },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "deep" });
      await harness.advance("150 seconds");
      await keep("half-way", instance);
      await harness.advance("1 hour");
      await keep("complete", instance);
    },
  },
  {
    name: "crash",
    workflows: { W: crashed },
    async play(harness, keep) {
      const instance = await handleOf(harness, "W").create({ id: "crash" });
      await harness.tick();
      await keep("in-flight", instance);
      await harness.restartRunner();
      await harness.clock.advance("2 minutes");
      await harness.runUntilIdle();
      await keep("taken-over", instance);
      await harness.advance("2 hours");
      await keep("complete", instance);
    },
  },
];

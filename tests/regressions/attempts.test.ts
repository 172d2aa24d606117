/** How often a step is tried is its author's decision, whatever happens around it. */
import { defineWorkflow } from "everstep";
import type { HarnessRunner } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { seeded } from "./seeded.ts";

onEachStore("attempts", (tell) => {
  test.each([1, 2, 3])(
    "R-057 (INV-10) four runners whose leases run out at random make exactly the attempts that are allowed (seed %i)",
    async (seed) => {
      const random = seeded(seed);
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
        step.do("failing", { retries: { limit: 3, delay: "20 seconds", backoff: "constant" } }, async () => {
          await story.clock.sleep(Math.floor(random() * 60_000));
          throw new Error("no");
        }),
      );
      const story = tell({ W: workflow }, { limits: { maxCrashes: 1000 } });
      await story.workflows.W.createBatch(Array.from({ length: 5 }, (_, n) => ({ id: `i${n}` })));
      const runners = ["a", "b", "c", "d"].map((name) => story.runner(name));
      const pick = (): HarnessRunner => runners[Math.floor(random() * 4)] as unknown as HarnessRunner;
      for (let act = 0; act < 150; act++) {
        const runner = pick();
        if (runner.state === "running") await runner.tick();
        if (random() < 0.2) runner.freeze();
        if (random() < 0.3) await pick().thaw();
        await story.clock.advance(Math.floor(random() * 20_000));
      }
      for (const runner of runners) await runner.thaw();
      await story.advance("1 hour", { runners: ["a", "b", "c", "d"] });
      for (let n = 0; n < 5; n++) {
        expect(await story.status(`i${n}`)).toMatchObject({ status: "errored", error: { message: "no" } });
        const [step] = (await story.history(`i${n}`)).steps;
        expect(step).toMatchObject({ attempts: 4, status: "errored" });
        // They are numbered by start; the starts in between were cut off.
        expect(step?.errors).toHaveLength(4);
        expect(step?.errors.map(({ attempt }) => attempt)).toEqual(
          step?.errors.map(({ attempt }) => attempt).toSorted((one, other) => one - other),
        );
      }
    },
  );

  test.each([
    { failure: "conflict", applied: false },
    { failure: "unavailable", applied: false },
    { failure: "ambiguous", applied: false },
    { failure: "ambiguous", applied: true },
  ] as const)(
    "R-058 (INV-10) a commit that fails five times ($failure, applied: $applied) costs no attempt and no second body",
    async ({ failure, applied }) => {
      let calls = 0;
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("work", { retries: false }, async () => ++calls);
        await step.sleep("nap", "1 minute");
        return calls;
      });
      const story = tell({ W: workflow }, { runner: { lease: "5 minutes" } });
      await story.workflows.W.create({ id: "i" });
      story.runner().faults.fail("commit", failure, { times: 5, applied });
      await story.advance("5 minutes");
      expect(await story.status("i")).toEqual({ status: "complete", output: 1 });
      expect((await story.history("i")).steps[0]).toMatchObject({ attempts: 1, starts: 1, errors: [] });
    },
  );

  test("R-058 a body runs again only when its result is known to be lost, and that costs no attempt either", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", { retries: false }, async () => ++calls),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const a = story.runner("a");
    for (const verb of ["commit", "renew"] as const) a.faults.fail(verb, "unavailable", { times: 1000 });
    await a.tick();
    await story.clock.advance("1 minute");
    expect(calls).toBe(1);
    await story.tick();
    expect(await story.status("i")).toEqual({ status: "complete", output: 2 });
    expect((await story.history("i")).steps[0]).toMatchObject({ attempts: 1, errors: [] });
  });
});

/** A ledger of every start of a body, held against what is recorded, with a crash at every commit. */
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { recordOf } from "../scenarios/early-wake.ts";
import { onEachData, type TakeData } from "./each-data.ts";

const retries = { limit: 2, delay: "1 second", backoff: "constant" } as const;

/** Sequence, branches, a step in a step, a wait, and one that fails twice. */
function program(started: string[]) {
  const body = (key: string, fails = 0) => {
    return async ({ attempt }: { readonly attempt: number }) => {
      started.push(key);
      if (started.filter((each) => each === key).length <= fails) throw new Error(`start ${attempt}`);
      return key;
    };
  };
  return defineWorkflow({ name: "w" }, async (_event, step) => {
    const first = await step.do("first", { retries }, body("first"));
    const branches = await Promise.all([
      step.do("left", { retries }, body("left")),
      step.do("flaky", { retries: { ...retries, limit: 50 } }, body("flaky", 2)),
      step.do("outer", { retries }, async (context) => {
        await body("outer")(context);
        return step.do("inner", { retries }, body("outer/inner"));
      }),
    ]);
    await step.sleep("nap", "1 second");
    return [first, ...branches, await step.do("last", { retries }, body("last"))];
  });
}

/** A life in which a process dies at the n-th commit; what had been started and recorded then, and in the end. */
async function lifeWithDeath(take: TakeData, place: "before" | "after", nth: number) {
  const started: string[] = [];
  const story = createTestHarness({ workflows: { W: program(started) }, store: take().open });
  await story.workflows.W.create({ id: "i" });
  const doomed = story.runner("doomed");
  let commits = 0;
  const where = (): boolean => ++commits === nth;
  const stop = doomed[place === "before" ? "stopBefore" : "stopAfter"]("commit", { where });
  for (let n = 0; n < 6 && !stop.isReached; n++) {
    await doomed.tick();
    await story.clock.advance("1 second");
  }
  doomed.kill();
  const startedBefore = started.length;
  const { runId } = await recordOf(story, "i");
  const recorded = (await story.app.store.listSteps(runId, { limit: 100 })).items;
  await story.advance("5 minutes");
  const status = await story.status("i");
  const { steps } = await story.history("i");
  await story.stop();
  const done = recorded.filter((step) => step.status === "completed").map(({ key }) => key);
  return { wasReached: stop.isReached, status, started, startedBefore, done, steps };
}

onEachData("the ledger of starts", {}, (take) => {
  test("INV-8, INV-9 whatever commit a process dies at, no finished step begins again, and every start is accounted for", async () => {
    for (const place of ["before", "after"] as const) {
      for (let nth = 1; ; nth++) {
        const { wasReached, status, started, startedBefore, done, steps } = await lifeWithDeath(
          take,
          place,
          nth,
        );
        const where = `${place} commit ${nth}`;
        const output = ["first", "left", "flaky", "outer/inner", "last"];
        expect(status, where).toEqual({ status: "complete", output });
        // What was durable when it died does not begin again.
        for (const key of started.slice(startedBefore)) expect(done, where).not.toContain(key);
        const starts = (key: string): number => started.filter((each) => each === key).length;
        for (const step of steps.filter(({ type }) => type === "do")) {
          const cutOff = step.starts - step.attempts;
          expect(cutOff, `${where}: ${step.stepKey}`).toBeGreaterThanOrEqual(0);
          // The death may have come between a start and word of it, or between word of it and the start.
          const unheard = starts(step.stepKey) - step.starts;
          expect([-1, 0, 1], `${where}: ${step.stepKey}`).toContain(unheard);
          expect(starts(step.stepKey), `${where}: ${step.stepKey}`).toBeGreaterThanOrEqual(step.attempts);
          if (!wasReached) expect([cutOff, unheard], step.stepKey).toEqual([0, 0]);
        }
        if (!wasReached) break;
      }
    }
  });
});

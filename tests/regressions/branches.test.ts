/** Branches of one run that park, fail, finish and dawdle beside each other. */
import { defineWorkflow } from "everstep";
import { createGate, type TestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const leaseMs = 30_000;

/** Five branches: one parks, one fails, one is quick, two are held at the gate. */
function fiveBranches(fails: "once" | "for good") {
  const gate = createGate();
  const started: string[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
    const held = (name: string) =>
      step.do(name, { timeout: "1 day" }, async ({ attempt }) => {
        started.push(`${name} ${attempt}`);
        await gate.wait();
        step.log.info(`${name} of start ${attempt}`);
        return `${name} of start ${attempt}`;
      });
    const retries = fails === "once" ? ({ limit: 1, delay: "1 minute" } as const) : false;
    return Promise.all([
      step.sleep("parked", "1 hour"),
      step.do("failing", { retries }, async ({ attempt }) => {
        started.push(`failing ${attempt}`);
        if (attempt === 1) throw new Error("no");
        return "failing";
      }),
      step.do("quick", async ({ attempt }) => {
        started.push(`quick ${attempt}`);
        return "quick";
      }),
      held("slow a"),
      held("slow b"),
    ]);
  });
  return { workflow, gate, started };
}

async function everything(story: TestHarness) {
  return {
    record: await recordOf(story, "i"),
    history: await story.history("i"),
    logs: await story.logs("i"),
  };
}

onEachStore("branches", (tell) => {
  test("R-038 when another process has taken the run over and parked it, branches of the first write nothing, and what was done is not done again", async () => {
    const { workflow, gate, started } = fiveBranches("once");
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const zombie = story.runner("zombie");
    await zombie.tick();
    expect(started).toEqual(["failing 1", "quick 1", "slow a 1", "slow b 1"]);
    expect(await story.steps("i")).toEqual(["parked waiting", "failing waiting", "quick completed"]);
    zombie.freeze();
    // Both bodies end while nothing moves in their process.
    await gate.open();
    await story.clock.advance(leaseMs);
    await story.runner("heir").tick();
    const parked = await everything(story as unknown as TestHarness);
    expect(parked.record).toMatchObject({ status: "waiting", executing: false });
    expect(started.slice(4)).toEqual(["slow a 2", "slow b 2"]);
    await zombie.thaw();
    await story.clock.advance("10 seconds");
    expect(await everything(story as unknown as TestHarness)).toEqual(parked);
    await story.advance("2 hours", { runners: ["heir"] });
    expect(await story.status("i")).toEqual({
      status: "complete",
      output: [undefined, "failing", "quick", "slow a of start 2", "slow b of start 2"],
    });
    expect(started.slice(6)).toEqual(["failing 2"]);
  });

  test("R-038 when one branch has failed the run, those that still work write nothing more", async () => {
    const { workflow, gate, started } = fiveBranches("for good");
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.tick();
    const ended = await everything(story as unknown as TestHarness);
    expect(ended.record).toMatchObject({ status: "errored", dueAt: null, executing: false });
    await gate.open();
    await story.advance("2 hours");
    expect(await everything(story as unknown as TestHarness)).toEqual(ended);
    expect(started).toEqual(["failing 1", "quick 1", "slow a 1", "slow b 1"]);
  });

  test.each([0, 1000])(
    "R-039 of ten steps the seventh fails twice: its body starts three times, all others once (%i residents)",
    async (maxResidents) => {
      const starts = Array<number>(10).fill(0);
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        const results: number[] = [];
        for (let n = 0; n < 10; n++) {
          const work = (): number => {
            starts[n]!++;
            if (n === 6 && starts[n]! < 3) throw new Error("not yet");
            return n;
          };
          results.push(await step.do(`step ${n + 1}`, { retries: { limit: 2, delay: "1 minute" } }, work));
        }
        return results;
      });
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      await story.workflows.W.create({ id: "i" });
      await story.advance("1 hour");
      expect(await story.status("i")).toEqual({ status: "complete", output: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
      expect(starts).toEqual([1, 1, 1, 1, 1, 1, 3, 1, 1, 1]);
      const { steps } = await story.history("i");
      expect(steps.map((step) => [step.attempts, step.starts])).toEqual(starts.map((n) => [n, n]));
    },
  );
});

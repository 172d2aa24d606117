/** Author code that is busy outside of any step, beside a wait, is heard whatever became of its turn. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

onEachStore("a branch that is busy beside a wait", (tell) => {
  const begin = async (maxResidents: number) => {
    const gate = createGate();
    let computations = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const compute = async () => {
        computations++;
        await gate.wait();
        return step.do("go on", async () => "went on");
      };
      return Promise.race([step.sleep("give up", "30 days").then(() => "gave up"), compute()]);
    });
    const story = tell({ W: workflow }, { runner: { maxResidents } });
    await story.workflows.W.createBatch([{ id: "i" }, { id: "j" }]);
    const a = story.runner("a");
    await a.start();
    await story.clock.advance("5 seconds");
    expect((await story.status("i")).status).toBe("waiting");
    const outputs = async () => [(await story.status("i")).output, (await story.status("j")).output];
    return { story, a, gate, outputs, computations: () => computations };
  };

  test("LIV-1 goes on where it was, although its turn was dropped from memory", async () => {
    const { story, gate, outputs, computations } = await begin(0);
    await gate.open();
    await story.clock.advance("5 seconds");
    expect(await outputs()).toEqual(["went on", "went on"]);
    expect(computations()).toBe(2);
  });

  test("LIV-1 begins again elsewhere, although its process stopped meanwhile", async () => {
    const { story, a, gate, outputs } = await begin(1);
    await a.stop();
    const b = story.runner("b");
    await b.start();
    await story.clock.advance("5 seconds");
    await gate.open();
    await story.clock.advance("5 seconds");
    expect(await outputs()).toEqual(["went on", "went on"]);
  });
});

/** Instances outlive the code that created them. */
import { defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";

onEachStore("deploys", (tell) => {
  test("R-087 a run that waits for a month goes on in the fortieth build since", async () => {
    let build = 1;
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const createdBy = await step.do("created by", async () => build);
      // Every build has other code behind the wait.
      const { payload } = await step.waitForEvent<string>("approval", {
        type: "approved",
        timeout: "60 days",
      });
      const finishedBy = await step.do(`of build ${build}`, async () => {
        ran.push(`of build ${build}`);
        return build;
      });
      return { createdBy, payload, finishedBy };
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    for (build = 2; build <= 40; build++) {
      await story.restartRunner();
      await story.advance("18 hours");
      expect(await story.status("i")).toEqual({ status: "waiting" });
    }
    build = 40;
    await story.sendEvent("i", { type: "approved", payload: "at last" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({
      status: "complete",
      output: { createdBy: 1, payload: "at last", finishedBy: 40 },
    });
    expect(ran).toEqual(["of build 40"]);
  });
});

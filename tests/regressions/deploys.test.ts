/** Instances outlive the code that created them. */
import { createWorkflows, defineWorkflow, type WorkflowDefinition } from "everstep";
import { describe, expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { quiet } from "./quiet.ts";

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

  describe("INV-21 code that has changed under a run", () => {
    /** A run that has done "old" and sleeps, and then meets the next build. */
    const meet = async (next: WorkflowDefinition["run"]) => {
      let isNext = false;
      const ran: string[] = [];
      const first: WorkflowDefinition["run"] = async (_event, step) => {
        const old = await step.do("old", async () => ran.push("old"));
        await step.sleep("nap", "1 hour");
        return old;
      };
      const workflow = defineWorkflow({ name: "w" }, (event, step) =>
        isNext ? next(event, step) : first(event, step),
      );
      const other = defineWorkflow({ name: "other" }, async (_event, step) =>
        step.do("work", async () => "as ever"),
      );
      const story = tell({ W: workflow, OTHER: other });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      isNext = true;
      await story.restartRunner();
      await story.workflows.OTHER.create({ id: "other" });
      await story.advance("2 hours");
      expect(await story.status("other")).toEqual({ status: "complete", output: "as ever" });
      return { story, ran, status: await story.status("i") };
    };

    test("a step that was renamed runs under its new name, once", async () => {
      const { status, ran } = await meet(async (_event, step) => {
        const renamed = await step.do("new", async () => "new");
        await step.sleep("nap", "1 hour");
        return renamed;
      });
      expect(status).toEqual({ status: "complete", output: "new" });
      expect(ran).toEqual(["old"]);
    });

    test("a step that was removed is not missed", async () => {
      const { status } = await meet(async (_event, step) => {
        await step.sleep("nap", "1 hour");
        return "without it";
      });
      expect(status).toEqual({ status: "complete", output: "without it" });
    });

    test("a step that became another kind of step ends the run with what was recorded and what was asked for", async () => {
      const { status } = await meet(async (_event, step) => {
        await step.sleep("old", "1 hour");
      });
      expect(status).toMatchObject({
        status: "errored",
        error: {
          code: "STEP_TYPE_MISMATCH",
          message: expect.stringMatching(/"old".*do.*sleep|"old".*sleep.*do/s),
        },
      });
    });

    test("a workflow that no process knows any more waits for one that does, and holds nobody up", async () => {
      const gone = defineWorkflow({ name: "gone" }, async (_event, step) => {
        await step.sleep("nap", "1 minute");
        return "back again";
      });
      const other = defineWorkflow({ name: "other" }, async () => "as ever");
      const story = tell({ GONE: gone, OTHER: other });
      await story.workflows.GONE.create({ id: "i" });
      await story.runUntilIdle();
      // A build without it, on the same data.
      const { store } = story.app;
      const build = createWorkflows({
        workflows: { OTHER: other },
        store,
        runtime: story.runtime,
        ...quiet(),
      });
      await story.clock.advance("1 hour");
      await build.workflows.OTHER.create({ id: "other" });
      const processed = build.tick();
      await story.settle();
      expect(await processed).toEqual({ processed: 1 });
      expect(await story.status("other")).toEqual({ status: "complete", output: "as ever" });
      expect(await (await story.workflows.GONE.get("i")).details()).toMatchObject({
        status: "waiting",
        queued: true,
      });
      // And one that has it again.
      await story.restartRunner();
      await story.runUntilIdle();
      expect(await story.status("i")).toEqual({ status: "complete", output: "back again" });
    });
  });
});

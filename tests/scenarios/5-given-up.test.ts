import { defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

onEachStore("Runs that were given up", (tell) => {
  test("a body that kills its process ends the run as CRASH_LOOP, a dead letter that can be retried where it was", async () => {
    let deadly = true;
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w", limits: { maxCrashes: 3 } }, async (_event, step) => {
      await step.do("first", async () => ran.push("first"));
      return step.do("deadly", async () => {
        ran.push("deadly");
        if (deadly) await new Promise(() => story.runner().kill());
        return "survived";
      });
    });
    const story = tell({ W: workflow }, { patience: 1 });
    const instance = await story.workflows.W.create({ id: "i" });
    for (let crash = 0; crash < 6 && (await story.status("i")).status !== "errored"; crash++) {
      await story.tick();
      await story.restartRunner();
      await story.clock.advance("10 minutes");
    }
    expect(await story.status("i")).toMatchObject({ status: "errored", error: { code: "CRASH_LOOP" } });
    expect((await instance.details()).deadLetter).toBe(true);
    expect(ran.filter((name) => name === "first")).toHaveLength(1);
    deadly = false;
    await (await story.workflows.W.get("i")).retryFailedStep();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "survived" });
    expect(ran.filter((name) => name === "first")).toHaveLength(1);
  });

  test("a child whose params do not fit is refused in the step that starts it, once", async () => {
    const schema = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) =>
          (value as { n?: number })?.n === 1 ? { value } : { issues: [{ message: "n must be 1" }] },
      },
    };
    const child = defineWorkflow({ name: "child", params: schema }, async () => "ran");
    let bodies = 0;
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
      step.do("spawn", async ({ startWorkflow }) => {
        bodies++;
        startWorkflow(child, { id: "c", params: { n: 2 } });
      }),
    );
    const story = tell({ PARENT: parent, CHILD: child });
    await story.workflows.PARENT.create({ id: "p" });
    await story.advance("1 hour");
    expect(await story.status("p")).toMatchObject({
      status: "errored",
      error: { code: "WORKFLOW_PARAMS_INVALID" },
    });
    expect(bodies).toBe(1);
    expect((await story.app.counts("child")).active).toBe(0);
  });
});

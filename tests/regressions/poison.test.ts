/** One instance that kills every process it runs in, and answers that are lost, harm nobody else. */
import { defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

onEachStore("crashes", (tell) => {
  test("(INV-14) an instance that kills its process is given up, and none of its 12 neighbours is", async () => {
    const killed = { count: 0, now: () => {} };
    const healthy = defineWorkflow({ name: "healthy" }, async (_event, step) => {
      return step.do("work", async () => {
        await story.clock.sleep(2000);
        return "done";
      });
    });
    const poison = defineWorkflow({ name: "poison" }, async (_event, step) =>
      step.do("kill", async () => {
        killed.count += 1;
        killed.now();
        await new Promise(() => {});
      }),
    );
    const story = tell({ HEALTHY: healthy, POISON: poison });
    await story.workflows.HEALTHY.createBatch(Array.from({ length: 12 }, (_, n) => ({ id: `h${n}` })));
    await story.workflows.POISON.create({ id: "p" });
    const isOver = async (): Promise<boolean> => {
      const { active, waiting } = await story.app.counts();
      return active + waiting === 0;
    };
    for (let life = 0; life < 40 && !(await isOver()); life++) {
      const runner = story.runner(`life ${life}`);
      let isDead = false;
      killed.now = () => {
        isDead = true;
        runner.kill();
      };
      await runner.start();
      for (let n = 0; n < 100 && !isDead && !(await isOver()); n++) await story.clock.advance("4 seconds");
      if (!isDead) runner.kill();
    }
    const { items } = await story.workflows.HEALTHY.list();
    expect(items.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => "complete"));
    expect((await (await story.workflows.POISON.get("p")).status()).error).toMatchObject({
      code: "CRASH_LOOP",
    });
    expect(killed.count).toBe(10);
  });

  test("(INV-14) answers to claims that are lost are no crashes: what they handed out is given back", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => "done"),
    );
    const story = tell({ W: workflow });
    await story.workflows.W.createBatch(Array.from({ length: 20 }, (_, n) => ({ id: `i${n}` })));
    const runner = story.runner("a");
    for (let n = 0; n < 12; n++) {
      const stop = runner.stopAfter("claim");
      const ticking = runner.app.tick().catch(() => null);
      await story.settle();
      expect(stop.isReached).toBe(true);
      expect(await recordOf(story, "i0")).toMatchObject({ executing: true });
      await stop.loseReply();
      await ticking;
      // Long before the leases that nobody heard of are over.
      await story.clock.advance("2 seconds");
      for (const id of ["i0", "i19"])
        expect(await recordOf(story, id)).toMatchObject({ executing: false, crashCount: 0 });
      await story.clock.advance("8 seconds");
    }
    await runner.tick();
    expect(await story.app.counts()).toMatchObject({ complete: 20, errored: 0 });
  });
});

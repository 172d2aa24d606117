/** A client's request whose reply was lost is repeated: it has the effect of one, and its caller hears of success. */
import { defineWorkflow } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "../scenarios/each-store.ts";
import { recordOf } from "../scenarios/early-wake.ts";

const hold = defineWorkflow({ name: "hold" }, async (_event, step) => {
  await step.do("a", async () => 1);
  await step.waitForEvent("go", { type: "go" });
});

const failing = defineWorkflow({ name: "failing" }, async (_event, step) => {
  await step.do("a", { retries: false }, async () => {
    throw new Error("no");
  });
});

onEachStore("lost replies to clients", (tell) => {
  const tellHold = () => {
    const story = tell({ HOLD: hold, FAILING: failing });
    const main = story.runner("main");
    /** The next such request takes effect, its reply is lost, and enough time passes for the repeat. */
    const losing = async <Result>(verb: "change" | "create", act: () => Promise<Result>): Promise<Result> => {
      main.faults.fail(verb, "ambiguous", { applied: true });
      const acting = act();
      acting.catch(() => {});
      await story.clock.advance("10 seconds");
      return acting;
    };
    return { story, workflows: main.workflows, losing };
  };

  test.each([{}, { from: "go" }])("restart(%o) makes one new run", async (options) => {
    const { story, workflows, losing } = tellHold();
    const instance = await workflows.HOLD.create({ id: "i" });
    await story.runUntilIdle();
    await losing("change", () => instance.restart(options));
    expect(await instance.details()).toMatchObject({ status: "active", runNumber: 2 });
  });

  test("restarts by two callers at once are two restarts", async () => {
    const { story, workflows } = tellHold();
    const instance = await workflows.HOLD.create({ id: "i" });
    await story.runUntilIdle();
    await Promise.all([instance.restart(), instance.restart()]);
    expect((await instance.details()).runNumber).toBe(3);
  });

  test("restartOrCreate makes one new run", async () => {
    const { story, workflows, losing } = tellHold();
    const instance = await workflows.HOLD.create({ id: "i" });
    await story.runUntilIdle();
    const { outcome } = await losing("change", () => workflows.HOLD.restartOrCreate({ id: "i" }));
    expect(outcome).toBe("restarted");
    expect((await instance.details()).runNumber).toBe(2);
  });

  test("restartOrCreate does not restart what it has just created", async () => {
    const { workflows, losing } = tellHold();
    const { outcome, instance } = await losing("create", () => workflows.HOLD.restartOrCreate({ id: "i" }));
    expect(outcome).toBe("created");
    expect((await instance.details()).runNumber).toBe(1);
  });

  test("terminate succeeds", async () => {
    const { story, workflows, losing } = tellHold();
    const instance = await workflows.HOLD.create({ id: "i" });
    await story.runUntilIdle();
    await losing("change", () => instance.terminate());
    expect(await instance.status()).toEqual({ status: "terminated" });
  });

  test("retryFailedStep gives one more attempt", async () => {
    const { story, workflows, losing } = tellHold();
    const instance = await workflows.FAILING.create({ id: "i" });
    await story.runUntilIdle();
    await losing("change", () => instance.retryFailedStep());
    await story.runUntilIdle();
    expect((await story.history("i")).steps[0]).toMatchObject({ attempts: 2 });
  });

  test("create gives the instance it created, and still refuses another's", async () => {
    const { workflows, losing } = tellHold();
    const instance = await losing("create", () => workflows.HOLD.create({ id: "i", params: { n: 1 } }));
    expect(await instance.status()).toEqual({ status: "active" });
    const again = losing("create", () => workflows.HOLD.create({ id: "i", params: { n: 2 } }));
    await expect(again).rejects.toMatchObject({ code: "INSTANCE_ID_ALREADY_EXISTS" });
  });

  test.each(["it is asked again", "asking again fails for good"])(
    "(INV-14) create leaves no lease that nobody holds: the instance runs at once, when %s",
    async (how) => {
      const { story, workflows } = tellHold();
      const main = story.runner("main");
      await main.start();
      main.faults.fail("create", "ambiguous", { applied: true });
      if (how !== "it is asked again") main.faults.fail("create", "fatal");
      const creating = workflows.HOLD.create({ id: "i" }).then(
        () => "it is asked again",
        () => "asking again fails for good",
      );
      // Much less than a lease.
      await story.clock.advance("10 seconds");
      expect(await creating).toBe(how);
      expect(await story.steps("i")).toEqual(["a completed", "go waiting"]);
      expect(await recordOf(story, "i", "hold")).toMatchObject({ crashCount: 0 });
    },
  );

  test("(INV-1) create takes nothing from another runner that is at it by then", async () => {
    const gate = createGate();
    const begun: AbortSignal[] = [];
    const held = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", { timeout: "1 day" }, async ({ signal }) => {
        begun.push(signal);
        await gate.wait();
      }),
    );
    const story = tell({ HELD: held });
    const [creator, worker, rival] = ["creator", "worker", "rival"].map((name) => story.runner(name));
    await creator!.start();
    // It is created with a lease for its creator, who does not hear of it and asks again later.
    const unheard = creator!.stopAfter("create");
    const creating = creator!.workflows.HELD.create({ id: "i" });
    await story.settle();
    expect(unheard.isReached).toBe(true);
    expect(await recordOf(story, "i")).toMatchObject({ executing: true });
    await worker!.start();
    await story.clock.advance("31 seconds");
    expect(begun).toHaveLength(1);
    const { token } = await recordOf(story, "i");

    await unheard.loseReply();
    await story.clock.advance("5 seconds");
    expect(await (await creating).status()).toEqual({ status: "active" });
    expect(await recordOf(story, "i")).toMatchObject({ token, executing: true });
    await rival!.start();
    await story.clock.advance("2 minutes");
    expect(begun.map(({ aborted }) => aborted)).toEqual([false]);
    await gate.open();
    expect(await story.status("i")).toMatchObject({ status: "complete" });
    expect(begun).toHaveLength(1);
  });
});

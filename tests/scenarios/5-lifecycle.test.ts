import { defineWorkflow, type InstanceHandle } from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachStore } from "./each-store.ts";

const hold = defineWorkflow({ name: "hold" }, async (event, step) => {
  await step.do("first", async () => "first");
  const { payload } = await step.waitForEvent("go", { type: "go" });
  return { payload, params: event.payload };
});

const code = (error: unknown) => (error as { code?: string }).code;
const codeOf = async (act: () => Promise<unknown>) => act().then(() => "no error", code);

onEachStore("4.5 Lifecycle management", (tell) => {
  test("101. a duplicate id is refused, and the first instance and its checkpoints are unchanged", async () => {
    const story = tell({ HOLD: hold });
    const first = await story.workflows.HOLD.create({ id: "i", params: { n: 1 } });
    await story.runUntilIdle();
    const before = await story.history("i");
    expect(await codeOf(() => story.workflows.HOLD.create({ id: "i", params: { n: 2 } }))).toBe(
      "INSTANCE_ID_ALREADY_EXISTS",
    );
    const same = await story.workflows.HOLD.create({ id: "i", params: { n: 3 }, ifExists: "return" });
    expect(same.id).toBe("i");
    expect(await story.history("i")).toEqual(before);
    await first.sendEvent({ type: "go" });
    await story.runUntilIdle();
    expect((await story.status("i")).output).toMatchObject({ params: { n: 1 } });
  });

  test("102. createBatch skips existing and repeated ids and leaves them out; 101 are refused; none is fine", async () => {
    const story = tell({ HOLD: hold });
    await story.workflows.HOLD.create({ id: "old", params: { n: 0 } });
    const made = await story.workflows.HOLD.createBatch([
      { id: "old", params: { n: 1 } },
      { id: "a", params: { n: 2 } },
      { id: "a", params: { n: 3 } },
      { id: "b" },
    ]);
    expect(made.map(({ id }) => id)).toEqual(["a", "b"]);
    expect((await (await story.workflows.HOLD.get("a")).details()).params).toEqual({ n: 2 });
    expect((await (await story.workflows.HOLD.get("old")).details()).params).toEqual({ n: 0 });
    const many = Array.from({ length: 101 }, (_, n) => ({ id: `n${n}` }));
    expect(await codeOf(() => story.workflows.HOLD.createBatch(many))).toBe("BATCH_TOO_LARGE");
    expect(await codeOf(() => story.workflows.HOLD.createBatch([{ id: "good" }, { id: "bad id" }]))).toBe(
      "INVALID_INSTANCE_ID",
    );
    expect(await codeOf(() => story.workflows.HOLD.get("good"))).toBe("INSTANCE_NOT_FOUND");
    expect(await story.workflows.HOLD.createBatch([])).toEqual([]);
  });

  test("103. all instances of a batch complete", async () => {
    const double = defineWorkflow({ name: "double" }, async (event, step) =>
      step.do("double", async () => event.payload.n * 2),
    );
    const story = tell({ DOUBLE: double });
    const batch = Array.from({ length: 100 }, (_, n) => ({ id: `n${n}`, params: { n } }));
    const made = await story.workflows.DOUBLE.createBatch(batch);
    await story.runUntilIdle();
    const outputs = await Promise.all(made.map(async (instance) => (await instance.status()).output));
    expect(outputs).toEqual(batch.map(({ params }) => params.n * 2));
    expect(await story.app.counts("double")).toMatchObject({ complete: 100, active: 0 });
  });

  test("104. get of an unknown id fails with the not-found code", async () => {
    const story = tell({ HOLD: hold });
    expect(await codeOf(() => story.workflows.HOLD.get("nobody"))).toBe("INSTANCE_NOT_FOUND");
  });

  test("105. pause then resume completes with the right output, and no step runs while paused", async () => {
    let ran = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 minute");
      return step.do("after", async () => ++ran);
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.pause();
    await story.advance("1 hour");
    expect(ran).toBe(0);
    expect((await instance.status()).status).toBe("paused");
    await instance.resume();
    await story.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "complete", output: 1 });
  });

  test("106. pause during a running step: that step is persisted, the next does not start", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("running", async () => {
        ran.push("running");
        await gate.wait();
      });
      await step.do("next", async () => ran.push("next"));
      return "done";
    });
    const story = tell({ W: workflow });
    const gate = createGate();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.tick();
    await instance.pause();
    expect((await instance.status()).status).toBe("paused");
    await gate.open();
    expect(ran).toEqual(["running"]);
    expect(await story.steps("i")).toEqual(["running completed"]);
    expect((await instance.details()).executing).toBe(false);
    await instance.resume();
    await story.runUntilIdle();
    expect(ran).toEqual(["running", "next"]);
    expect((await instance.status()).status).toBe("complete");
  });

  test("107. pause on terminal errors; pausing twice and resuming what is not paused have no effect", async () => {
    const story = tell({ HOLD: hold });
    const instance = await story.workflows.HOLD.create({ id: "i" });
    await story.runUntilIdle();
    await instance.resume();
    expect((await instance.status()).status).toBe("waiting");
    await instance.pause();
    await instance.pause();
    expect((await instance.status()).status).toBe("paused");
    await instance.resume();
    await instance.resume();
    await instance.sendEvent({ type: "go" });
    await story.runUntilIdle();
    expect(await codeOf(() => instance.pause())).toBe("INSTANCE_TERMINAL");
    await instance.resume();
    expect((await instance.status()).status).toBe("complete");
  });

  test("108. a pause requested between a runner's claim and its commit holds from that commit on", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("a", async () => ran.push("a"));
      await step.do("b", async () => ran.push("b"));
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    const stop = story.runner().stopBefore("commit");
    await story.tick();
    await (await story.runner("other").app.workflows.W.get("i")).pause();
    await stop.continue();
    await story.settle();
    expect(ran).toEqual(["a"]);
    expect(await story.steps("i")).toEqual(["a completed"]);
    expect((await instance.status()).status).toBe("paused");
  });

  test("109. terminate during a step: the status stays terminated although the body finishes later", async () => {
    const reasons: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("long", async ({ signal }) => {
        signal.addEventListener("abort", () => reasons.push((signal.reason as Error).message));
        await gate.wait();
        return "late";
      });
      await step.do("next", async () => reasons.push("must not run"));
    });
    const story = tell({ W: workflow });
    const gate = createGate();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.tick();
    await instance.terminate();
    await gate.open();
    await story.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "terminated" });
    expect(await story.steps("i")).toEqual([]);
    expect(reasons).toEqual(["The instance was terminated."]);
    expect(await codeOf(() => instance.terminate())).toBe("INSTANCE_TERMINAL");
  });

  test("110. after termination a pending wake does nothing and nothing is due any more", async () => {
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 hour");
      return "woke";
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.terminate();
    expect((await instance.details()).dueAt).toBeNull();
    await story.advance("2 hours");
    expect(await story.tick()).toBe(0);
    expect((await instance.status()).status).toBe("terminated");
  });

  test("111. terminate through a second handle in another process stops the execution", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("long", async () => gate.wait());
      await step.do("next", async () => ran.push("next"));
    });
    const story = tell({ W: workflow });
    const gate = createGate();
    await story.workflows.W.create({ id: "i" });
    await story.tick();
    await (await story.runner("other").app.workflows.W.get("i")).terminate();
    await gate.open();
    expect(ran).toEqual([]);
    expect(await story.status("i")).toEqual({ status: "terminated" });
  });

  test.each(["active", "waiting", "paused", "complete", "errored", "terminated"])(
    "112. restart from %s works and runs from the beginning",
    async (from) => {
      const runs: number[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        runs.push(await step.do("run", async () => runs.length + 1));
        if (runs.length === 1 && from === "errored") throw new Error("first run fails");
        if (runs.length === 1 && from !== "complete") await step.waitForEvent("go", { type: "go" });
        return runs.length;
      });
      const story = tell({ W: workflow });
      const instance = await story.workflows.W.create({ id: "i" });
      if (from !== "active") await story.runUntilIdle();
      if (from === "paused") await instance.pause();
      if (from === "terminated") await instance.terminate();
      expect((await instance.status()).status).toBe(from);
      await instance.restart();
      await story.runUntilIdle();
      expect((await instance.details()).runNumber).toBe(2);
      const expected = from === "active" ? { status: "waiting" } : { status: "complete", output: 2 };
      expect(await instance.status()).toEqual(expected);
    },
  );

  test("113. restart during a step: the old body's commit is refused, the new run completes", async () => {
    let bodies = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => {
        const mine = ++bodies;
        if (mine === 1) await gate.wait();
        return `run ${mine}`;
      }),
    );
    const story = tell({ W: workflow });
    const gate = createGate();
    await story.workflows.W.create({ id: "i" });
    await story.runner("slow").tick();
    await (await story.workflows.W.get("i")).restart();
    await story.runUntilIdle();
    await gate.open();
    expect(await story.status("i")).toEqual({ status: "complete", output: "run 2" });
    expect(await story.steps("i", { runNumber: 1 })).toEqual([]);
  });

  test("114. wakes from before a restart never advance the new run early", async () => {
    const woke: number[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.sleep("nap", "1 hour");
      woke.push(story.clock.now().getTime());
    });
    const story = tell({ W: workflow });
    const start = story.clock.now().getTime();
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("59 minutes");
    await instance.restart();
    await story.advance("2 hours");
    expect(woke).toEqual([start + (59 + 60) * 60_000]);
  });

  test("115. concurrent repeated restarts end with one consistent run", async () => {
    let bodies = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("work", async () => ++bodies),
    );
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await Promise.all(Array.from({ length: 5 }, () => instance.restart()));
    await story.runUntilIdle();
    expect((await instance.details()).runNumber).toBe(6);
    expect(await instance.status()).toEqual({ status: "complete", output: 2 });
    expect((await instance.runs()).map(({ runNumber, status }) => [runNumber, status])).toEqual([
      [6, "complete"],
      [5, "terminated"],
      [4, "terminated"],
      [3, "terminated"],
      [2, "terminated"],
      [1, "complete"],
    ]);
  });

  test("116. after restart the history of run 1 is still readable", async () => {
    const story = tell({ HOLD: hold });
    const instance = await story.workflows.HOLD.create({ id: "i" });
    await instance.sendEvent({ type: "go", payload: "run 1" });
    await story.runUntilIdle();
    await instance.restart();
    await story.runUntilIdle();
    const first = await instance.history({ runNumber: 1 });
    expect(first.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      "first completed",
      "go completed",
    ]);
    expect(first.events.map(({ payload }) => payload)).toEqual(["run 1"]);
    expect((await instance.history()).events).toEqual([]);
    expect(await codeOf(() => instance.history({ runNumber: 9 }))).toBe("RUN_NOT_FOUND");
  });

  const letters = ["zeta", "alpha", "mid"];
  const inOrder = (ran: string[]) =>
    defineWorkflow({ name: "letters" }, async (_event, step) => {
      for (const letter of letters) await step.do(letter, async () => ran.push(letter));
      return ran.length;
    });

  test("117, 118. restart from a step keeps what ran before it, in order of execution, not of the alphabet", async () => {
    const ran: string[] = [];
    const story = tell({ W: inOrder(ran) });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.restart({ from: "alpha" });
    await story.runUntilIdle();
    expect(ran).toEqual(["zeta", "alpha", "mid", "alpha", "mid"]);
    expect(await story.steps("i")).toEqual(["zeta completed", "alpha completed", "mid completed"]);
    expect(await codeOf(() => instance.restart({ from: "nobody" }))).toBe("STEP_NOT_FOUND");
    expect((await instance.details()).runNumber).toBe(2);
  });

  test("119. fork copies results below the step under a new id and leaves the original untouched", async () => {
    const ran: string[] = [];
    const story = tell({ W: inOrder(ran) });
    const instance = await story.workflows.W.create({ id: "i", params: { kept: true } });
    await story.runUntilIdle();
    const before = await story.history("i");
    const fork = await instance.fork({ from: "mid", newId: "fork" });
    await story.runUntilIdle();
    expect(fork.id).toBe("fork");
    expect(ran).toEqual(["zeta", "alpha", "mid", "mid"]);
    expect((await fork.details()).params).toEqual({ kept: true });
    expect(await story.steps("fork")).toEqual(["zeta completed", "alpha completed", "mid completed"]);
    expect(await story.history("i")).toEqual(before);
    expect(await codeOf(() => instance.fork({ newId: "fork" }))).toBe("INSTANCE_ID_ALREADY_EXISTS");
  });

  test("120. retry-failed-step: earlier steps cached, the failed one gets one more attempt, the run completes", async () => {
    const ran: string[] = [];
    let broken = true;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("before", async () => ran.push("before"));
      return step.do("failing", { retries: { limit: 1, delay: 1 } }, async () => {
        ran.push("failing");
        if (broken) throw new Error("broken");
        return "repaired";
      });
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("1 minute");
    broken = false;
    await instance.retryFailedStep({ delay: "1 hour" });
    expect((await instance.status()).status).not.toBe("errored");
    await story.advance("59 minutes");
    expect(ran).toEqual(["before", "failing", "failing"]);
    await story.advance("1 minute");
    expect(ran).toEqual(["before", "failing", "failing", "failing"]);
    expect(await instance.status()).toEqual({ status: "complete", output: "repaired" });
    expect((await instance.details()).runNumber).toBe(1);
  });

  test("121. retry-failed-step on a timed-out wait starts a fresh window and can take a late event", async () => {
    const workflow = defineWorkflow(
      { name: "w" },
      async (_event, step) => (await step.waitForEvent("go", { type: "go", timeout: "1 hour" })).payload,
    );
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.advance("2 hours");
    expect(await instance.status()).toMatchObject({
      status: "errored",
      error: { code: "WAIT_FOR_EVENT_TIMEOUT" },
    });
    await instance.retryFailedStep();
    await story.runUntilIdle();
    expect((await instance.status()).status).toBe("waiting");
    await story.advance("59 minutes");
    await instance.sendEvent({ type: "go", payload: "late" });
    await story.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "complete", output: "late" });
  });

  test("122. retry-failed-step releases events consumed inside the failed subtree and reruns its nested steps", async () => {
    let broken = true;
    let inner = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
      step.do("outer", { retries: false }, async () => {
        const { payload } = await step.waitForEvent("note", { type: "note" });
        await step.do("inner", async () => ++inner);
        if (broken) throw new Error("broken");
        return payload;
      }),
    );
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    await instance.sendEvent({ type: "note", payload: "kept" });
    await story.runUntilIdle();
    expect((await instance.status()).status).toBe("errored");
    broken = false;
    await instance.retryFailedStep();
    await story.runUntilIdle();
    expect(await instance.status()).toEqual({ status: "complete", output: "kept" });
    expect(inner).toBe(2);
  });

  test("123. retry-failed-step is refused: not errored, several failed steps, a later step completed", async () => {
    const fail = { retries: false } as const;
    const bad = async () => {
      throw new Error("no");
    };
    const several = defineWorkflow({ name: "several" }, async (_event, step) => {
      await Promise.allSettled([step.do("a", fail, bad), step.do("b", fail, bad)]);
      throw new Error("both failed");
    });
    const later = defineWorkflow({ name: "later" }, async (_event, step) => {
      await step.do("a", fail, bad).catch(() => {});
      await step.do("b", async () => "fine");
      throw new Error("afterwards");
    });
    const story = tell({ HOLD: hold, SEVERAL: several, LATER: later });
    const open = await story.workflows.HOLD.create({ id: "open" });
    const two = await story.workflows.SEVERAL.create({ id: "two" });
    const after = await story.workflows.LATER.create({ id: "after" });
    await story.runUntilIdle();
    expect(await codeOf(() => open.retryFailedStep())).toBe("INSTANCE_NOT_ERRORED");
    expect(await codeOf(() => two.retryFailedStep())).toBe("FAILED_STEP_NOT_RETRYABLE");
    expect(await codeOf(() => after.retryFailedStep())).toBe("FAILED_STEP_NOT_RETRYABLE");
    expect(await codeOf(() => after.retryFailedStep({ delay: "31 days" }))).toBe("INVALID_DURATION");
  });

  test("retry-failed-step works after failures that were caught, and why advises it only where it is accepted", async () => {
    const fail = { retries: false } as const;
    let isDown = true;
    const orders = defineWorkflow<{ undo: boolean }>({ name: "orders" }, async ({ payload }, step) => {
      await step
        .do("greet", fail, async () => {
          throw new Error("no mailbox");
        })
        .catch(() => {});
      await step.do("pack", async () => {});
      try {
        return await step.do("charge", fail, async () => {
          if (isDown) throw new Error("down");
          return "charged";
        });
      } catch (error) {
        if (payload.undo) await step.do("unpack", async () => {});
        throw new Error("order failed", { cause: error });
      }
    });
    const story = tell({ ORDERS: orders });
    const plain = await story.workflows.ORDERS.create({ id: "plain", params: { undo: false } });
    const undone = await story.workflows.ORDERS.create({ id: "undone", params: { undo: true } });
    await story.runUntilIdle();
    expect(await plain.why()).toMatchObject({ reason: "errored", mayRetry: true, stepKey: "charge" });
    expect(await undone.why()).toMatchObject({
      reason: "errored",
      mayRetry: false,
      advice: expect.stringContaining('"unpack" ran after it'),
    });
    isDown = false;
    expect(await codeOf(() => undone.retryFailedStep())).toBe("FAILED_STEP_NOT_RETRYABLE");
    await plain.retryFailedStep();
    await story.runUntilIdle();
    expect(await plain.status()).toEqual({ status: "complete", output: "charged" });
  });

  test("124. restart-or-create: created, unchanged or restarted by status and run number", async () => {
    const story = tell({ HOLD: hold });
    const at = (when?: object) =>
      story.workflows.HOLD.restartOrCreate({ id: "i", ...(when ? { when } : {}) });
    expect((await at()).outcome).toBe("created");
    await story.runUntilIdle();
    expect((await at({ statuses: ["complete"] })).outcome).toBe("unchanged");
    expect((await at({ runNumber: 7 })).outcome).toBe("unchanged");
    expect((await at({ statuses: ["waiting"], runNumber: 1 })).outcome).toBe("restarted");
    const races = await Promise.all([1, 2, 3].map(() => at({ runNumber: 2 })));
    expect(races.map(({ outcome }) => outcome).toSorted()).toEqual(["restarted", "unchanged", "unchanged"]);
  });

  test("125. maxRunDuration and maxSuspendDuration end the run with the recorded reason", async () => {
    const run = async (_event: unknown, step: import("everstep").WorkflowStep) => {
      for (let i = 0; i < 10; i++) await step.sleep(`nap ${i}`, "20 minutes");
    };
    const long = defineWorkflow({ name: "long", maxRunDuration: "1 hour" }, run);
    const idle = defineWorkflow({ name: "idle", maxSuspendDuration: "30 minutes" }, async (_event, step) => {
      await step.sleep("short", "20 minutes");
      await step.waitForEvent("never", { type: "never" });
    });
    const story = tell({ LONG: long, IDLE: idle });
    const one = await story.workflows.LONG.create({ id: "long" });
    const two = await story.workflows.IDLE.create({ id: "idle" });
    await story.advance("49 minutes");
    expect((await two.status()).status).toBe("waiting");
    await story.advance("1 minute");
    expect((await two.details()).terminationReason?.source).toBe("maxSuspendDuration");
    expect((await one.status()).status).toBe("waiting");
    await story.advance("10 minutes");
    expect((await one.details()).terminationReason?.source).toBe("maxRunDuration");
    expect((await one.status()).status).toBe("terminated");
  });

  test("126. a deadline that has passed at the claim ends the run without running steps", async () => {
    let ran = 0;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => step.do("a", async () => ++ran));
    const story = tell({ W: workflow });
    const deadline = new Date(story.clock.now().getTime() + 60_000);
    const instance = await story.workflows.W.create({ id: "i", deadline });
    await story.clock.advance("2 minutes");
    await story.runUntilIdle();
    expect(ran).toBe(0);
    expect(await instance.details()).toMatchObject({
      status: "terminated",
      terminationReason: { source: "deadline" },
    });
  });

  test("127. concurrency cap 1: the second waits, then runs; a queued one can be terminated", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w", concurrency: 1 }, async (event, step) => {
      await step.do("work", async () => {
        ran.push(event.instanceId);
        if (event.instanceId === "a") await gate.wait();
      });
    });
    const story = tell({ W: workflow });
    const gate = createGate();
    for (const id of ["a", "b", "c", "d"]) {
      await story.workflows.W.create({ id });
      await story.clock.advance(1);
    }
    await story.tick();
    await story.runner("other").tick();
    expect(ran).toEqual(["a"]);
    const queued = await (await story.workflows.W.get("b")).details();
    expect(queued).toMatchObject({ status: "active", queued: true, executing: false });
    await (await story.workflows.W.get("c")).terminate();
    await gate.open();
    await story.runUntilIdle();
    expect(ran).toEqual(["a", "b", "d"]);
  });

  test("128. retention removes old terminal runs and all their rows", async () => {
    const workflow = defineWorkflow({ name: "w", retention: "1 hour" }, async (_event, step) => {
      await step.do("a", async () => "a");
      await step.log.info("note");
    });
    const story = tell({ W: workflow, HOLD: hold });
    const instance = await story.workflows.W.create({ id: "i" });
    await story.workflows.HOLD.create({ id: "kept" });
    await story.runUntilIdle();
    const record = await story.app.store.getInstance({ workflowName: "w", instanceId: "i" });
    const runId = record?.runId ?? "";
    await story.advance("59 minutes");
    expect(await story.app.prune()).toBe(0);
    await story.advance("2 minutes");
    expect(await story.app.prune()).toBe(1);
    expect(await codeOf(() => instance.status())).toBe("INSTANCE_NOT_FOUND");
    expect((await story.app.store.listSteps(runId, { limit: 9 })).items).toEqual([]);
    expect((await story.app.store.listLogs(runId, { limit: 9 })).items).toEqual([]);
    expect((await story.status("kept")).status).toBe("waiting");
  });

  test("130. a parent is stored and hidden from the child's params", async () => {
    const child = defineWorkflow({ name: "child" }, async (event) => event.payload);
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) =>
      step.do("spawn", async ({ startWorkflow }) => startWorkflow(child, { params: { n: 1 } })),
    );
    const story = tell({ PARENT: parent, CHILD: child });
    await story.workflows.PARENT.create({ id: "p" });
    await story.runUntilIdle();
    const { output: id } = await story.status("p");
    const details = await (await story.workflows.CHILD.get(id)).details();
    expect(details.parent).toEqual({ workflowName: "parent", instanceId: "p" });
    expect(details.output).toEqual({ n: 1 });
  });

  test("131. what a terminated instance completed is kept by a restart from its first unfinished step", async () => {
    const ran: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("a", async () => ran.push("a"));
      await step.waitForEvent("go", { type: "go" });
      await step.do("b", async () => ran.push("b"));
    });
    const story = tell({ W: workflow });
    const instance: InstanceHandle = await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await instance.terminate();
    await instance.restart({ from: "go" });
    await instance.sendEvent({ type: "go" });
    await story.runUntilIdle();
    expect(ran).toEqual(["a", "b"]);
    expect((await instance.status()).status).toBe("complete");
  });
});

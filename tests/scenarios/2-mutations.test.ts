import {
  defineWorkflow,
  EverstepError,
  NonRetryableError,
  type StepConfig,
  type StepContext,
  type WaitOptions,
} from "everstep";
import { createGate } from "everstep/testing";
import { expect, test } from "vitest";
import { onEachTable } from "./author-tables.ts";

type Body = (context: StepContext) => unknown;

/** One step with the given body; notes which attempts ran. */
function writer(body: Body, config: StepConfig = {}) {
  const attempts: number[] = [];
  const workflow = defineWorkflow({ name: "w" }, async (_event, step) =>
    step.do("write", config, async (context) => {
      attempts.push(context.attempt);
      await body(context);
      return `written at ${context.attempt}`;
    }),
  );
  return { workflow, attempts };
}

const retryInAMinute: StepConfig = { retries: { limit: 2, delay: "1 minute", backoff: "constant" } };

onEachTable("4.2 Step mutations", (open) => {
  test("46. only the successful attempt's writes are applied, those of failed attempts never", async () => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ attempt, mutate, serviceCalls }) => {
      serviceCalls(() => [(db) => insert(db, `call ${attempt}`, "called")]);
      mutate((db) => insert(db, `row ${attempt}`, "written"));
      if (attempt < 3) throw new Error(`failure ${attempt}`);
    }, retryInAMinute);
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(rows()).toEqual({});
    await story.advance("1 minute");
    expect(rows()).toEqual({});
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 3" });
    expect(rows()).toEqual({ "call 3": "called", "row 3": "written" });
    expect(attempts).toEqual([1, 2, 3]);
  });

  test("46. the writes of an attempt that timed out are not applied, however late it ends (R-012)", async () => {
    const { tell, insert, rows } = open();
    const gate = createGate();
    const { workflow } = writer(
      async ({ attempt, mutate }) => {
        mutate((db) => insert(db, `before ${attempt}`, "written"));
        if (attempt === 1) await gate.wait();
        mutate((db) => insert(db, `after ${attempt}`, "written"));
      },
      { timeout: "1 second", retries: { limit: 1, delay: "1 second" } },
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 second");
    await gate.open();
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 2" });
    expect(rows()).toEqual({ "before 2": "written", "after 2": "written" });
  });

  test("row 39: service calls run first, then mutations, each in the order they were registered", async () => {
    const { tell, insert, rows, read } = open();
    const order: string[] = [];
    const write = (name: string) => (db: unknown) => {
      order.push(name);
      insert(db, name, "written");
    };
    const { workflow } = writer(({ mutate, serviceCalls }) => {
      mutate(write("mutation 1"));
      serviceCalls(() => [write("call 1"), write("call 2")]);
      mutate((db) => {
        order.push(`mutation 2 sees call 3: ${read(db, "call 3")}`);
        // Nobody outside sees it before the step is recorded.
        expect(rows()).toEqual({});
      });
      serviceCalls(() => [write("call 3")]);
      expect(order).toEqual([]);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 1" });
    expect(order).toEqual(["call 1", "call 2", "call 3", "mutation 1", "mutation 2 sees call 3: written"]);
    expect(Object.keys(rows())).toEqual(["call 1", "call 2", "call 3", "mutation 1"]);
  });

  test("row 39: a step that writes nothing else costs no commit more", async () => {
    const { tell, insert } = open();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      for (const name of ["a", "b", "c"]) {
        await step.do(name, async ({ mutate }) => mutate((db) => insert(db, name, "written")));
      }
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect((await story.status("i")).status).toBe("complete");
    // One for each step, handed over only once it is durable, and one for the end.
    expect(story.runner().faults.count("commit")).toBe(4);
  });

  test.each([
    [
      "before the commit: neither the row nor the step is there, and both come with the next start",
      "stopBefore",
    ],
    ["after the commit: both are there, and the body does not run again", "stopAfter"],
  ] as const)("row 39: killed %s", async (_title, place) => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ attempt, mutate }) => {
      mutate((db) => insert(db, "row", `written by start ${attempt}`));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const doomed = story.runner("doomed");
    const stop = doomed[place]("commit");
    await doomed.tick();
    expect(stop.isReached).toBe(true);
    doomed.kill();
    const isWritten = place === "stopAfter";
    expect(rows()).toEqual(isWritten ? { row: "written by start 1" } : {});
    expect(await story.steps("i")).toEqual(isWritten ? ["write completed"] : []);
    await story.advance("31 seconds");
    expect((await story.status("i")).status).toBe("complete");
    expect(attempts).toHaveLength(isWritten ? 1 : 2);
    expect(Object.keys(rows())).toEqual(["row"]);
    const [step] = (await story.history("i")).steps;
    expect([step?.status, step?.attempts]).toEqual(["completed", 1]);
  });

  test("row 39: a lost reply of the commit neither repeats the writes nor counts as a violation (C48)", async () => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ mutate }) => mutate((db) => insert(db, "row", "written")));
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const stop = story.runner().stopAfter("commit");
    await story.tick();
    expect(rows()).toEqual({ row: "written" });
    expect(await stop.loseReply()).toBe("committed");
    await story.advance("10 seconds");
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 1" });
    expect(rows()).toEqual({ row: "written" });
    expect(attempts).toEqual([1]);
  });

  test.each(["conflict", "unavailable"] as const)(
    "row 39: a store that is %s for a while repeats the commit, not the body",
    async (failure) => {
      const { tell, insert, rows } = open();
      const { workflow, attempts } = writer(({ mutate }) => mutate((db) => insert(db, "row", "written")));
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      story.runner().faults.fail("commit", failure, { times: 2 });
      await story.advance("10 seconds");
      expect(await story.status("i")).toEqual({ status: "complete", output: "written at 1" });
      expect(rows()).toEqual({ row: "written" });
      expect(attempts).toEqual([1]);
    },
  );

  test.each([0, 1000])(
    "row 39: writes and children of a step commit together, or not at all (%d residents)",
    async (maxResidents) => {
      const { tell, insert, rows } = open();
      const child = defineWorkflow({ name: "child" }, async () => "ran");
      const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
        await step.do("both", { retries: { limit: 1, delay: "1 minute" } }, async (context) => {
          context.startWorkflow(child, { id: `child-${context.attempt}` });
          context.mutate((db) => {
            insert(db, `row ${context.attempt}`, "written");
            if (context.attempt === 1) throw new Error("not this time");
          });
        });
      });
      const story = tell({ PARENT: parent, CHILD: child }, { runner: { maxResidents } });
      await story.workflows.PARENT.create({ id: "p" });
      await story.runUntilIdle();
      expect(rows()).toEqual({});
      expect((await story.workflows.CHILD.list()).items).toEqual([]);
      await story.advance("1 minute");
      expect((await story.status("p")).status).toBe("complete");
      expect(rows()).toEqual({ "row 2": "written" });
      expect((await story.workflows.CHILD.list()).items.map(({ id }) => id)).toEqual(["child-2"]);
    },
  );

  test("row 39: a mutation that throws fails its attempt, which is retried as any other is", async () => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ attempt, mutate }) => {
      mutate((db) => insert(db, `row ${attempt}`, "written"));
      mutate(() => {
        if (attempt === 1) throw new Error("stock is locked");
      });
    }, retryInAMinute);
    const story = tell({ W: workflow });
    const start = story.runtime.now();
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    const [step] = (await story.history("i")).steps;
    expect(step).toMatchObject({
      status: "waiting",
      attempts: 1,
      nextRetryAt: new Date(start + 60_000),
      error: { message: "stock is locked" },
    });
    expect(rows()).toEqual({});
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 2" });
    expect(rows()).toEqual({ "row 2": "written" });
    expect(attempts).toEqual([1, 2]);
  });

  test.each([
    ["returns a promise", async () => {}],
    ["is not a function", "INSERT INTO orders"],
  ])("row 39: a mutation that %s is a mistake: MUTATION_INVALID, and no retry", async (_title, mutation) => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ mutate }) => {
      mutate((db) => insert(db, "row", "written"));
      mutate(mutation as () => void);
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 day");
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { code: "MUTATION_INVALID" },
    });
    expect(attempts).toEqual([1]);
    expect(rows()).toEqual({});
  });

  test("row 39: parallel steps with writes commit each with its own", async () => {
    const { tell, insert, rows } = open();
    const names = ["a", "b", "c", "d"];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const settled = await Promise.allSettled(
        names.map((name) =>
          step.do(name, { retries: false }, async ({ mutate }) => {
            mutate((db) => insert(db, name === "c" ? "a" : name, "written"));
            return name;
          }),
        ),
      );
      return settled.map((one) => (one.status === "fulfilled" ? one.value : one.reason.code));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({
      status: "complete",
      output: ["a", "b", "MUTATION_CONFLICT", "d"],
    });
    expect(Object.keys(rows()).toSorted()).toEqual(["a", "b", "d"]);
    expect(await story.steps("i")).toEqual(["a completed", "b completed", "c errored", "d completed"]);
  });

  test("row 39: a pause that comes before the commit keeps the writes and the step", async () => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ mutate }) => mutate((db) => insert(db, "row", "written")));
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await instance.pause();
    expect(await stop.continue()).toBe("paused");
    expect(await story.status("i")).toEqual({ status: "paused" });
    expect(await story.steps("i")).toEqual(["write completed"]);
    expect(rows()).toEqual({ row: "written" });
    await instance.resume();
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 1" });
    expect(attempts).toEqual([1]);
  });

  test.each([
    ["terminated", "terminated"],
    ["restarted", "complete"],
  ] as const)("row 39: writes of a run that was %s before the commit are refused", async (change, status) => {
    const { tell, insert, rows } = open();
    const gate = createGate();
    const { workflow } = writer(async ({ idempotencyKey, mutate }) => {
      mutate((db) => insert(db, idempotencyKey, "written"));
      if (idempotencyKey.includes("/1/")) await gate.wait();
    });
    const story = tell({ W: workflow });
    const instance = await story.workflows.W.create({ id: "i" });
    // On another runner, so that only the store can refuse it.
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await gate.open();
    expect(stop.isReached).toBe(true);
    await (change === "terminated" ? instance.terminate() : instance.restart());
    expect(await stop.continue()).toBe("superseded");
    await story.runUntilIdle();
    expect((await story.status("i")).status).toBe(status);
    expect(rows()).toEqual(change === "terminated" ? {} : { "w/i/2/write": "written" });
  });

  test.each([
    ["used up its retries", () => new Error("no"), 3, [1, 2, 3]],
    ["failed for good", () => new NonRetryableError("no"), 1, [1]],
  ])(
    "47. onTerminalError writes when the step has %s, and not while retries remain",
    async (_title, error, recordedAttempts, started) => {
      const { tell, insert, rows } = open();
      const { workflow, attempts } = writer(({ attempt, mutate, onTerminalError }) => {
        mutate((db) => insert(db, "success", "never"));
        onTerminalError.mutate((db) => insert(db, "refund", `after attempt ${attempt}`));
        throw error();
      }, retryInAMinute);
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      for (let n = 1; n < recordedAttempts; n++) {
        expect(rows()).toEqual({});
        expect((await story.status("i")).status).toBe("waiting");
        await story.advance("1 minute");
      }
      expect(await story.status("i")).toMatchObject({ status: "errored", error: { message: "no" } });
      expect(rows()).toEqual({ refund: `after attempt ${recordedAttempts}` });
      expect(attempts).toEqual(started);
    },
  );

  test("47. onTerminalError writes nothing when the step succeeds in the end", async () => {
    const { tell, insert, rows } = open();
    const { workflow } = writer(({ attempt, mutate, onTerminalError }) => {
      mutate((db) => insert(db, "success", `at ${attempt}`));
      onTerminalError.mutate((db) => insert(db, "refund", "never"));
      if (attempt < 3) throw new Error("no");
    }, retryInAMinute);
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("2 minutes");
    expect(await story.status("i")).toEqual({ status: "complete", output: "written at 3" });
    expect(rows()).toEqual({ success: "at 3" });
  });

  test("47. onTerminalError writes when the last attempt timed out, too", async () => {
    const { tell, insert, rows } = open();
    const gate = createGate();
    const { workflow } = writer(
      async ({ onTerminalError }) => {
        onTerminalError.mutate((db) => insert(db, "refund", "timed out"));
        await gate.wait();
      },
      { timeout: "1 second", retries: false },
    );
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 second");
    expect(await story.status("i")).toMatchObject({ status: "errored", error: { code: "STEP_TIMEOUT" } });
    expect(rows()).toEqual({ refund: "timed out" });
  });

  test.each([
    ["before", "stopBefore", 2],
    ["after", "stopAfter", 1],
  ] as const)(
    "47. onTerminalError is atomic with the failure: killed %s the commit",
    async (_t, place, starts) => {
      const { tell, insert, rows } = open();
      const { workflow, attempts } = writer(({ onTerminalError }) => {
        onTerminalError.mutate((db) => insert(db, "refund", "written"));
        throw new NonRetryableError("no");
      });
      const story = tell({ W: workflow });
      await story.workflows.W.create({ id: "i" });
      const doomed = story.runner("doomed");
      const stop = doomed[place]("commit");
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      doomed.kill();
      expect(rows()).toEqual(place === "stopAfter" ? { refund: "written" } : {});
      await story.advance("31 seconds");
      expect(await story.status("i")).toMatchObject({ status: "errored", error: { message: "no" } });
      expect(rows()).toEqual({ refund: "written" });
      expect(attempts).toHaveLength(starts);
    },
  );

  test.each([
    ["throws", () => new Error("refund service is gone")],
    ["violates a unique key", () => null],
  ])("47. an onTerminalError mutation that %s does not bring a failed step back", async (_title, error) => {
    const { tell, insert, rows } = open();
    const { workflow, attempts } = writer(({ onTerminalError }) => {
      onTerminalError.mutate((db) => {
        insert(db, "refund", "first");
        const thrown = error();
        if (thrown) throw thrown;
        insert(db, "refund", "second");
      });
      throw new NonRetryableError("card declined");
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 day");
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { name: "NonRetryableError", message: "card declined" },
    });
    expect(attempts).toEqual([1]);
    expect(rows()).toEqual({});
    const lines = (await story.logs("i")).filter(({ category }) => category === "system");
    expect(lines.map(({ level, message }) => [level, message])).toEqual([
      ["error", expect.stringContaining("onTerminalError")],
    ]);
  });

  test("47. a step whose own writes violate a unique key has failed for good: onTerminalError writes", async () => {
    const { tell, insert, rows } = open();
    const { workflow } = writer(({ mutate, onTerminalError }) => {
      mutate((db) => insert(db, "key", "first"));
      mutate((db) => insert(db, "key", "second"));
      onTerminalError.mutate((db) => insert(db, "refund", "written"));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { code: "MUTATION_CONFLICT" },
    });
    expect(rows()).toEqual({ refund: "written" });
  });

  test("48. a unique violation: errored after one attempt, no retry planned, nothing written", async () => {
    const { tell, insert, rows } = open();
    const first = writer(({ mutate }) => mutate((db) => insert(db, "taken", "first")));
    const { workflow, attempts } = writer(({ mutate }) => {
      mutate((db) => insert(db, "mine", "second"));
      mutate((db) => insert(db, "taken", "second"));
    });
    const second = { ...workflow, name: "second" };
    const story = tell({ FIRST: first.workflow, SECOND: second });
    await story.workflows.FIRST.create({ id: "i" });
    await story.runUntilIdle();
    const instance = await story.workflows.SECOND.create({ id: "j" });
    await story.advance("1 day");
    const status = await story.status("j");
    expect(status).toMatchObject({ status: "errored", error: { code: "MUTATION_CONFLICT" } });
    expect(status.error?.message).toContain('"write"');
    expect(attempts).toEqual([1]);
    const [step] = (await story.history("j")).steps;
    expect(step).toMatchObject({
      status: "errored",
      attempts: 1,
      nextRetryAt: null,
      error: { code: "MUTATION_CONFLICT" },
    });
    expect(step?.errors).toHaveLength(1);
    const details = await instance.details();
    expect([details.dueAt, details.deadLetter]).toEqual([null, false]);
    expect(rows()).toEqual({ taken: "first" });
  });

  test("48. the violation is thrown into the workflow, which may catch it and go on; replay throws it again", async () => {
    const { tell, insert, rows } = open();
    const caught: unknown[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("first", async ({ mutate }) => mutate((db) => insert(db, "taken", "first")));
      try {
        await step.do("second", async ({ mutate }) => mutate((db) => insert(db, "taken", "second")));
      } catch (error) {
        caught.push(error);
      }
      await step.sleep("nap", "1 hour");
      await step.do("third", async ({ mutate }) => mutate((db) => insert(db, "free", "third")));
      return "went on";
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.advance("1 hour");
    expect(await story.status("i")).toEqual({ status: "complete", output: "went on" });
    expect(caught).toMatchObject([{ code: "MUTATION_CONFLICT" }, { code: "MUTATION_CONFLICT" }]);
    for (const error of caught) expect(error).toBeInstanceOf(EverstepError);
    expect(rows()).toEqual({ taken: "first", free: "third" });
  });

  test("48. the violation of one instance harms no other in the same tick", async () => {
    const { tell, insert, rows } = open();
    const workflow = defineWorkflow<{ key: string }>({ name: "w" }, async (event, step) => {
      await step.do("write", async ({ mutate }) =>
        mutate((db) => insert(db, event.payload.key, event.instanceId)),
      );
    });
    const story = tell({ W: workflow });
    const keys = ["a", "a", "b", "b", "c"];
    await story.workflows.W.createBatch(keys.map((key, n) => ({ id: `${key}-${n}`, params: { key } })));
    await story.runUntilIdle();
    expect(await story.app.counts()).toMatchObject({ complete: 3, errored: 2 });
    expect(Object.keys(rows()).toSorted()).toEqual(["a", "b", "c"]);
  });

  test.each([0, 1000])(
    "49. step mutations do not repeat on replay (%d residents, INV-19)",
    async (maxResidents) => {
      const { tell, insert, rows } = open();
      const ran: string[] = [];
      const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
        await step.do("write", async ({ mutate, serviceCalls }) => {
          serviceCalls(() => [() => void ran.push("call")]);
          mutate((db) => {
            ran.push("mutation");
            insert(db, "row", "written");
          });
        });
        for (let n = 0; n < 3; n++) await step.sleep(`nap ${n}`, "1 hour");
      });
      const story = tell({ W: workflow }, { runner: { maxResidents } });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      await story.restartRunner();
      await story.advance("3 hours");
      expect((await story.status("i")).status).toBe("complete");
      expect(ran).toEqual(["call", "mutation"]);
      expect(rows()).toEqual({ row: "written" });
    },
  );

  test("row 42: a commit that lost its lease stops the turn; the next claim decides, writes once", async () => {
    const { tell, insert, rows } = open();
    const runners: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.do("first", async ({ attempt, mutate }) => {
        runners.push(`first ${attempt}`);
        mutate((db) => insert(db, "first", `start ${attempt}`));
      });
      await step.do("second", async () => runners.push("second"));
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    await story.clock.advance("31 seconds");
    expect(await story.tick()).toBe(1);
    const commits = slow.faults.count("commit");
    expect(await stop.continue()).toBe("superseded");
    await story.clock.advance("1 hour");
    // Nothing of the lost turn goes on: no second try of the commit, no next step.
    expect(slow.faults.count("commit")).toBe(commits);
    expect(runners).toEqual(["first 1", "first 2", "second"]);
    expect(rows()).toEqual({ first: "start 2" });
    expect((await story.status("i")).status).toBe("complete");
  });

  // ------------------------------------------------------------------------------------------------ onConsume

  /** Waits for one order and writes it down as it is taken. */
  function taker(onTaken: (db: unknown, payload: string) => void, taken: string[] = []) {
    return defineWorkflow({ name: "w" }, async (_event, step) => {
      const received = await step.waitForEvent<string>("order", {
        type: "order",
        timeout: "1 hour",
        onConsume: (event, { mutate }) => {
          taken.push(event.payload);
          mutate((db) => onTaken(db, event.payload));
        },
      });
      return received.payload;
    });
  }

  test("92. onConsume runs before the wait completes, and its writes commit with the consumption", async () => {
    const { tell, insert, rows } = open();
    const order: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const received = await step.waitForEvent<string>("order", {
        type: "order",
        onConsume: async (event, { mutate, serviceCalls }) => {
          order.push(`hook ${event.payload} ${event.timestamp.getTime() === story.runtime.now()}`);
          mutate((db) => insert(db, "mutation", event.payload));
          serviceCalls(() => [(db) => insert(db, "call", event.payload)]);
        },
      });
      order.push(`wait ${received.payload}`);
      return received.payload;
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "order", payload: "tea" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: "tea" });
    expect(order).toEqual(["hook tea true", "wait tea"]);
    expect(Object.entries(rows())).toEqual([
      ["call", "tea"],
      ["mutation", "tea"],
    ]);
    const { events } = await story.history("i");
    expect(events.map(({ consumedByStepKey }) => consumedByStepKey)).toEqual(["order"]);
  });

  test.each([
    ["before", "stopBefore", ["tea", "tea"]],
    ["after", "stopAfter", ["tea"]],
  ] as const)(
    "92. the consumption and its writes are atomic: killed %s their commit",
    async (_title, place, hooks) => {
      const { tell, insert, rows } = open();
      const taken: string[] = [];
      const story = tell({ W: taker((db, payload) => insert(db, "order", payload), taken) });
      await story.workflows.W.create({ id: "i" });
      await story.runUntilIdle();
      await story.sendEvent("i", { type: "order", payload: "tea" });
      const doomed = story.runner("doomed");
      const stop = doomed[place]("commit");
      await doomed.tick();
      expect(stop.isReached).toBe(true);
      doomed.kill();
      const isWritten = place === "stopAfter";
      expect(rows()).toEqual(isWritten ? { order: "tea" } : {});
      const [event] = (await story.history("i")).events;
      expect(event?.deliveredAt === null).toBe(!isWritten);
      await story.advance("31 seconds");
      expect(await story.status("i")).toEqual({ status: "complete", output: "tea" });
      expect(rows()).toEqual({ order: "tea" });
      expect(taken).toEqual(hooks);
    },
  );

  test("92. an onConsume that throws leaves the event in its place, and fails the wait", async () => {
    const { tell, rows } = open();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step
        .waitForEvent("picky", {
          type: "order",
          onConsume: () => {
            throw new Error("we are closed");
          },
        })
        .catch((error: Error) => error.message);
      const second = await step.waitForEvent("willing", { type: "order" });
      return [first, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "order", payload: "tea" });
    await story.sendEvent("i", { type: "order", payload: "coffee" });
    await story.runUntilIdle();
    expect(await story.status("i")).toEqual({ status: "complete", output: ["we are closed", "tea"] });
    const { events, steps } = await story.history("i");
    expect(events.map(({ payload, consumedByStepKey }) => [payload, consumedByStepKey])).toEqual([
      ["tea", "willing"],
      ["coffee", null],
    ]);
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ["picky", "errored"],
      ["willing", "completed"],
    ]);
    expect(rows()).toEqual({});
  });

  test("92. an onConsume whose writes are refused leaves the event undelivered, and nothing is written", async () => {
    const { tell, insert, rows } = open();
    const workflow = taker((db, payload) => {
      insert(db, "first", payload);
      insert(db, "first", "again");
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.runUntilIdle();
    await story.sendEvent("i", { type: "order", payload: "tea" });
    await story.runUntilIdle();
    expect(await story.status("i")).toMatchObject({
      status: "errored",
      error: { code: "MUTATION_CONFLICT" },
    });
    const { events } = await story.history("i");
    expect(events.map(({ deliveredAt }) => deliveredAt)).toEqual([null]);
    expect(rows()).toEqual({});
  });

  test("92. onConsume does not run again on replay, nor for a wait that times out", async () => {
    const { tell, insert, rows } = open();
    const taken: string[] = [];
    const order: WaitOptions<string> = {
      type: "order",
      timeout: "1 hour",
      onConsume: ({ payload }, { mutate }) => {
        taken.push(payload);
        mutate((db) => insert(db, "order", payload));
      },
    };
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      await step.waitForEvent<string>("first", order);
      await step.waitForEvent<string>("second", order).catch(() => {});
      await step.sleep("nap", "1 hour");
    });
    const story = tell({ W: workflow }, { runner: { maxResidents: 0 } });
    await story.workflows.W.create({ id: "i" });
    await story.sendEvent("i", { type: "order", payload: "tea" });
    await story.advance("3 hours");
    expect(await story.steps("i")).toEqual(["first completed", "second errored", "nap completed"]);
    expect(taken).toEqual(["tea"]);
    expect(rows()).toEqual({ order: "tea" });
  });

  test("92. onConsume waits, like every body, until what came before it is durable", async () => {
    const { tell, insert } = open();
    const taken: string[] = [];
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const table = await step.do("choose table", async () => "window");
      await step.waitForEvent<string>("order", {
        type: "order",
        onConsume: (event, { mutate }) => {
          taken.push(`${event.payload} at the ${table}`);
          mutate((db) => insert(db, table, event.payload));
        },
      });
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.sendEvent("i", { type: "order", payload: "tea" });
    const slow = story.runner("slow");
    const stop = slow.stopBefore("commit");
    await slow.tick();
    expect(stop.isReached).toBe(true);
    // The choice is not written yet, so nothing may be done on the strength of it.
    expect(taken).toEqual([]);
    await stop.continue();
    expect(taken).toEqual(["tea at the window"]);
    expect((await story.status("i")).status).toBe("complete");
  });

  test("92. an event whose onConsume was cut off is there for the next wait", async () => {
    const { tell } = open();
    const gate = createGate();
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      const first = await step
        .do("outer", { timeout: "1 minute", retries: false }, async () => {
          await step.waitForEvent("inner", { type: "order", onConsume: () => gate.wait() });
        })
        .catch((error: EverstepError) => error.code);
      const second = await step.waitForEvent("later", { type: "order" });
      return [first, second.payload];
    });
    const story = tell({ W: workflow });
    await story.workflows.W.create({ id: "i" });
    await story.sendEvent("i", { type: "order", payload: "tea" });
    await story.advance("1 minute");
    expect(await story.status("i")).toEqual({ status: "complete", output: ["STEP_TIMEOUT", "tea"] });
    const { events } = await story.history("i");
    expect(events.map(({ consumedByStepKey }) => consumedByStepKey)).toEqual(["later"]);
  });
});

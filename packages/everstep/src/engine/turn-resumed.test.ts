import { describe, expect, test } from "vitest";
import { held, type Story, stagesOn, type TurnStage, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const hour = 60 * minute;

/** A stage where a body of hours runs beside the branch in question. */
async function beside(branch: (step: Parameters<Story>[0]) => Promise<unknown>) {
  const long = held();
  let starts = 0;
  const stage = stageOf((step) =>
    Promise.all([
      step.do("long", { timeout: "1 day" }, () => {
        starts++;
        return long.promise;
      }),
      branch(step),
    ]),
  );
  await stage.play();
  /** The body ends, and with it the run; it had one start. */
  const finish = async (): Promise<void> => {
    expect([stage.ending, starts]).toEqual([undefined, 1]);
    long.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(starts).toBe(1);
  };
  return { stage, long, finish };
}

/** The store says from now on that the run is paused, and the turn hears of it with a renewal. */
async function pause(stage: TurnStage): Promise<void> {
  stage.answer = () => stage.paused();
  stage.turn.paused();
  await stage.runtime.settle();
}

async function resume(stage: TurnStage): Promise<void> {
  stage.answer = () => stage.committed();
  stage.turn.resumed();
  await stage.runtime.settle();
}

describe("resumed while a body still runs", () => {
  test.each<[string, number, number]>([
    ["was over meanwhile", 2 * hour, 0],
    ["is not over yet", minute, hour],
  ])("a sleep that %s ends in its time", async (_, pausedMs, restMs) => {
    const woke: number[] = [];
    const { stage, finish } = await beside(async (step) => {
      await step.sleep("nap", "1 hour");
      woke.push(stage.runtime.now());
    });
    await pause(stage);
    await stage.runtime.advance(pausedMs);
    expect(woke).toEqual([]);
    await resume(stage);
    await stage.runtime.advance(restMs);
    expect(woke).toHaveLength(1);
    await finish();
  });

  test("so does one inside of another body", async () => {
    const ran: string[] = [];
    const { stage, finish } = await beside((step) =>
      step.do("outer", { timeout: "1 day" }, async () => {
        ran.push("outer");
        await step.sleep("nap", "1 hour");
        ran.push("slept");
        await step.do("inner", async () => ran.push("inner"));
      }),
    );
    await pause(stage);
    await stage.runtime.advance(2 * hour);
    expect(ran).toEqual(["outer"]);
    await resume(stage);
    expect(ran).toEqual(["outer", "slept", "inner"]);
    await finish();
  });

  test.each(["while it is paused", "afterwards"])("an event that is sent %s is handed over", async (when) => {
    const got: unknown[] = [];
    const { stage, finish } = await beside(async (step) => {
      got.push((await step.waitForEvent("approval", { type: "approved", timeout: "1 day" })).payload);
    });
    const send = async (): Promise<void> => {
      stage.accept({ type: "approved", payload: "yes" });
      stage.turn.eventsArrived();
      await stage.runtime.settle();
    };
    await pause(stage);
    if (when === "while it is paused") await send();
    expect(got).toEqual([]);
    await resume(stage);
    if (when === "afterwards") await send();
    expect(got).toEqual(["yes"]);
    expect(stage.events).toEqual([]);
    await finish();
  });

  test("the next attempt of a step begins when its delay is over", async () => {
    const attempts: number[] = [];
    const { stage, finish } = await beside((step) =>
      step.do(
        "flaky",
        { retries: { limit: 2, delay: "1 hour", backoff: "constant" } },
        async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error("down");
        },
      ),
    );
    await pause(stage);
    await stage.runtime.advance(2 * hour);
    expect(attempts).toEqual([1]);
    await resume(stage);
    expect(attempts).toEqual([1, 2]);
    await stage.runtime.advance(hour);
    expect(attempts).toEqual([1, 2, 3]);
    await finish();
  });

  test("a wait that times out does so, with its neighbour that had no place in a commit yet", async () => {
    const missed: string[] = [];
    const { stage, finish } = await beside((step) =>
      Promise.all(
        ["one", "two"].map((name) =>
          step.waitForEvent(name, { type: name, timeout: "1 hour" }).catch(() => missed.push(name)),
        ),
      ),
    );
    stage.hold();
    await stage.runtime.advance(hour);
    expect(stage.boundaries.map(told).at(-1)).toBe("one timed out, continue");
    stage.letGo();
    await stage.held.at(-1)?.answer(stage.paused());
    expect(missed).toEqual([]);
    await resume(stage);
    expect(missed).toEqual(["one", "two"]);
    await finish();
  });

  test("what was asked for meanwhile begins, and not before a commit has said that it may", async () => {
    const ran: string[] = [];
    const { stage, finish } = await beside(async (step) => {
      await step.sleep("nap", "1 hour");
      await step.do("next", async () => ran.push("next"));
    });
    await pause(stage);
    await stage.runtime.advance(hour);
    stage.answer = () => stage.committed();
    stage.hold();
    stage.turn.resumed();
    await stage.runtime.settle();
    expect(ran).toEqual([]);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(ran).toEqual(["next"]);
    await finish();
  });

  test("a body that had been let begin and had not begun does, once", async () => {
    const ran: string[] = [];
    const { stage, finish } = await beside(async (step) => {
      await step.sleep("nap", "1 hour");
      await step.do("once", { ifInterrupted: "fail" }, async ({ attempt }) => ran.push(`once ${attempt}`));
    });
    stage.hold();
    await stage.runtime.advance(hour);
    expect(stage.last.begun.map(({ key }) => key)).toEqual(["long", "once"]);
    stage.letGo();
    await stage.held.at(-1)?.answer(stage.paused());
    expect(ran).toEqual([]);
    await resume(stage);
    expect(ran).toEqual(["once 1"]);
    await finish();
  });

  test("a hook that had not begun gets the event that it was to take", async () => {
    const got: unknown[] = [];
    const { stage, finish } = await beside((step) =>
      step.waitForEvent("approval", {
        type: "approved",
        timeout: "1 day",
        onConsume: ({ payload }) => void got.push(payload),
      }),
    );
    stage.accept({ type: "approved", payload: "yes" });
    stage.turn.askBeforeNextBody();
    stage.hold();
    stage.turn.eventsArrived();
    await stage.runtime.settle();
    stage.letGo();
    await stage.held.at(-1)?.answer(stage.paused());
    expect(got).toEqual([]);
    await resume(stage);
    expect(got).toEqual(["yes"]);
    await finish();
  });

  test("the answer to a commit tells of it too", async () => {
    const woke: string[] = [];
    const { stage, finish } = await beside(async (step) => {
      await step.sleep("nap", "1 hour");
      woke.push("nap");
      await step.do("next", async () => woke.push("next"));
    });
    await pause(stage);
    await stage.runtime.advance(hour);
    stage.answer = () => stage.committed();
    stage.turn.strayError(new Error("news"), "rejected", null);
    stage.turn.flushLogs();
    await stage.runtime.settle();
    expect(woke).toEqual(["nap", "next"]);
    await finish();
  });
});

describe("what finished during a pause", () => {
  /** Three quick bodies that end during the pause in this order, and a fourth that is asked for by the first of them. */
  const racing = (bodies: ReturnType<typeof held>[], seen: string[]): Story => {
    return async (step) => {
      const quick = bodies.slice(1).map((body, at) =>
        step
          .do(`s${at}`, () => body.promise)
          .then(() => {
            seen.push(`s${at}`);
            return `s${at}`;
          }),
      );
      const long = step.do("long", { timeout: "1 day" }, () => bodies[0]?.promise);
      const winner = await Promise.race(quick);
      await step.do(`after ${winner}`, async () => seen.push("after"));
      await Promise.all([...quick, long]);
      return winner;
    };
  };

  test("is handed over once, in the order that is recorded, and a replay decides alike", async () => {
    const bodies = [held(), held(), held(), held()];
    const seen: string[] = [];
    const stage = stageOf(racing(bodies, seen));
    await stage.play();
    await pause(stage);
    for (const at of [2, 3, 1]) {
      bodies[at]?.resolve(at);
      await stage.runtime.settle();
    }
    expect(seen).toEqual([]);
    expect(stage.steps.filter(({ status }) => status === "completed")).toHaveLength(3);
    await resume(stage);
    expect(seen.filter((what) => what !== "after")).toEqual(["s1", "s2", "s0"]);
    expect(seen.filter((what) => what === "after")).toHaveLength(1);
    expect(stage.step("after s1").status).toBe("completed");
    const replayed: string[] = [];
    const again = stageOf(racing([held(), held(), held(), held()], replayed));
    again.remember(...stage.steps);
    await again.play();
    expect(replayed).toEqual(["s1", "s2", "s0"]);
    bodies[0]?.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });

  test("is not handed over before its own writes are durable, and nothing overtakes it", async () => {
    const long = held();
    const bodies = [held(), held(), held()];
    const seen: string[] = [];
    const stage = stageOf((step) =>
      Promise.all([
        step.do("long", { timeout: "1 day" }, () => long.promise),
        ...bodies.map((body, at) =>
          step
            .do(`s${at}`, async ({ mutate }) => {
              if (at < 2) mutate(() => {});
              await body.promise;
            })
            .then(
              () => seen.push(`s${at}`),
              () => seen.push(`s${at} failed`),
            ),
        ),
      ]),
    );
    await stage.play();
    stage.hold();
    stage.turn.paused();
    for (const body of bodies) {
      body.resolve(1);
      await stage.runtime.settle();
    }
    await stage.held[0]?.answer(stage.paused());
    stage.turn.resumed();
    await stage.runtime.settle();
    expect(seen).toEqual(["s0"]);
    await stage.held[1]?.answer({ kind: "mutation-failed", conflict: true, error: new Error("duplicate") });
    stage.letGo();
    for (const commit of stage.held.slice(2)) await commit.answer();
    expect(seen).toEqual(["s0", "s2", "s1 failed"]);
    const places = stage.steps.flatMap((step) =>
      "settledIndex" in step ? [[step.settledIndex, step.key]] : [],
    );
    expect(places.sort().map(([, key]) => key)).toEqual(["s0", "s2", "s1"]);
  });

  test("is handed over by the next turn where nothing holds this one open", async () => {
    const { stage, long } = await beside(async () => {});
    await pause(stage);
    long.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toEqual({ kind: "paused" });
    await resume(stage);
    expect(await stage.play()).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });
});

describe("what a turn hears of pauses", () => {
  const napping = () => {
    const ran: string[] = [];
    const branch = async (step: Parameters<Story>[0]): Promise<void> => {
      for (const name of ["a", "b"]) {
        await step.sleep(`nap ${name}`, "1 hour");
        await step.do(name, async () => ran.push(name));
      }
    };
    return { ran, branch };
  };

  test("paused, resumed and paused again, nothing begins until it is resumed again", async () => {
    const { ran, branch } = napping();
    const { stage, finish } = await beside(branch);
    await pause(stage);
    await resume(stage);
    await stage.runtime.advance(hour);
    expect(ran).toEqual(["a"]);
    await pause(stage);
    await stage.runtime.advance(2 * hour);
    expect(ran).toEqual(["a"]);
    await resume(stage);
    expect(ran).toEqual(["a", "b"]);
    await finish();
  });

  test("word of a resume that another pause has overtaken lets no body begin (INV-34)", async () => {
    const { ran, branch } = napping();
    const { stage, finish } = await beside(branch);
    await pause(stage);
    await stage.runtime.advance(hour);
    // What it hears is older than what the store says by now.
    stage.turn.resumed();
    await stage.runtime.settle();
    expect(ran).toEqual([]);
    expect(stage.step("nap a").status).toBe("completed");
    await stage.runtime.advance(hour);
    await resume(stage);
    expect(ran).toEqual(["a"]);
    await stage.runtime.advance(hour);
    expect(ran).toEqual(["a", "b"]);
    await finish();
  });

  test.each(["at once", "later"])(
    "the answer to a commit that was applied before the pause, %s, lets no body begin (INV-34)",
    async (when) => {
      const { ran, branch } = napping();
      const { stage, finish } = await beside(branch);
      stage.hold();
      await stage.runtime.advance(hour);
      stage.turn.paused();
      if (when === "later") await stage.runtime.settle();
      stage.answer = () => stage.paused();
      stage.letGo();
      await stage.held.at(-1)?.answer();
      expect(ran).toEqual([]);
      await resume(stage);
      expect(ran).toEqual(["a"]);
      await stage.runtime.advance(hour);
      await finish();
    },
  );

  test("a turn that was told to stop does not go on because of a resume", async () => {
    const { ran, branch } = napping();
    const { stage, long } = await beside(branch);
    await pause(stage);
    stage.turn.windDown();
    await resume(stage);
    await stage.runtime.advance(hour);
    expect(ran).toEqual([]);
    long.resolve(1);
    await stage.runtime.settle();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  });

  test("one that was not paused takes no notice of a resume", async () => {
    const { branch } = napping();
    const { stage, finish } = await beside(branch);
    const before = stage.commits.length;
    await resume(stage);
    expect(stage.commits).toHaveLength(before);
    await stage.runtime.advance(2 * hour);
    await finish();
  });

  test("terminated after the resume, its body is told and nothing is handed over", async () => {
    const { ran, branch } = napping();
    const { stage } = await beside(branch);
    await pause(stage);
    await stage.runtime.advance(hour);
    stage.answer = () => ({ kind: "superseded" });
    stage.turn.resumed();
    await stage.runtime.settle();
    expect(ran).toEqual([]);
    expect(stage.ending).toMatchObject({ kind: "lost" });
  });

  test("a turn that suspended with word of a pause on its way goes on under its next lease", async () => {
    const stage = stageOf((step) => step.sleep("nap", "1 hour"));
    stage.hold();
    await stage.play();
    stage.turn.paused();
    stage.letGo();
    await stage.held[0]?.answer();
    expect(stage.ending).toMatchObject({ kind: "suspended" });
    await stage.runtime.advance(hour);
    expect(await stage.resume()).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });
});

describe("code written for Cloudflare, whose waits a resume moves", () => {
  const woke: number[] = [];
  const napping = async (pausedMs: number) => {
    woke.length = 0;
    const long = held();
    const stage = stageOf(
      (step) =>
        Promise.all([
          step.do("long", { timeout: "1 day" }, () => long.promise),
          step.sleep("nap", "1 hour").then(() => woke.push(stage.runtime.now())),
        ]),
      { mode: "cloudflare" },
    );
    await stage.play();
    await pause(stage);
    await stage.runtime.advance(pausedMs);
    return { stage, due: move(stage, pausedMs) };
  };
  const move = (stage: TurnStage, ms: number): number => {
    const nap = stage.steps.find(({ type }) => type === "sleep");
    if (nap?.status !== "waiting") throw new Error("It is over.");
    stage.remember({ ...nap, wakeAt: nap.wakeAt + ms });
    return nap.wakeAt + ms;
  };

  test("a sleep ends later by the length of the pause", async () => {
    const { stage, due } = await napping(2 * hour);
    await resume(stage);
    expect(woke).toEqual([]);
    await stage.runtime.advance(hour);
    expect(woke).toEqual([due]);
  });

  test("nothing goes on while the waits cannot be read; the next word of the resume has them read again", async () => {
    const { stage, due } = await napping(2 * hour);
    stage.reading = Promise.reject(new Error("unreachable"));
    await resume(stage);
    await stage.runtime.advance(minute);
    expect(woke).toEqual([]);
    stage.reading = null;
    await resume(stage);
    await stage.runtime.advance(hour);
    expect(woke).toEqual([due]);
  });

  test("waits that were read before another pause are read again after it", async () => {
    const { stage } = await napping(2 * hour);
    const reading = held();
    stage.reading = reading.promise;
    await resume(stage);
    await pause(stage);
    reading.resolve(null);
    await stage.runtime.advance(2 * hour);
    expect(woke).toEqual([]);
    stage.reading = null;
    const due = move(stage, 2 * hour);
    await resume(stage);
    await stage.runtime.advance(2 * hour);
    expect(woke).toEqual([due]);
  });
});

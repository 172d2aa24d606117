import { describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { decodeValue } from "../authoring/codec.ts";
import type { CompletedStep, SettledStep } from "../model/step.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const minute = 60_000;
const once = { retries: false } as const;

describe("steps inside a step", () => {
  test("record their parent and depth, and their keys name their place", async () => {
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        await step.do("inner", async () => step.do("innermost", async () => 1));
        return "done";
      }),
    );
    await stage.play();
    expect(stage.steps.map(({ key, parentKey, depth, index }) => ({ key, parentKey, depth, index }))).toEqual(
      [
        { key: "outer", parentKey: null, depth: 0, index: 0 },
        { key: "outer/inner", parentKey: "outer", depth: 1, index: 1 },
        { key: "outer/inner/innermost", parentKey: "outer/inner", depth: 2, index: 2 },
      ],
    );
  });

  test("are handed over only after their commit, because a body may have effects", async () => {
    const seen: string[] = [];
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        await step.do("inner", async () => seen.push("inner ran"));
        seen.push("inner known");
      }),
    );
    stage.hold();
    await stage.play();
    expect(seen).toEqual(["inner ran"]);
    expect(stage.boundaries.map(told)).toEqual(["outer/inner completed, continue"]);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(seen).toEqual(["inner ran", "inner known"]);
    expect(stage.boundaries.map(told)[1]).toBe("outer completed, complete");
  });

  test("that end in the commit which records their parent's timeout are known to its next attempt (INV-8)", async () => {
    let inner = 0;
    const stage = stageOf((step) =>
      step.do("outer", { timeout: "1 second", retries: { limit: 1, delay: 0 } }, async ({ attempt }) => {
        await step.do("inner", async () => ++inner);
        if (attempt === 1) await new Promise(() => {});
        return "done";
      }),
    );
    stage.hold();
    await stage.play();
    await stage.runtime.advance(1000);
    stage.letGo();
    await stage.held[0]?.answer();
    await stage.runtime.settle();
    await stage.play();
    expect(inner).toBe(1);
    expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toContain("outer completed");
  });

  test("decide a race alike when the body runs again (INV-17)", async () => {
    const winners: string[] = [];
    const slow = held<string>();
    const stage = stageOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: 0 } }, async ({ attempt }) => {
        const first = step.do("slow", () => slow.promise);
        const second = step.do("quick", async () => "quick");
        winners.push(await Promise.race([first, second]));
        slow.resolve("slow");
        await first;
        if (attempt === 1) throw new Error("once more");
        return winners.length;
      }),
    );
    await stage.play();
    await stage.play();
    expect(winners).toEqual(["quick", "quick"]);
  });

  test("decide a race in the order they are recorded in, also where one writes rows of the author's own (INV-17)", async () => {
    const [writing, plain] = [held<string>(), held<string>()];
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        void step.do("first", async () => "first");
        const writes = step.do("writes", async ({ mutate }) => {
          mutate(() => {});
          return writing.promise;
        });
        return Promise.race([writes, step.do("plain", () => plain.promise)]);
      }),
    );
    stage.hold();
    await stage.play();
    for (const each of [writing, plain]) {
      each.resolve(each === writing ? "writes" : "plain");
      await stage.runtime.settle();
    }
    await stage.held[0]?.answer();
    expect(stage.boundaries.map(told)).toEqual([
      "outer/first completed, continue",
      "outer/writes completed, outer/plain completed, continue",
    ]);
    stage.letGo();
    await stage.held[1]?.answer();
    const settledIndexOf = (key: string) => (stage.step(key) as SettledStep).settledIndex;
    expect(settledIndexOf("outer/writes")).toBeLessThan(settledIndexOf("outer/plain"));
    expect(decodeValue((stage.step("outer") as CompletedStep).result)).toBe("writes");
  });

  test("are skipped, all of them, once their parent is recorded", async () => {
    let inner = 0;
    const stage = stageOf(async (step) => {
      await step.do("outer", async () => step.do("inner", async () => ++inner));
      await step.sleep("nap", "1 minute");
      return step.do("later", async () => "later");
    });
    await stage.play();
    await stage.runtime.advance(minute);
    await stage.play();
    expect(inner).toBe(1);
    expect(stage.steps.map(({ key, index }) => [key, index])).toEqual([
      ["outer", 0],
      ["outer/inner", 1],
      ["nap", 2],
      ["later", 3],
    ]);
  });

  test("keep their results over retries of the outer step", async () => {
    let [outer, inner] = [0, 0];
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        const value = await step.do("inner", async () => ++inner);
        if (++outer === 1) throw new Error("down");
        return value;
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    expect(await stage.resume()).toMatchObject({ kind: "ended", next: { output: { json: "1" } } });
    expect([outer, inner]).toEqual([2, 1]);
  });

  test("keep their results over a crash of the outer step", async () => {
    let inner = 0;
    const stuck = held<void>();
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        const value = await step.do("inner", async () => ++inner);
        await stuck.promise;
        return value;
      }),
    );
    await stage.play();
    expect(stage.steps.map(({ key }) => key)).toEqual(["outer/inner"]);
    stage.turn.abandon(new Error("killed"));
    stuck.resolve();
    await stage.play({ begun: [{ key: "outer", name: "outer", start: 1, at: 0 }] });
    expect(stage.ending).toMatchObject({ kind: "ended", next: { output: { json: "1" } } });
    expect(inner).toBe(1);
    expect(stage.step("outer")).toMatchObject({ starts: 2, attempts: 1 });
  });

  test("run again with the outer step where the code was written for Cloudflare", async () => {
    let [outer, inner] = [0, 0];
    const stage = stageOf(
      (step) =>
        step.do("outer", async () => {
          const value = await step.do("inner", async () => ++inner);
          if (++outer === 1) throw new Error("down");
          return value;
        }),
      { mode: "cloudflare" },
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    expect(await stage.resume()).toMatchObject({ kind: "ended", next: { output: { json: "2" } } });
    expect(stage.steps.map(({ key }) => key)).toEqual([
      "do:outer#1",
      "do:outer#1@1/do:inner#1",
      "do:outer#1@2/do:inner#1",
    ]);
  });

  test("their failure is the outer step's to handle", async () => {
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        try {
          await step.do("inner", once, async () => {
            throw new Error("inner down");
          });
        } catch (error) {
          return `handled ${(error as Error).message}`;
        }
      }),
    );
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '"handled inner down"' } });
  });
});

describe("waits inside a step", () => {
  test("hold the turn open, and are written down at once", async () => {
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        await step.sleep("nap", "1 minute");
        return "rested";
      }),
    );
    await stage.play();
    expect(stage.ending).toBeUndefined();
    expect(stage.boundaries.map(told)).toEqual(["outer/nap waiting, continue"]);
    await stage.runtime.advance(minute);
    expect(stage.ending).toMatchObject({ kind: "ended", next: { output: { json: '"rested"' } } });
    expect(stage.boundaries.map(told)).toEqual([
      "outer/nap waiting, continue",
      "outer/nap completed, continue",
      "outer completed, complete",
    ]);
  });

  test("are bounded by the outer step's own time", async () => {
    const stage = stageOf((step) =>
      step.do("outer", { timeout: "1 second", ...once }, async () => step.sleep("nap", "1 minute")),
    );
    await stage.play();
    await stage.runtime.advance(1000);
    expect(stage.ending).toMatchObject({ next: { kind: "error", error: { code: "STEP_TIMEOUT" } } });
  });

  test("keep the time that was written down when the outer step is tried again", async () => {
    let attempts = 0;
    const stage = stageOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: "1 second" } }, async () => {
        const nap = step.sleep("nap", "1 minute");
        if (++attempts === 1) throw new Error("down");
        await nap;
      }),
    );
    const begin = stage.runtime.now();
    await stage.play();
    await stage.runtime.settle();
    expect(stage.steps.map(({ key }) => key)).toEqual(["outer"]);
    await stage.runtime.advance(1000);
    await stage.resume();
    expect(attempts).toBe(2);
    expect(stage.step("outer/nap")).toMatchObject({ wakeAt: begin + 1000 + minute });
  });

  test("are the same step when the outer step is tried again after the wait had begun", async () => {
    let attempts = 0;
    const failed = held<void>();
    const stage = stageOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: "1 second" } }, async () => {
        const nap = step.sleep("nap", "1 minute");
        if (++attempts === 1) await failed.promise;
        await nap;
      }),
    );
    const begin = stage.runtime.now();
    await stage.play();
    expect(stage.step("outer/nap")).toMatchObject({ status: "waiting", wakeAt: begin + minute });
    failed.reject(new Error("down"));
    await stage.runtime.advance(1000);
    expect(stage.ending).toMatchObject({ kind: "suspended" });
    await stage.resume();
    expect(attempts).toBe(2);
    await stage.runtime.advance(minute - 1000);
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(stage.steps.map(({ key, wakeAt }) => [key, wakeAt])).toContainEqual(["outer/nap", begin + minute]);
    expect(stage.steps.filter(({ key }) => key === "outer/nap")).toHaveLength(1);
  });

  test("attempts of an inner step count on when the outer step is tried again", async () => {
    const failed = held<void>();
    let [outer, inner] = [0, 0];
    const stage = stageOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: "1 second" } }, async () => {
        const result = step.do("inner", { retries: { limit: 1, delay: "5 minutes" } }, async () => {
          throw new Error(`inner ${++inner}`);
        });
        if (++outer === 1) await failed.promise;
        await result;
      }),
    );
    await stage.play();
    expect(stage.step("outer/inner")).toMatchObject({ status: "waiting", attempts: 1 });
    failed.reject(new Error("down"));
    await stage.runtime.advance(1000);
    await stage.resume();
    // The inner step waits for its second and last attempt; it does not begin again.
    expect(inner).toBe(1);
    await stage.runtime.advance(5 * minute);
    expect(inner).toBe(2);
    expect(stage.ending).toMatchObject({ next: { kind: "error", error: { message: "inner 2" } } });
    expect(stage.step("outer/inner")).toMatchObject({ status: "errored", attempts: 2 });
  });
});

describe("when the outer step is over", () => {
  test("bodies inside it are void and hear of it", async () => {
    const body = held();
    let signal: AbortSignal | undefined;
    const stage = stageOf((step) =>
      step.do("outer", { timeout: "1 second", ...once }, async () =>
        step.do("inner", (context) => {
          signal = context.signal;
          return body.promise;
        }),
      ),
    );
    await stage.play();
    expect(signal?.aborted).toBe(false);
    await stage.runtime.advance(1000);
    expect(signal?.aborted).toBe(true);
    body.resolve("late");
    await stage.runtime.settle();
    expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toEqual(["outer errored"]);
  });

  test("bodies inside those are, too", async () => {
    const signals: AbortSignal[] = [];
    const stage = stageOf(async (step) => {
      const outer = step.do("outer", { timeout: "1 second", ...once }, async () =>
        step.do("inner", async () =>
          step.do("innermost", ({ signal }) => {
            signals.push(signal);
            return new Promise(() => {});
          }),
        ),
      );
      await outer.catch(() => {});
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.runtime.advance(1000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(stage.ending).toMatchObject({ kind: "suspended" });
  });

  test("what its callback still asks for is not begun", async () => {
    const late = held();
    let ran = false;
    const stage = stageOf(async (step) => {
      await step
        .do("outer", { timeout: "1 second", ...once }, async () => {
          await late.promise;
          await step.do("too late", async () => {
            ran = true;
          });
        })
        .catch(() => {});
      await step.sleep("nap", "1 minute");
    });
    await stage.play();
    await stage.runtime.advance(1000);
    late.resolve(1);
    await stage.runtime.settle();
    expect(ran).toBe(false);
    expect(stage.steps.map(({ key }) => key)).toEqual(["outer", "nap"]);
  });

  test("a step key never has two live bodies", async () => {
    const bodies: AbortSignal[] = [];
    const stage = stageOf((step) =>
      step.do("outer", { timeout: "1 second", retries: { limit: 2, delay: 0 } }, async () =>
        step.do("inner", (context) => {
          bodies.push(context.signal);
          return new Promise(() => {});
        }),
      ),
    );
    await stage.play();
    for (const _ of [1, 2]) {
      await stage.runtime.advance(1000);
      if (stage.turn.state === "suspended") await stage.resume();
    }
    expect(bodies).toHaveLength(3);
    expect(bodies.map(({ aborted }) => aborted)).toEqual([true, true, false]);
  });

  test("steps it did not wait for are cancelled when it returns", async () => {
    let signal: AbortSignal | undefined;
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        void step.do("forgotten", (context) => {
          signal = context.signal;
          return new Promise(() => {});
        });
        await step.do("awaited", async () => 1);
        return "done";
      }),
    );
    await stage.play();
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
    expect(signal?.aborted).toBe(true);
    expect(stage.steps.map(({ key }) => key)).toEqual(["outer", "outer/awaited"]);
  });

  test("calls it left behind do not use up the number of steps", async () => {
    let attempts = 0;
    const stage = stageOf(
      (step) =>
        step.do("outer", { retries: { limit: 20, delay: 0 } }, async () => {
          const cutOff = step.do("cut off", () => new Promise(() => {}));
          await Promise.race([cutOff, step.do("known", async () => 1)]);
          if (++attempts < 10) throw new Error("down");
        }),
      { limits: { maxSteps: 5 } },
    );
    let ending = await stage.play();
    while (ending?.kind === "suspended") ending = await stage.resume();
    expect(ending).toMatchObject({ kind: "ended", next: { kind: "complete" } });
  });
});

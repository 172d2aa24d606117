import { describe, expect, test } from "vitest";
import { held, stagesOn, type TurnStage } from "../../../../tests/support/turn-stage.ts";
import { StoreError, type StoreFailure } from "../model/error.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

const refusal = (failure: StoreFailure = "too-large") =>
  new StoreError(
    failure,
    failure === "too-large" ? "PAYLOAD_TOO_LARGE" : "STORE_FAILED",
    `It is ${failure}.`,
  );

/** The store refuses every commit in which this is found. */
function refuse(stage: TurnStage, text: string, failure?: StoreFailure): void {
  stage.answer = (commit) => {
    if (JSON.stringify(commit).includes(text)) throw refusal(failure);
    return stage.committed();
  };
}

describe("a commit that the store will never take", () => {
  test.each<StoreFailure>(["too-large", "invalid", "fatal"])(
    "for it is %s: the step fails with that code, and its body ran once",
    async (failure) => {
      let runs = 0;
      const caught: unknown[] = [];
      const stage = stageOf(async (step) => {
        try {
          await step.do("charge", async () => {
            runs += 1;
            return "too much";
          });
        } catch (error) {
          caught.push((error as { code?: unknown }).code);
          await step.do("apologize", async () => "sorry");
        }
        return "over";
      });
      refuse(stage, "too much", failure);
      await stage.play();
      const { code } = refusal(failure);
      expect(stage.step("charge")).toMatchObject({
        status: "errored",
        attempts: 1,
        error: { code, message: expect.stringMatching(/"charge" returned.*It is/s) },
        errors: [{ attempt: 1, error: { code } }],
      });
      // What the function did with the result that is void was not recorded; the next turn begins from the failure.
      expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
      await stage.play();
      expect(caught).toEqual([code]);
      expect(runs).toBe(1);
      expect(stage.step("apologize")).toMatchObject({ status: "completed" });
      expect(stage.last.next).toMatchObject({ kind: "complete" });
    },
  );

  const big = (letter: string, size: number) => letter.repeat(size);

  test("for its size: only the largest result gives way, and the steps beside it keep theirs", async () => {
    const stage = stageOf((step) =>
      Promise.allSettled([
        step.do("small", async () => "s"),
        step.do("large", async () => big("x", 3000)),
        step.do("middle", async () => big("y", 2000)),
      ]),
    );
    refuse(stage, big("x", 3000));
    await stage.play();
    expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "small completed",
      "large errored",
      "middle completed",
    ]);
    await stage.play();
    expect(stage.last.next).toMatchObject({
      kind: "complete",
      output: { json: expect.stringMatching(/fulfilled.*rejected.*fulfilled/) },
    });
  });

  test("for its size, twice over: as many give way as it takes", async () => {
    const stage = stageOf((step) =>
      Promise.allSettled(
        ["a", "b", "c"].map((name, n) => step.do(name, async () => big(name, 1000 * (n + 1)))),
      ).then(() => "over"),
    );
    stage.answer = ({ boundary }) => {
      const results = boundary.steps.flatMap((step) => (step.status === "completed" ? step.result.json : []));
      if (results.join("").length > 1500) throw refusal();
      return stage.committed();
    };
    await stage.play();
    expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
      "a completed",
      "b errored",
      "c errored",
    ]);
  });

  test("for what the function returned: the run ends with that code, and its steps stay", async () => {
    const stage = stageOf(async (step) => {
      await step.do("work", async () => "fine");
      return big("x", 3000);
    });
    refuse(stage, big("x", 3000));
    await stage.play();
    expect(stage.step("work")).toMatchObject({ status: "completed" });
    expect(stage.last.next).toMatchObject({
      kind: "error",
      deadLetter: false,
      error: { code: "PAYLOAD_TOO_LARGE", message: expect.stringContaining("It is too-large.") },
    });
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "error" } });
    expect(stage.boundaries.map(({ number, after }) => [number, after])).toEqual([
      [1, undefined],
      [2, 0],
    ]);
  });

  test("for its log lines: it is committed without them", async () => {
    const stage = stageOf(async (step) => {
      step.log.info("too much");
      await step.sleep("nap", 60_000);
    });
    refuse(stage, "too much");
    await stage.play();
    expect(stage.step("nap")).toMatchObject({ status: "waiting" });
    expect(stage.ending).toMatchObject({ kind: "suspended" });
  });

  test("inside a body: the outer body catches the failure and goes on", async () => {
    let outer = 0;
    const stage = stageOf((step) =>
      step.do("outer", async () => {
        outer += 1;
        return step.do("inner", async () => "too much").catch((error) => error.code);
      }),
    );
    refuse(stage, "too much");
    await stage.play();
    expect(stage.step("outer")).toMatchObject({
      status: "completed",
      result: { json: '"PAYLOAD_TOO_LARGE"' },
    });
    expect(outer).toBe(1);
    expect(stage.last.next).toMatchObject({ kind: "complete" });
  });

  test("with writes of the author: they are dropped, and what was registered for a failure is written", async () => {
    const [write, sorry] = [() => {}, () => {}];
    const stage = stageOf((step) =>
      step
        .do("order", async ({ mutate, onTerminalError }) => {
          mutate(write);
          onTerminalError.mutate(sorry);
          return "too much";
        })
        .catch((error) => error.code),
    );
    refuse(stage, "too much");
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations?.mutate)).toEqual([[write], [sorry], undefined]);
    expect(stage.step("order")).toMatchObject({ status: "errored", attempts: 1 });
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: '"PAYLOAD_TOO_LARGE"' } });
  });

  test("with writes of a step beside it: they are made with that step", async () => {
    const write = (): void => {};
    const stage = stageOf((step) =>
      Promise.allSettled([
        step.do("large", async () => big("x", 3000)),
        step.do("order", async ({ mutate }) => {
          mutate(write);
          return "ordered";
        }),
      ]).then(() => "over"),
    );
    refuse(stage, big("x", 3000));
    await stage.play();
    expect(stage.step("large")).toMatchObject({ status: "errored" });
    const taken = stage.commits.filter(({ boundary }) =>
      boundary.steps.some(({ key, status }) => key === "order" && status === "completed"),
    );
    expect(taken.map(({ mutations }) => mutations?.mutate)).toEqual(taken.map(() => [write]));
    expect(stage.step("order")).toMatchObject({ status: "completed" });
  });

  test("what a step sends and starts goes with its result", async () => {
    const stage = stageOf((step) =>
      step.do("start", async ({ startWorkflow }) => {
        startWorkflow("story", { id: "child" });
        return "too much";
      }),
    );
    refuse(stage, "too much");
    await stage.play();
    expect(stage.commits.map(({ alongside }) => alongside.length)).toEqual([1, 1, 0, 0]);
  });

  test("a body beside it comes to its end and is recorded before the next turn begins", async () => {
    const slow = held();
    const stage = stageOf((step) =>
      Promise.allSettled([
        step.do("slow", async () => {
          await slow.promise;
          return "done";
        }),
        step.do("large", async () => "too much"),
      ]),
    );
    refuse(stage, "too much");
    await stage.play();
    expect(stage.ending).toBeUndefined();
    expect(stage.last.begun).toMatchObject([{ key: "slow" }]);
    slow.resolve(null);
    await stage.runtime.settle();
    expect(stage.step("slow")).toMatchObject({ status: "completed", starts: 1 });
    expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  });

  test.each(["in the same commit", "while it is under way"])(
    "nothing is recorded that the function came to with the result that is void: %s",
    async (when) => {
      const slow = held();
      const late = held();
      const stage = stageOf((step) =>
        Promise.allSettled([
          step.do("slow", () => slow.promise),
          step
            .do("large", async () => big("x", 3000))
            .then(async () => {
              if (when === "while it is under way") await late.promise;
              await Promise.all([step.sleep("nap", 50), step.waitForEvent("word", { type: "word" })]);
            }),
        ]),
      );
      stage.accept({ type: "word" });
      stage.hold();
      await stage.play();
      late.resolve(null);
      await stage.runtime.settle();
      stage.letGo();
      await stage.held[0]?.fail(refusal());
      slow.resolve("done");
      await stage.runtime.settle();
      expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
      expect(stage.steps.map(({ key, status }) => `${key} ${status}`)).toEqual([
        "slow completed",
        "large errored",
      ]);
      expect(stage.boundaries.slice(1).flatMap(({ consumed }) => consumed)).toEqual([]);
    },
  );

  test("whatever is in it: the run ends with the reason", async () => {
    const stage = stageOf((step) => step.do("work", async () => "fine"));
    stage.answer = ({ boundary: { steps } }) => {
      if (steps.length > 0) throw refusal("fatal");
      return stage.committed();
    };
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "error", error: { code: "STORE_FAILED" } });
    expect(stage.ending).toMatchObject({ kind: "ended" });
  });

  test("and not even the end of the run: the turn is lost with the reason, as from a store that is broken", async () => {
    const stage = stageOf((step) => step.do("work", async () => "fine"));
    stage.answer = () => {
      throw refusal("fatal");
    };
    await stage.play();
    expect(stage.ending).toMatchObject({ kind: "lost", reason: { failure: "fatal" } });
  });

  test("of a store that was closed, or may take it yet, is no such commit", async () => {
    for (const error of [
      new StoreError("fatal", "STORE_CLOSED", "closed"),
      refusal("unavailable"),
      refusal("ambiguous"),
      new Error("a mistake"),
    ]) {
      const stage = stageOf((step) => step.do("work", async () => "fine"));
      stage.answer = () => {
        throw error;
      };
      await stage.play();
      expect(stage.ending).toEqual({ kind: "lost", reason: error });
      expect(stage.commits).toHaveLength(1);
    }
  });
});

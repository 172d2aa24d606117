import { expect, test } from "vitest";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { held, stagesOn } from "./turn-stage.ts";

const stageOf = stagesOn(createFakeRuntime);

test("a start that was cut off stays named until its step is asked for, whatever is committed before (INV-9)", async () => {
  const thought = held();
  let charges = 0;
  const stage = stageOf((step) =>
    Promise.all([
      step.do("ship", async () => "shipped"),
      thought.promise.then(() =>
        step.do("charge", { onInterrupt: "fail" }, async () => {
          charges++;
        }),
      ),
    ]).catch(({ code }) => code),
  );
  const cutOff = { key: "charge", name: "charge", start: 1, at: stage.runtime.now() };
  await stage.play({ begun: [cutOff] });
  // The function has not come to it yet; a crash now must not make anybody forget.
  expect(stage.boundaries.map(({ begun }) => begun)).toEqual([[cutOff]]);
  thought.resolve(null);
  await stage.runtime.settle();
  expect(charges).toBe(0);
  expect(stage.step("charge")).toMatchObject({ status: "errored", error: { code: "STEP_INTERRUPTED" } });
  expect(stage.last.begun).toEqual([]);
});

test("the attempt of a turn's first body counts the turns that were cut off before they recorded anything", async () => {
  const attempts: string[] = [];
  const stage = stageOf(async (step) => {
    await Promise.all(
      ["a", "b"].map((name) =>
        step.do(name, async ({ attempt }) => void attempts.push(`${name} ${attempt}`)),
      ),
    );
    await step.do("later", async ({ attempt }) => void attempts.push(`later ${attempt}`));
  });
  await stage.play({ crashCount: 3 });
  expect(attempts).toEqual(["a 4", "b 4", "later 1"]);
  expect(stage.step("a")).toMatchObject({ starts: 4, attempts: 1 });
});

test("a start that is known by name and number is not counted twice", async () => {
  const attempts: number[] = [];
  const stage = stageOf((step) => step.do("a", async ({ attempt }) => void attempts.push(attempt)));
  await stage.play({ crashCount: 2, begun: [{ key: "a", name: "a", start: 2, at: stage.runtime.now() }] });
  expect(attempts).toEqual([3]);
});

test("a body that must not repeat was never begun unseen", async () => {
  const attempts: number[] = [];
  const stage = stageOf((step) =>
    step.do("a", { onInterrupt: "fail" }, async ({ attempt }) => void attempts.push(attempt)),
  );
  await stage.play({ crashCount: 2 });
  expect(attempts).toEqual([1]);
});

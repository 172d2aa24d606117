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

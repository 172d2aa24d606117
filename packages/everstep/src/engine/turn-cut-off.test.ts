import { expect, test } from "vitest";
import { held, stagesOn, type TurnStage } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

test("a start that was cut off stays named until its step is asked for, whatever is committed before (INV-9)", async () => {
  const thought = held();
  let charges = 0;
  const stage = stageOf((step) =>
    Promise.all([
      step.do("ship", async () => "shipped"),
      thought.promise.then(() =>
        step.do("charge", { ifInterrupted: "fail" }, async () => {
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
    step.do("a", { ifInterrupted: "fail" }, async ({ attempt }) => void attempts.push(attempt)),
  );
  await stage.play({ crashCount: 2 });
  expect(attempts).toEqual([1]);
});

/** A body that must not run twice and waits for steps inside it when its turn ends. */
function chargeInParts() {
  const charges: string[] = [];
  const stage: TurnStage = stageOf((step) =>
    step
      .do("charge", { ifInterrupted: "fail" }, async () => {
        charges.push("charged");
        await step.sleep("let it settle", "1 hour");
        return "done";
      })
      .catch(({ code }) => code),
  );
  const charge = { key: "charge", name: "charge", start: 1, at: stage.runtime.now() };
  return { stage, charges, charge };
}

test("a body that must not repeat is named by the yield that gives it up, and never starts again (INV-9)", async () => {
  const { stage, charges, charge } = chargeInParts();
  await stage.play();
  stage.turn.windDown();
  await stage.runtime.settle();
  expect(stage.ending).toMatchObject({ kind: "ended", next: { kind: "yield" } });
  expect(stage.last.begun).toEqual([charge]);
  await stage.play({ begun: stage.last.begun });
  expect(charges).toEqual(["charged"]);
  expect(stage.step("charge")).toMatchObject({ status: "errored", error: { code: "STEP_INTERRUPTED" } });
  expect(stage.last.begun).toEqual([]);
});

test("the same with a pause", async () => {
  const { stage, charges, charge } = chargeInParts();
  stage.answer = ({ boundary: { number } }) => (number === 1 ? stage.committed() : stage.paused());
  await stage.play();
  expect(stage.ending).toMatchObject({ kind: "paused" });
  expect(stage.last).toMatchObject({ begun: [charge], next: { kind: "yield" } });
  stage.answer = () => stage.committed();
  await stage.play({ begun: stage.last.begun });
  expect(charges).toEqual(["charged"]);
});

test("the same with a pause that drops the end of the run", async () => {
  const charges: string[] = [];
  const stage = stageOf(async (step) => {
    void step.do("charge", { ifInterrupted: "fail" }, async () => {
      charges.push("charged");
      await new Promise(() => {});
    });
    await step.do("ship", async () => "shipped");
    await step.do("mail", async () => "mailed");
  });
  stage.answer = ({ boundary: { next } }) => (next.kind === "continue" ? stage.committed() : stage.paused());
  await stage.play();
  expect(stage.last).toMatchObject({ begun: [{ key: "charge", start: 1 }], next: { kind: "complete" } });
  stage.answer = () => stage.committed();
  await stage.play({ begun: stage.last.begun });
  expect(charges).toEqual(["charged"]);
});

test("a body that must not repeat and is cut off by the end of the step around it fails when that is tried again", async () => {
  const charges: string[] = [];
  const stage = stageOf((step) =>
    step.do("order", { timeout: "1 second", retries: { limit: 1, delay: 0 } }, async () =>
      step
        .do("charge", { ifInterrupted: "fail" }, async () => {
          charges.push("charged");
          await new Promise(() => {});
        })
        .catch(({ code }) => code),
    ),
  );
  await stage.play();
  await stage.runtime.advance(1000);
  const retried = stage.boundaries.find(({ steps }) => steps[0]?.status === "waiting");
  // A crash right after the failed attempt is recorded must not make anybody forget.
  expect(retried?.begun.map(({ key }) => key)).toContain("order/charge");
  if (stage.ending) await stage.resume();
  expect(charges).toEqual(["charged"]);
  expect(stage.step("order/charge")).toMatchObject({
    status: "errored",
    error: { code: "STEP_INTERRUPTED" },
  });
  expect(stage.step("order").status).toBe("completed");
  expect(stage.last.begun).toEqual([]);
});

test("one that is cut off by the end of its outer step for good is owed to nobody", async () => {
  const stage = stageOf((step) =>
    step.do("order", async () => {
      void step.do("charge", { ifInterrupted: "fail" }, () => new Promise(() => {}));
      await step.do("ship", async () => "shipped");
    }),
  );
  await stage.play();
  expect(stage.ending).toMatchObject({ kind: "ended" });
  expect(stage.last.begun).toEqual([]);
});

test("a start that was cut off stays named until the record that says so is durable", async () => {
  const stage = stageOf(async (step) => {
    await step.log.info("here");
    await Promise.all([
      step.do("first", async () => 1),
      step.do("charge", { ifInterrupted: "fail" }, async () => 1).catch(() => {}),
    ]);
  });
  const cutOff = { key: "charge", name: "charge", start: 1, at: stage.runtime.now() };
  stage.hold();
  await stage.play({ begun: [cutOff] });
  while (stage.held.length > 0) {
    const { boundary, answer } = stage.held.shift() as (typeof stage.held)[number];
    const tells = boundary.steps.some(({ key }) => key === "charge");
    expect(boundary.begun.some(({ key }) => key === "charge")).toBe(!tells);
    await answer();
    if (tells) break;
  }
  expect(stage.step("charge").status).toBe("errored");
});

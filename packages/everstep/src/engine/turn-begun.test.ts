import { expect, test } from "vitest";
import { held, stagesOn } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);
const keys = (begun: readonly { readonly key: string }[]): string[] => begun.map(({ key }) => key);

test("a body that is over counts as begun until its outcome is durable: a crash would still cut it off (INV-9)", async () => {
  const [first, second] = [held(), held()];
  const stage = stageOf((step) =>
    Promise.all([
      step.do("first", () => first.promise),
      step.do("second", { ifInterrupted: "fail" }, () => second.promise),
    ]),
  );
  await stage.play();
  stage.hold();
  first.resolve(null);
  await stage.runtime.settle();
  second.resolve(null);
  await stage.runtime.settle();
  // The commit that records the first is under way; the second waits for the next one.
  expect(keys(stage.turn.begun)).toContain("second");
  expect(keys(stage.held[0]?.boundary.begun ?? [])).toEqual(["second"]);
  await stage.held.shift()?.answer();
  expect(keys(stage.turn.begun)).toEqual(["second"]);
  expect(keys(stage.held[0]?.boundary.begun ?? [])).toEqual([]);
  stage.letGo();
  await stage.held.shift()?.answer();
  expect(stage.ending?.kind).toBe("ended");
});

test("so does one that failed and will be tried again", async () => {
  const [first, second] = [held(), held()];
  const stage = stageOf((step) =>
    Promise.all([
      step.do("first", () => first.promise),
      step.do("second", { retries: { limit: 1, delay: "1 hour" } }, () => second.promise),
    ]),
  );
  await stage.play();
  stage.hold();
  first.resolve(null);
  await stage.runtime.settle();
  second.reject(new Error("broken"));
  await stage.runtime.settle();
  expect(keys(stage.turn.begun)).toContain("second");
  await stage.held.shift()?.answer();
  await stage.held.shift()?.answer();
  expect(keys(stage.turn.begun)).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { tell } from "./story.ts";

function chargeThenShip() {
  const done: string[] = [];
  const workflow = defineWorkflow({ name: "order" }, async (_event, step) => {
    await step.do("charge", () => void done.push("charge"));
    await step.do("ship", () => void done.push("ship"));
  });
  return { workflow, done };
}

test("a runner that lost its lease changes nothing", async () => {
  const { workflow, done } = chargeThenShip();
  const story = await tell(workflow);
  const slow = await story.runner("slow").stopBefore("commit"); // charged, not yet recorded
  await story.clock.advance("2 minutes"); // its lease has run out
  await story.runner("fast").tick();
  expect(await slow.continue()).toBe("superseded");
  expect(await story.steps()).toEqual(["charge completed", "ship completed"]);
  expect(done).toEqual(["charge", "charge", "ship"]);
});

test("a commit whose reply is lost is repeated and counts once", async () => {
  const { workflow, done } = chargeThenShip();
  const story = await tell(workflow);
  const runner = story.runner("a");
  const unlucky = await runner.stopAfter("commit");
  expect(await story.steps()).toEqual(["charge completed"]);
  expect(done).toEqual(["charge"]);
  expect(await unlucky.loseReply()).toBe("committed");
  await story.clock.advance("10 seconds");
  expect(await story.status()).toMatchObject({ status: "complete" });
  expect(done).toEqual(["charge", "ship"]);
});

test("a runner killed between commit and reply has recorded what it did", async () => {
  const { workflow, done } = chargeThenShip();
  const story = await tell(workflow);
  await story.runner("a").stopAfter("commit", { step: "charge" });
  story.runner("a").kill();
  await story.clock.advance("31 seconds");
  expect(await story.runner("b").tick()).toBe(1);
  expect(done).toEqual(["charge", "ship"]);
});

test("a runner killed before its commit has recorded nothing, so the step runs again", async () => {
  const { workflow, done } = chargeThenShip();
  const story = await tell(workflow);
  await story.runner("a").stopBefore("commit");
  story.runner("a").kill();
  await story.clock.advance("31 seconds");
  await story.runner("b").tick();
  expect(done).toEqual(["charge", "charge", "ship"]);
  expect(await story.status()).toMatchObject({ status: "complete" });
});

test("an event that arrives while the wait is being recorded is not lost", async () => {
  const waiter = defineWorkflow({ name: "waiter" }, async (_event, step) => {
    const { payload } = await step.waitForEvent("wait", { type: "go", timeout: "1 hour" });
    return payload;
  });
  const story = await tell(waiter, { id: "waiter-1", params: {} });
  const runner = await story.runner("a").stopBefore("commit");
  await story.sendEvent({ type: "go", payload: 7 });
  expect(await runner.continue()).toBe("committed");
  await story.runner("a").tick();
  expect(await story.status()).toEqual({ status: "complete", output: 7 });
  expect(story.instance.id).toBe("waiter-1");
});

describe("stories that go wrong", () => {
  test("a stop that was never reached is said at once", async () => {
    const { workflow } = chargeThenShip();
    const story = await tell(workflow);
    await expect(story.runner("a").stopBefore("publish")).rejects.toThrow(
      'made no "publish" to be stopped at',
    );
  });
});

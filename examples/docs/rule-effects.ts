/** Rule 1: what is not in a step happens again. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";

const mails: string[] = [];
const mail = async (text: string) => void mails.push(text);

// #region wrong
const wrong = defineWorkflow({ name: "wrong" }, async (_event, step) => {
  const code = randomUUID(); // another code after every replay
  await mail(`your code is ${code}`); // another mail after every replay
  const answer = await step.waitForEvent<string>("answer", { type: "answer" });
  return answer.payload === code;
});
// #endregion wrong

// #region right
const right = defineWorkflow({ name: "right" }, async (_event, step) => {
  const code = await step.do("choose code", async () => randomUUID());
  await step.do("send code", async () => mail(`your code is ${code}`));
  const answer = await step.waitForEvent<string>("answer", { type: "answer" });
  return answer.payload === code;
});
// #endregion right

const harness = createTestHarness({ workflows: { WRONG: wrong, RIGHT: right } });
for (const workflow of ["WRONG", "RIGHT"] as const) {
  mails.length = 0;
  const instance = await harness.workflows[workflow].create({ id: "login" });
  await harness.runUntilIdle();
  await harness.restartRunner();
  await instance.sendEvent({ type: "answer", payload: mails[0]?.slice("your code is ".length) });
  await harness.runUntilIdle();
  const { output } = await instance.status();
  assert.deepEqual(
    [workflow, output, mails.length],
    [workflow, workflow === "RIGHT", workflow === "RIGHT" ? 1 : 2],
  );
}
await harness.stop();

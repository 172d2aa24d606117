/** After a failure the command line names the command that will be accepted, and no other. */
import { defineWorkflow } from "everstep";
import { createTestHarness } from "everstep/testing";
import { expect, test } from "vitest";
import { createOutput } from "../../packages/everstep/src/cli/output/output.ts";
import { writeWhy } from "../../packages/everstep/src/cli/output/why.ts";
import type { WireWhy } from "../../packages/everstep/src/wire/index.ts";

const order = defineWorkflow<{ undoes: boolean }>({ name: "order" }, async ({ payload }, step) => {
  await step
    .do("ask", { retries: false }, () => Promise.reject(new Error("nobody answers")))
    .catch(() => "never mind");
  await step
    .do("charge", { retries: false }, () => Promise.reject(new Error("declined")))
    .catch(async (error) => {
      if (payload.undoes) await step.do("give back", async () => {});
      throw error;
    });
});

test.each([
  [false, "instances retry order i", "accepted"],
  [true, "instances restart order i", "FAILED_STEP_NOT_RETRYABLE"],
])("of a step behind a caught one, undone: %s, it names %s", async (undoes, command, answer) => {
  await using story = createTestHarness({ workflows: { ORDER: order }, onNotice: () => {} });
  const instance = await story.workflows.ORDER.create({ id: "i", params: { undoes } });
  await story.runUntilIdle();
  const why = JSON.parse(JSON.stringify(await instance.why())) as WireWhy;
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  const out = createOutput({ isTerminal: false, columns: 80, colour: false, write });
  writeWhy(why, { workflowName: "order", id: "i" }, story.clock.now().getTime(), out);
  expect(written.match(/everstep (.*)\n/)?.[1]).toBe(command);
  const told = await instance.retryFailedStep().then(
    () => "accepted",
    ({ code }) => code,
  );
  expect(told).toBe(answer);
});

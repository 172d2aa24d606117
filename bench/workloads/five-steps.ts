/** The workflow that throughput and latency are measured with, and its rows. */
import { defineWorkflow } from "everstep";
import { stepsLife } from "../raw/steps-life.ts";

export const stepCount = 5;

export const fiveSteps = defineWorkflow({ name: "five-steps" }, async (_event, step) => {
  let sum = 0;
  for (let n = 0; n < stepCount; n++) {
    const result = await step.do(`step ${n}`, async () => ({ n, ok: true }));
    sum += result.n;
  }
  return sum;
});

export const fiveStepsLife = stepsLife({
  workflow: "five-steps",
  steps: stepCount,
  stepName: (n) => `step ${n}`,
  result: (n) => `{"n":${n},"ok":true}`,
  output: { json: "10", marks: null },
});

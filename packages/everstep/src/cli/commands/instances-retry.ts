import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesRetry = defineCommand({
  path: ["instances", "retry"],
  group: "Instances",
  summary: "give the step that failed an errored instance one more attempt",
  description: [
    "What was completed before stays as it is, and it is the same run. For all dead letters at once: " +
      '"everstep dead-letters retry --all".',
  ],
  connects: true,
  arguments: instanceArguments,
  options: { delay: { summary: "wait this long first, for instance 10m" } },
  examples: [
    { line: "instances retry order o-17", about: "the cause is gone, go on" },
    { line: "instances retry order o-17 --delay 10m", about: "in ten minutes" },
  ],
  async run(context) {
    const { delay } = context.values;
    const instance = await instanceOf(context);
    await instance.retryFailedStep({ delay });
    context.out.line(
      `The failed step of ${nameOf(instance)} gets another attempt${delay === undefined ? "" : ` in ${delay}`}.`,
    );
  },
});

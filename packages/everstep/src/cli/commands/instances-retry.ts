import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesRetry = defineCommand({
  path: ["instances", "retry"],
  group: "Instances",
  summary: "give the step that failed an errored instance one more attempt, or those of many",
  description: [
    "What was completed before stays as it is, and it is the same run.",
    'With --all: every errored instance, or those that the filters choose. For dead letters only: "everstep dead-letters retry --all".',
  ],
  connects: true,
  arguments: verbArguments,
  options: { delay: { summary: "wait this long first, for instance 10m" }, ...verbOptions },
  examples: [
    { line: "instances retry order o-17", about: "the cause is gone, go on" },
    { line: "instances retry order o-17 --delay 10m", about: "in ten minutes" },
    { line: "instances retry --all --workflow order --since 1h", about: "every order that failed this hour" },
  ],
  run(context) {
    const { delay } = context.values;
    return runVerb(context, {
      infinitive: "retry",
      participle: "retried",
      statuses: ["errored"],
      act: (instance) => instance.retryFailedStep({ delay }),
      said: (instance) =>
        `The failed step of ${nameOf(instance)} gets another attempt${delay === undefined ? "" : ` in ${delay}`}.`,
    });
  },
});

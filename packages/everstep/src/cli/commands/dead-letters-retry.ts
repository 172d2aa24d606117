import { defineCommand } from "../command.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { UsageError } from "../problems.ts";
import { deadLetters } from "../verbs/chosen.ts";
import { doToMany, runVerb, type Verb, verbArguments } from "../verbs/verb.ts";

export const deadLettersRetry = defineCommand({
  path: ["dead-letters", "retry"],
  group: "Instances",
  summary: "let instances go on that the engine gave up on",
  description: [
    "With --all every dead letter gets another attempt, with a line for each. One that cannot be retried does not keep the " +
      "others from it: the exit code is 70 then.",
  ],
  connects: true,
  arguments: verbArguments,
  options: {
    all: { type: "flag", summary: "every dead letter" },
    "dry-run": { type: "flag", summary: "with --all: show which ones, and change nothing" },
    delay: { summary: "wait this long first, for instance 10m" },
    ...jsonLinesOption,
  },
  examples: [
    { line: "dead-letters retry order o-17", about: "one of them" },
    { line: "dead-letters retry --all", about: "all of them, after the cause was repaired" },
    { line: "dead-letters retry --all --workflow order", about: "all of one workflow" },
  ],
  run(context) {
    const { all, delay, workflow, id } = context.values;
    const verb: Verb = {
      infinitive: "retry",
      participle: "retried",
      statuses: [],
      act: (instance) => instance.retryFailedStep({ delay }),
    };
    const more = { status: [], deadLetter: false, since: undefined, idPrefix: undefined, yes: false };
    const whole = { ...context, values: { ...context.values, ...more } };
    if (!all) return runVerb(whole, verb);
    if (id !== undefined) throw new UsageError("--all and <id> are both given; one is enough.");
    return doToMany(whole, verb, (client) => deadLetters(client, workflow));
  },
});

import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { ended, hasEnded, statusIfKnown } from "../verbs/ended.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesResume = defineCommand({
  path: ["instances", "resume"],
  group: "Instances",
  summary: "let a paused instance go on, or many of them",
  description: [
    "An instance that is active or waiting is left as it is; one that has ended is refused.",
    "With --all: every instance that is paused, or that the filters choose.",
  ],
  connects: true,
  arguments: verbArguments,
  options: verbOptions,
  examples: [
    { line: "instances resume order o-17", about: "go on" },
    { line: "instances resume --all --workflow order", about: "every paused order" },
  ],
  run: (context) =>
    runVerb(context, {
      infinitive: "resume",
      participle: "resumed",
      statuses: ["paused"],
      async act(instance) {
        const status = await statusIfKnown(instance);
        if (hasEnded(status)) throw ended(instance, status, "it cannot go on");
        await instance.resume();
        return status;
      },
      said: (instance, status) =>
        status === "paused" || status === ""
          ? `Resumed ${nameOf(instance)}.`
          : `${nameOf(instance)} was not paused: it is ${status}.`,
    }),
});

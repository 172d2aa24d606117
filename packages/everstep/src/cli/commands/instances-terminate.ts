import { liveStatuses } from "../../model/instance.ts";
import { defineCommand } from "../command.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesTerminate = defineCommand({
  path: ["instances", "terminate"],
  aliases: [["wf", "cancel"]],
  group: "Instances",
  summary: "end an instance for good, or many of them",
  description: [
    "Asks first when a person is at the terminal. What a step in flight returns later is refused.",
    "With --all: every instance that has not ended, or that the filters choose. A script says --yes.",
  ],
  connects: true,
  arguments: verbArguments,
  options: { reason: { summary: "kept with the instance" }, ...verbOptions },
  examples: [
    { line: "instances terminate order o-17", about: "asks, then ends it" },
    { line: "instances terminate order o-17 --yes --reason 'sent twice'", about: "in a script" },
    {
      line: "instances terminate --workflow order --status waiting --all --dry-run",
      about: "which orders would it end?",
    },
    { line: "wf cancel o-17", about: "by its id alone" },
  ],
  run: (context) =>
    runVerb(context, {
      infinitive: "terminate",
      participle: "terminated",
      statuses: liveStatuses,
      asks: "for one",
      act: (instance) => instance.terminate({ reason: context.values.reason }),
    }),
});

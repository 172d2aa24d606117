import { instanceStatuses, terminalStatuses } from "../../model/instance.ts";
import { defineCommand } from "../command.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesDelete = defineCommand({
  path: ["instances", "delete"],
  group: "Instances",
  summary: "remove an instance with everything recorded of it, or many of them",
  description: [
    "Asks first when a person is at the terminal. All runs, steps, events and log lines go; the id is free again.",
    "One that has not ended is refused; --force ends and removes it at once.",
    "With --all: every instance that has ended (with --force: every instance), or that the filters choose. A script says --yes.",
  ],
  connects: true,
  arguments: verbArguments,
  options: {
    force: { type: "flag", summary: "also one that has not ended" },
    ...verbOptions,
  },
  examples: [
    { line: "instances delete order o-17", about: "asks, then removes it" },
    { line: "instances delete order o-17 --force --yes", about: "in a script, whatever it is at" },
    {
      line: "instances delete --workflow order --status errored --all --dry-run",
      about: "which orders would it remove?",
    },
  ],
  run: (context) => {
    const { force } = context.values;
    return runVerb(context, {
      infinitive: "delete",
      participle: "deleted",
      statuses: force ? instanceStatuses : terminalStatuses,
      asks: "for one",
      act: (instance, chosen) => instance.delete({ force, createdAt: chosen?.createdAt }),
    });
  },
});

import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { UsageError } from "../problems.ts";
import { runVerb, verbArguments, verbOptions } from "../verbs/verb.ts";

export const instancesRestart = defineCommand({
  path: ["instances", "restart"],
  group: "Instances",
  summary: "run an instance again, from its beginning or from a step, or many of them",
  description: [
    'It becomes its next run, and is allowed in every status. What earlier runs recorded is kept: see "everstep instances history --run".',
    "With --all and --status: every instance that the filters choose. It asks first.",
  ],
  connects: true,
  arguments: verbArguments,
  options: {
    from: { placeholder: "<step>", summary: "keep what was recorded before this step, and run from it" },
    ...verbOptions,
  },
  examples: [
    { line: "instances restart order o-17", about: "once more from the beginning" },
    { line: "instances restart order o-17 --from ship", about: "keep what came before the step" },
    {
      line: "instances restart --workflow order --status errored --since 1h --all --yes",
      about: "what failed within this hour, in a script",
    },
  ],
  run(context) {
    const { from, all, status } = context.values;
    if (all && status.length === 0) {
      throw new UsageError(
        "A restart runs steps again that were done: say of which instances, with --status.",
        "For example: --all --status errored",
      );
    }
    return runVerb(context, {
      infinitive: "restart",
      participle: "restarted",
      statuses: [],
      asks: "for many",
      act: (instance) => instance.restart({ from }),
      said: (instance) => `Restarted ${nameOf(instance)}${from === undefined ? "" : ` from step ${from}`}.`,
    });
  },
});

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesRestart = defineCommand({
  path: ["instances", "restart"],
  group: "Instances",
  summary: "run an instance again, from its beginning or from a step",
  description: [
    'It becomes its next run, and is allowed in every status. What earlier runs recorded is kept: see "everstep instances history --run".',
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    from: { placeholder: "<step>", summary: "keep what was recorded before this step, and run from it" },
  },
  examples: [
    { line: "instances restart order o-17", about: "once more from the beginning" },
    { line: "instances restart order o-17 --from ship", about: "keep what came before the step" },
  ],
  async run(context) {
    const { from } = context.values;
    const instance = await instanceOf(context);
    await instance.restart({ from });
    context.out.line(`Restarted ${nameOf(instance)}${from === undefined ? "" : ` from step ${from}`}.`);
  },
});

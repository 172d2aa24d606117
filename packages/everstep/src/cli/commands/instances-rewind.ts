import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";

export const instancesRewind = defineCommand({
  path: ["instances", "rewind"],
  aliases: [["wf", "rewind"]],
  group: "Instances",
  summary: "go back to a step, and run from there",
  description: ["What was recorded before the step is kept, and the instance runs from it as its next run."],
  connects: true,
  arguments: [
    ...instanceArguments,
    { name: "step", asOption: true, summary: "the step's name, or its key as the timeline shows it" },
  ],
  options: jsonOption,
  examples: [
    { line: "instances rewind order o-17 ship", about: "ship once more" },
    { line: "wf rewind o-17 ship", about: "by its id alone" },
  ],
  async run(context) {
    const instance = await instanceOf(context);
    await instance.rewind(context.values.step);
    const { workflowName, id } = instance;
    if (context.values.json) return context.out.raw(jsonDocument({ workflowName, id, ok: true }));
    context.out.line(`Rewound ${nameOf(instance)} to step ${context.values.step}.`);
  },
});

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";

export const instancesFork = defineCommand({
  path: ["instances", "fork"],
  group: "Instances",
  summary: "begin a new instance with the same params and recorded steps",
  description: ["The original is left as it is."],
  connects: true,
  arguments: instanceArguments,
  options: {
    from: {
      placeholder: "<step>",
      summary: "keep what was recorded before this step; without it nothing is kept",
    },
    "new-id": { placeholder: "<id>", summary: "id of the new instance; made up when left out" },
    ...jsonOption,
  },
  examples: [
    { line: "instances fork order o-17 --from ship", about: "try the rest once more, beside the original" },
    { line: "instances fork order o-17 --new-id o-17-again", about: "the same from the beginning" },
  ],
  async run(context) {
    const { from, newId, json } = context.values;
    const instance = await instanceOf(context);
    const forked = await instance.fork({ from, newId });
    const { workflowName, id } = forked;
    if (json) return context.out.raw(jsonDocument({ workflowName, id }));
    context.out.line(`Forked ${nameOf(instance)} as ${nameOf(forked)}.`);
  },
});

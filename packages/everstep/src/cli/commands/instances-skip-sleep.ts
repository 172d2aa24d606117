import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import { ended, hasEnded, statusIfKnown } from "../verbs/ended.ts";

export const instancesSkipSleep = defineCommand({
  path: ["instances", "skip-sleep"],
  group: "Instances",
  summary: "end the sleep an instance is in",
  description: ["It has no effect on an instance that is in no sleep; one that has ended is refused."],
  connects: true,
  arguments: instanceArguments,
  options: jsonOption,
  examples: [{ line: "instances skip-sleep order o-17", about: "do not wait for tomorrow" }],
  async run(context) {
    const instance = await instanceOf(context);
    const status = await statusIfKnown(instance);
    if (hasEnded(status)) throw ended(instance, status, "it is in no sleep");
    await instance.skipSleep();
    const { workflowName, id } = instance;
    if (context.values.json) return context.out.raw(jsonDocument({ workflowName, id, ok: true }));
    context.out.line(`The sleep of ${nameOf(instance)} is over, if it was in one.`);
  },
});

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf } from "../instance-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import { writeWhy } from "../output/why.ts";

export const instancesWhy = defineCommand({
  path: ["instances", "why"],
  group: "Instances",
  summary: "say why an instance is not moving, and what to do about it",
  connects: true,
  arguments: instanceArguments,
  options: jsonOption,
  examples: [{ line: "instances why order o-17", about: "what is it waiting for?" }],
  async run(context) {
    const instance = await instanceOf(context);
    const why = await instance.why();
    if (context.values.json) context.out.raw(jsonDocument(why));
    else writeWhy(why, instance, context.runtime.now(), context.out);
  },
});

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesResume = defineCommand({
  path: ["instances", "resume"],
  group: "Instances",
  summary: "let a paused instance go on",
  description: ["It has no effect on an instance that is not paused."],
  connects: true,
  arguments: instanceArguments,
  examples: [{ line: "instances resume order o-17", about: "go on" }],
  async run(context) {
    const instance = await instanceOf(context);
    await instance.resume();
    context.out.line(`Resumed ${nameOf(instance)}.`);
  },
});

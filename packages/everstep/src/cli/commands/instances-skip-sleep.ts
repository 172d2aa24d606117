import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesSkipSleep = defineCommand({
  path: ["instances", "skip-sleep"],
  group: "Instances",
  summary: "end the sleep an instance is in",
  description: ["It has no effect on an instance that is in no sleep."],
  connects: true,
  arguments: instanceArguments,
  examples: [{ line: "instances skip-sleep order o-17", about: "do not wait for tomorrow" }],
  async run(context) {
    const instance = await instanceOf(context);
    await instance.skipSleep();
    context.out.line(`The sleep of ${nameOf(instance)} is over, if it was in one.`);
  },
});

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesPause = defineCommand({
  path: ["instances", "pause"],
  group: "Instances",
  summary: "stop an instance after the step it is in",
  description: [
    'Timers keep counting and events are kept meanwhile. A paused instance goes on with "everstep instances resume".',
  ],
  connects: true,
  arguments: instanceArguments,
  examples: [{ line: "instances pause order o-17", about: "hold it while you look" }],
  async run(context) {
    const instance = await instanceOf(context);
    await instance.pause();
    context.out.line(`Paused ${nameOf(instance)}.`);
  },
});

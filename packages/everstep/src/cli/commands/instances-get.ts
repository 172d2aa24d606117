import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf } from "../instance-of.ts";
import { writeInstance } from "../output/instance-facts.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import { painted } from "../output/paint.ts";
import { withRunning } from "../output/running-step.ts";
import { writeTimeline } from "../output/timeline.ts";
import { writeWhy } from "../output/why.ts";
import { wholeHistory } from "../whole-history.ts";

export const instancesGet = defineCommand({
  path: ["instances", "get"],
  aliases: [["wf", "show"]],
  group: "Instances",
  summary: "show one instance: its status, why, and its steps on a timeline",
  description: [
    "Every step has a line: ✓ completed, ✗ failed, ● running, ○ waiting; its name; what it is; how long it took; and a bar " +
      "that shows when. Starts that were cut off because the process died are counted.",
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    full: {
      type: "flag",
      summary: "with params, output, the stack of an error and everything else that is known",
    },
    ...jsonOption,
  },
  examples: [
    { line: "instances get order o-17", about: "how it is doing" },
    { line: "instances get --workflow order --id o-17 --full", about: "everything about it" },
    { line: "wf show o-17", about: "by its id alone" },
  ],
  async run(context) {
    const { out, values, runtime } = context;
    const instance = await instanceOf(context);
    const [details, why, recorded] = await Promise.all([
      instance.details(),
      instance.why(),
      wholeHistory(instance),
    ]);
    const steps = withRunning(recorded.steps, details.meta);
    if (values.json) return out.raw(jsonDocument({ ...details, why, steps }));
    const now = runtime.now();
    writeInstance(details, values.full, now, out, why);
    out.line();
    writeWhy(why, instance, now, out);
    if (steps.length === 0) return;
    out.line();
    out.line(painted("bold", "Steps"));
    writeTimeline(steps, now, out, details.meta.completedAt);
  },
});

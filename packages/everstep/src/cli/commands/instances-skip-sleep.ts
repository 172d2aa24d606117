import type { InstanceClient } from "../../fetch-client/index.ts";
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
    const before = await sleepOf(instance);
    await instance.skipSleep();
    const { workflowName, id } = instance;
    if (context.values.json) return context.out.raw(jsonDocument({ workflowName, id, ok: true }));
    context.out.line(said(nameOf(instance), before));
  },
});

function said(name: string, sleep: string | null | undefined): string {
  if (sleep === undefined) return `Ended the sleep of ${name}, if it was in one.`;
  return sleep === null
    ? `${name} is in no sleep; nothing was changed.`
    : `Ended the sleep ${JSON.stringify(sleep)} of ${name}.`;
}

/** The name of the sleep it is in, null for none; undefined where whoever steers may not look. */
async function sleepOf(instance: InstanceClient): Promise<string | null | undefined> {
  try {
    const { reason, waitsFor } = await instance.why();
    // Of several waits the one that ends first is told; a sleep may be behind it.
    if (reason === "sleeping") return waitsFor?.stepName;
    return waitsFor === undefined ? null : undefined;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "FORBIDDEN") return undefined;
    throw error;
  }
}

import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { readJsonFrom } from "../json-source.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";

export const instancesSendEvent = defineCommand({
  path: ["instances", "send-event"],
  group: "Instances",
  summary: "send an event to an instance",
  description: ["It waits there until the workflow asks for its type."],
  connects: true,
  arguments: [
    ...instanceArguments,
    { name: "type", asOption: true, summary: "the type that the workflow waits for" },
    {
      name: "payload",
      asOption: true,
      optional: true,
      type: "json",
      summary: "what the workflow receives, as JSON",
    },
  ],
  options: {
    "payload-file": {
      placeholder: "<file>",
      suggests: "files",
      summary: "the same from a file, or from standard input with -",
    },
    "idempotency-key": {
      placeholder: "<key>",
      summary: "sending again with the same key has no further effect",
    },
    ...jsonOption,
  },
  examples: [
    { line: "instances send-event order o-17 approved", about: "without a payload" },
    { line: `instances send-event o-17 approved '{"by": "ann"}'`, about: "by its id alone, with a payload" },
    {
      line: `instances send-event --workflow order --id o-17 --type approved --payload '{"by": "ann"}'`,
      about: "with one",
    },
  ],
  async run(context) {
    const { values, out } = context;
    const payload = await readJsonFrom("payload", values.payload, values.payloadFile, context);
    const instance = await instanceOf(context);
    const { status, output, error } = await instance.sendEvent({
      type: values.type,
      payload,
      idempotencyKey: values.idempotencyKey,
    });
    const { workflowName, id } = instance;
    if (values.json) return out.raw(jsonDocument({ workflowName, id, status, output, error }));
    out.line(`Sent ${values.type} to ${nameOf(instance)}, which is ${status}.`);
  },
});

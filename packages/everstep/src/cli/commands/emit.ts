import { defineCommand } from "../command.ts";
import { readJsonFrom } from "../json-source.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";

export const emit = defineCommand({
  path: ["emit"],
  group: "Workflows and topics",
  summary: "publish to a topic: every instance that waits for it now gets it",
  description: ['It is not kept for instances that wait later; "everstep waiters" shows who would get it.'],
  connects: true,
  arguments: [
    { name: "topic", summary: "the topic's name" },
    { name: "payload", asOption: true, optional: true, type: "json", summary: "what they receive, as JSON" },
  ],
  options: {
    "payload-file": {
      placeholder: "<file>",
      suggests: "files",
      summary: "the payload from a file, or from standard input with -",
    },
    "idempotency-key": {
      placeholder: "<key>",
      summary: "publishing again with the same key has no further effect",
    },
    ...jsonOption,
  },
  examples: [
    { line: `emit prices.changed '{"currency": "EUR"}'`, about: "wake whoever waits for it" },
    { line: "emit prices.changed --payload-file - < prices.json", about: "the payload from standard input" },
  ],
  async run(context) {
    const { values, out } = context;
    const payload = await readJsonFrom("payload", values.payload, values.payloadFile, context);
    const client = await context.connect();
    const { waiters } = await client.publish(values.topic, payload, {
      idempotencyKey: values.idempotencyKey,
    });
    if (values.json) return out.raw(jsonDocument({ topic: values.topic, waiters }));
    const whom =
      waiters === 0
        ? "no instance; none was waiting for it"
        : waiters === 1
          ? "1 instance"
          : `${waiters} instances`;
    out.line(`Reached ${whom}.`);
  },
});

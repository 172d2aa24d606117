import { whenOver } from "../../words/index.ts";
import { defineCommand } from "../command.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { writeTable } from "../output/table.ts";
import { whenDue } from "../output/time.ts";
import { pageOptions, readPages, writeJsonLines, writeNext } from "../paging.ts";

export const waiters = defineCommand({
  path: ["waiters"],
  group: "Workflows and topics",
  summary: "list the instances that wait for a topic",
  connects: true,
  arguments: [{ name: "topic", summary: "the topic's name" }],
  options: { ...pageOptions, ...jsonLinesOption },
  examples: [{ line: "waiters prices.changed", about: "whom would it reach?" }],
  async run({ values, out, err, runtime, connect }) {
    const client = await connect();
    const pages = await readPages(values, (place) => client.waiters(values.topic, place));
    const found = pages.flatMap((page) => page.waiters);
    if (values.json) return writeJsonLines(found, pages, { out, err });
    if (found.length === 0) return out.line(`No instance waits for ${values.topic}.`);
    const now = runtime.now();
    writeTable(
      [
        { title: "workflow" },
        { title: "id" },
        { title: "run", align: "right" },
        { title: "step", shrinks: true },
        { title: whenOver.topic },
      ],
      found.map(({ workflowName, instanceId, runNumber, stepKey, deadlineAt, hasEvent }) => [
        { text: workflowName },
        { text: instanceId },
        { text: String(runNumber) },
        { text: stepKey },
        { text: hasEvent ? "has its event" : whenDue(deadlineAt, now) },
      ]),
      out,
    );
    writeNext(pages, out);
  },
});

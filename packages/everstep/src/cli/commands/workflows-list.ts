import { defineCommand } from "../command.ts";
import { jsonLine } from "../output/json-document.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { statusStyle } from "../output/status.ts";
import { writeTable } from "../output/table.ts";
import { statuses } from "../status-words.ts";

export const workflowsList = defineCommand({
  path: ["workflows", "list"],
  aliases: [["workflows"]],
  group: "Workflows and topics",
  summary: "list the workflows, and their instances by status",
  connects: true,
  options: jsonLinesOption,
  examples: [{ line: "workflows list", about: "what is there" }],
  async run({ values, out, connect }) {
    const client = await connect();
    const workflows = await client.workflows();
    const counts = await Promise.all(workflows.map(({ name }) => client.counts(name)));
    if (values.json) {
      for (const [at, { name }] of workflows.entries()) out.raw(jsonLine({ name, counts: counts[at] }));
      return;
    }
    if (workflows.length === 0) return out.line("The server has no workflows.");
    const rows = workflows.map(({ name }, at) => [
      { text: name },
      ...statuses.map((status) => countCell(counts[at]?.[status] ?? 0, status)),
    ]);
    writeTable(
      [
        { title: "workflow", shrinks: true },
        ...statuses.map((title) => ({ title, align: "right" as const })),
      ],
      rows,
      out,
    );
  },
});

function countCell(count: number, status: string) {
  return { text: String(count), style: count === 0 ? ("dim" as const) : statusStyle(status) };
}

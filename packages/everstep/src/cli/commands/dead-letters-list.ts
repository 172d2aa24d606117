import { defineCommand } from "../command.ts";
import { writeInstanceTable } from "../output/instance-table.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { pageOptions, readPages, writeJsonLines, writeNext } from "../paging.ts";

export const deadLettersList = defineCommand({
  path: ["dead-letters", "list"],
  aliases: [["dead-letters"]],
  group: "Instances",
  summary: "list the instances that the engine gave up on",
  connects: true,
  arguments: [{ name: "workflow", asOption: true, optional: true, summary: "of this workflow only" }],
  options: { ...pageOptions, ...jsonLinesOption },
  examples: [
    { line: "dead-letters", about: "what was given up" },
    { line: "dead-letters list order --all", about: "all of one workflow" },
  ],
  async run({ values, out, err, runtime, connect }) {
    const client = await connect();
    const pages = await readPages(values, (place) =>
      client.deadLetters({ ...place, workflowName: values.workflow }),
    );
    const found = pages.flatMap((page) => page.instances);
    if (values.json) return writeJsonLines(found, pages, { out, err });
    if (found.length === 0) return out.line("There are no dead letters.");
    writeInstanceTable(found, runtime.now(), out);
    writeNext(pages, out);
  },
});

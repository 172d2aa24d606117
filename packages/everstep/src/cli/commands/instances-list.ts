import type { WireInstances } from "../../http/wire.ts";
import { defineCommand } from "../command.ts";
import { filterOf, filterOptions } from "../instance-filter.ts";
import { writeInstance } from "../output/instance-facts.ts";
import { type ListedInstance, writeInstanceTable } from "../output/instance-table.ts";
import type { Output } from "../output/output.ts";
import { pageOptions, readPages, writeNext } from "../paging.ts";

export const instancesList = defineCommand({
  path: ["instances", "list"],
  aliases: [["wf", "ls"]],
  group: "Instances",
  summary: "list instances, the newest first",
  description: [
    "Without a workflow, instances of all workflows are listed. One page is shown, with the command that shows the next; " +
      "--all shows everything.",
    "Words of other engines for a status are understood: running, pending, suspended, completed, failed, cancelled.",
  ],
  connects: true,
  arguments: [
    { name: "workflow", asOption: true, optional: true, summary: "instances of this workflow only" },
  ],
  options: {
    ...filterOptions,
    order: { choices: ["asc", "desc"], summary: "by creation" },
    ...pageOptions,
    full: { type: "flag", summary: "everything about each: times, params, output, error" },
  },
  examples: [
    { line: "instances list", about: "the newest instances of all workflows" },
    { line: "instances list order --status errored,paused", about: "what needs a look" },
    { line: "instances list --workflow order --status waiting --all", about: "every waiting order" },
    { line: "instances list --since 1h --id-prefix nightly- --all", about: "this hour's, by their ids" },
    { line: "wf ls --status running --order asc --page-size 10", about: "the ten oldest that run" },
  ],
  async run({ values, out, runtime, connect }) {
    const { workflow, order } = values;
    const brief = values.full ? false : undefined;
    const filter = { order, brief, ...filterOf(values, runtime.now()) };
    const client = await connect();
    const pages = await readPages<WireInstances>(values, (place) =>
      workflow === undefined
        ? client.instances({ ...filter, ...place })
        : client.workflow(workflow).list({ ...filter, ...place, meta: true }),
    );
    const found = pages.flatMap((page) => page.instances);
    // Looking for ids goes through the list, some thousands at a time.
    if (found.length === 0 && pages.at(-1)?.hasNextPage)
      out.line("There is none among the newest; there may be further on.");
    else write(found, values.full, runtime.now(), out);
    writeNext(pages, out);
  },
});

function write(instances: readonly ListedInstance[], full: boolean, now: number, out: Output): void {
  if (instances.length === 0) return out.line("There are no such instances.");
  if (!full) return writeInstanceTable(instances, now, out);
  for (const [at, { meta, ...instance }] of instances.entries()) {
    if (at > 0) out.line();
    if (meta !== undefined) writeInstance({ ...instance, meta }, true, now, out);
  }
}

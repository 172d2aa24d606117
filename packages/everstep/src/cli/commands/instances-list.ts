import type { Client } from "../../fetch-client/index.ts";
import type { Runtime } from "../../index.ts";
import type { WireInstances } from "../../wire/index.ts";
import type { KnownWait } from "../../words/index.ts";
import { defineCommand } from "../command.ts";
import { filterOf, filterOptions } from "../instance-filter.ts";
import { writeInstance } from "../output/instance-facts.ts";
import { type ListedInstance, writeInstanceTable } from "../output/instance-table.ts";
import { jsonLine } from "../output/json-document.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import type { Output } from "../output/output.ts";
import { pageOptions, readPages, writeJsonLines, writeNext } from "../paging.ts";
import { UsageError } from "../problems.ts";
import { waitNotes } from "../wait-notes.ts";

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
    watch: {
      type: "flag",
      short: "w",
      summary: "show the first page again whenever it changed, until Ctrl-C",
    },
    ...jsonLinesOption,
  },
  examples: [
    { line: "instances list", about: "the newest instances of all workflows" },
    { line: "instances list order --status errored,paused", about: "what needs a look" },
    { line: "instances list --workflow order --status waiting --all", about: "every waiting order" },
    { line: "instances list --since 1h --id-prefix nightly- --all", about: "this hour's, by their ids" },
    { line: "instances list order --watch", about: "and see them go on" },
    { line: "instances list order --all --json | jq .id", about: "for programs" },
    { line: "wf ls --status running --order asc --page-size 10", about: "the ten oldest that run" },
  ],
  async run({ values, out, err, runtime, connect }) {
    const { workflow, order } = values;
    const brief = values.full ? false : undefined;
    const filter = { order, brief, ...filterOf(values, runtime.now()) };
    if (values.watch && (values.all || values.cursor !== undefined || values.full)) {
      throw new UsageError("--watch shows the first page, in brief: leave out --all, --cursor and --full.");
    }
    const client = await connect();
    if (values.watch) {
      const request = { ...filter, brief: undefined, pageSize: values.pageSize };
      const changes =
        workflow === undefined ? client.watchInstances(request) : client.workflow(workflow).watch(request);
      return watchList(changes, client, values.json, runtime, out);
    }
    const pages = await readPages<WireInstances>(values, (place) =>
      workflow === undefined
        ? client.instances({ ...filter, ...place })
        : client.workflow(workflow).list({ ...filter, ...place, meta: true }),
    );
    const found = pages.flatMap((page) => page.instances);
    if (values.json) return writeJsonLines(found, pages, { out, err });
    // Looking for ids goes through the list, some thousands at a time.
    if (found.length === 0 && pages.at(-1)?.hasNextPage)
      out.line("There is none among the newest; there may be further on.");
    else
      write(found, values.full, runtime.now(), out, values.full ? undefined : await waitNotes(client, found));
    writeNext(pages, out);
  },
});

/** At a terminal the list stands where it stood; elsewhere one follows the other. */
async function watchList(
  changes: AsyncIterable<WireInstances>,
  client: Client,
  isJson: boolean,
  runtime: Runtime,
  out: Output,
): Promise<void> {
  let isFirst = true;
  for await (const { instances } of changes) {
    if (isJson) {
      out.raw(jsonLine({ instances }));
      continue;
    }
    if (out.isTerminal) out.raw("\u001b[H\u001b[2J");
    else if (!isFirst) out.line();
    isFirst = false;
    write(instances, false, runtime.now(), out, await waitNotes(client, instances));
  }
}

function write(
  instances: readonly ListedInstance[],
  full: boolean,
  now: number,
  out: Output,
  waits?: ReadonlyMap<ListedInstance, KnownWait>,
): void {
  if (instances.length === 0) return out.line("There are no such instances.");
  if (!full) return writeInstanceTable(instances, now, out, waits);
  for (const [at, { meta, ...instance }] of instances.entries()) {
    if (at > 0) out.line();
    if (meta !== undefined) writeInstance({ ...instance, meta }, true, now, out);
  }
}

import type { FollowLogsOptions, InstanceClient } from "../../fetch-client/index.ts";
import type { WireLogLine } from "../../wire/index.ts";
import { defineCommand } from "../command.ts";
import { logOptions } from "../common-log-options.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf } from "../instance-of.ts";
import { jsonLine } from "../output/json-document.ts";
import { jsonLinesOption } from "../output/json-option.ts";
import { logPieces } from "../output/log-line.ts";
import type { Output } from "../output/output.ts";
import { painted } from "../output/paint.ts";
import { maxPageSize } from "../paging.ts";
import { UsageError } from "../problems.ts";

export const instancesLogs = defineCommand({
  path: ["instances", "logs"],
  group: "Instances",
  summary: "show the log lines of an instance, and follow them",
  description: [
    "With --follow new lines appear as they are written, into later runs too, until the instance has ended.",
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    follow: { type: "flag", short: "f", summary: "go on with new lines until the instance has ended" },
    run: { type: "number", summary: "the number of the run; the current one when left out" },
    ...logOptions,
    ...jsonLinesOption,
  },
  examples: [
    { line: "instances logs order o-17 --follow", about: "watch it work" },
    {
      line: "instances logs order o-17 --run 1 --log-level error",
      about: "what went wrong in the first run",
    },
  ],
  async run(context) {
    const { values, out } = context;
    const { run, logLevel, logCategory } = values;
    if (values.follow && run !== undefined) {
      throw new UsageError(
        "--follow goes on into later runs, so it cannot be one --run.",
        "Leave one of them out.",
      );
    }
    const filter = { level: logLevel, category: logCategory };
    const instance = await instanceOf(context);
    const lines = values.follow ? instance.followLogs(filter) : recorded(instance, filter, run);
    let shown = 0;
    let runNumber: number | undefined;
    for await (const line of lines) {
      if (values.json) {
        out.raw(jsonLine(line));
        continue;
      }
      if (runNumber !== undefined && line.runNumber !== runNumber)
        out.line(painted("bold", `run ${line.runNumber}`));
      runNumber = line.runNumber;
      writeLine(line, out);
      shown++;
    }
    if (shown === 0 && !values.json) out.line("There are no such log lines.");
  },
});

async function* recorded(
  instance: InstanceClient,
  filter: FollowLogsOptions,
  run: number | undefined,
): AsyncGenerator<WireLogLine> {
  let cursor: string | undefined;
  do {
    const page = await instance.logs({
      ...filter,
      pageSize: maxPageSize,
      runNumber: run,
      cursor,
    });
    yield* page.logs;
    cursor = page.hasNextPage ? page.cursor : undefined;
  } while (cursor !== undefined);
}

function writeLine(line: WireLogLine, out: Output): void {
  out.line(painted("dim", line.createdAt), "  ", ...logPieces(line));
}

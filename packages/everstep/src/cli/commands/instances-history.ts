import { defineCommand } from "../command.ts";
import { logOptions } from "../common-log-options.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { writeHistory } from "../output/history.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";
import { painted } from "../output/paint.ts";
import { withRunning } from "../output/running-step.ts";
import { wholeHistory } from "../whole-history.ts";

export const instancesHistory = defineCommand({
  path: ["instances", "history"],
  group: "Instances",
  summary: "tell what happened in a run, in order",
  description: [
    "Its steps, failed attempts and events, one line each, who steered it, and with --include-logs its log lines between them.",
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    run: { type: "number", summary: "the number of the run; the current one when left out" },
    "include-logs": { type: "flag", summary: "with the log lines that the workflow and the engine wrote" },
    ...logOptions,
    ...jsonOption,
  },
  examples: [
    { line: "instances history order o-17", about: "the current run" },
    {
      line: "instances history order o-17 --run 1 --include-logs",
      about: "the first run with its log lines",
    },
    {
      line: "instances history --workflow order --id o-17 --include-logs --log-level error --log-category system",
      about: "with what the engine complained of",
    },
  ],
  async run(context) {
    const { values, out } = context;
    const { run, logLevel, logCategory } = values;
    const instance = await instanceOf(context);
    // Whoever says which lines wants lines.
    const includeLogs = values.includeLogs || logLevel !== undefined || logCategory !== undefined;
    const told = await wholeHistory(instance, {
      runNumber: run,
      includeLogs: true,
      logLevel,
      // Who steered it is told in any case.
      logCategory: includeLogs ? logCategory : "operator",
    });
    const current = run === undefined ? (await instance.details()).meta : undefined;
    const steps = current?.runNumber === told.runNumber ? withRunning(told.steps, current) : told.steps;
    const history = { ...told, steps };
    if (values.json) return out.raw(jsonDocument(history));
    out.line(painted("bold", nameOf(instance)), `  run ${history.runNumber}`);
    if (history.steps.length + history.events.length + history.logs.length === 0) {
      return out.line("Nothing is recorded of it yet.");
    }
    writeHistory(history, out);
  },
});

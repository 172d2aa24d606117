import { defineCommand } from "../command.ts";
import { nameOf } from "../instance-of.ts";
import { readJsonFrom } from "../json-source.ts";
import { type Moment, timeOf } from "../moment.ts";
import { endOf, writeEnding } from "../output/end-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { jsonOption } from "../output/json-option.ts";

export const instancesCreate = defineCommand({
  path: ["instances", "create"],
  aliases: [["wf", "start"]],
  group: "Instances",
  summary: "create an instance, which begins to run",
  connects: true,
  arguments: [
    { name: "workflow", asOption: true, summary: "the workflow's name" },
    {
      name: "params",
      asOption: true,
      optional: true,
      type: "json",
      summary: "what the workflow gets, as JSON",
    },
  ],
  options: {
    "params-file": {
      placeholder: "<file>",
      suggests: "files",
      summary: "the params from a file, or from standard input with -",
    },
    id: { summary: "its id; made up when left out" },
    "if-exists": { choices: ["error", "return"], summary: "what to do when the id is taken (default error)" },
    "start-at": {
      type: "time",
      placeholder: "<time>",
      summary: "not before this time (2026-01-31T12:00:00Z), this day (2026-01-31), or after this long (1h)",
    },
    deadline: {
      type: "time",
      placeholder: "<time>",
      summary: "terminated if it has not ended by then: a time, a day, or how long from now",
    },
    retention: {
      placeholder: "<duration>",
      summary: "app.prune() may delete it this long after it ended (30d); kept forever when left out",
    },
    wait: {
      type: "flag",
      summary: "wait until it has ended, and show how; exit code 70 unless it is complete",
    },
    ...jsonOption,
  },
  examples: [
    { line: `instances create order '{"amount": 5}'`, about: "with params" },
    {
      line: `instances create --workflow order --id o-17 --params '{"amount": 5}' --wait`,
      about: "and see how it ends",
    },
    { line: "instances create order --params-file order.json", about: "params from a file" },
    { line: `wf start order '{"amount": 5}'`, about: "the same in other words" },
  ],
  async run(context) {
    const { values, out, err, runtime } = context;
    const params = await readJsonFrom("params", values.params, values.paramsFile, context);
    const time = (moment?: Moment) => (moment === undefined ? undefined : timeOf(moment, runtime.now()));
    const client = await context.connect();
    const instance = await client.workflow(values.workflow).create({
      ...(params === undefined ? {} : { params }),
      ...given({ id: values.id, ifExists: values.ifExists, retention: values.retention }),
      ...given({ startAt: time(values.startAt), deadline: time(values.deadline) }),
    });
    const { workflowName, id } = instance;
    if (values.json && !values.wait) {
      out.raw(jsonDocument({ workflowName, id }));
      return;
    }
    if (!values.json)
      out.line(`${values.ifExists === "return" ? "There is" : "Created"} ${nameOf(instance)}.`);
    if (!values.wait) return;
    const ending = await endOf(instance, err, runtime.now);
    if (!values.json) return writeEnding(ending, out) ? 0 : 70;
    const { status, output, error } = ending;
    out.raw(jsonDocument({ workflowName, id, status, output, error }));
    return status === "complete" ? 0 : 70;
  },
});

/** Without what was left out. */
function given<Given extends object>(
  options: Given,
): { [Name in keyof Given]: Exclude<Given[Name], undefined> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}

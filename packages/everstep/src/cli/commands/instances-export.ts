import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";
import { jsonDocument } from "../output/json-document.ts";
import { CommandFailed } from "../problems.ts";

export const instancesExport = defineCommand({
  path: ["instances", "export"],
  group: "Instances",
  summary: "write a run's history as one JSON document",
  description: [
    'The document has everything the run recorded, params and results included. "everstep replay" holds code against it.',
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    run: { type: "number", summary: "the number of the run; the current one when left out" },
    output: {
      short: "o",
      placeholder: "<file>",
      suggests: "files",
      summary: "write it to this file, which only you can read",
    },
  },
  examples: [
    { line: "instances export order o-17 > o-17.json", about: "to standard output" },
    { line: "instances export order o-17 --run 1 --output o-17.json", about: "the first run, to a file" },
  ],
  async run(context) {
    const { values, out, cwd } = context;
    const instance = await instanceOf(context);
    const document = await instance.exportHistory({ runNumber: values.run });
    if (values.output === undefined) return out.raw(jsonDocument(document));
    write(resolve(cwd, values.output), jsonDocument(document));
    out.line(`Wrote the history of ${nameOf(instance)} to ${values.output}.`);
  },
});

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600 });
  } catch (error) {
    throw new CommandFailed(`${path} cannot be written: ${(error as Error).message.replace(/\.$/, "")}.`);
  }
}

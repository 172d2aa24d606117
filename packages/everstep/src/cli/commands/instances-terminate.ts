import { defineCommand } from "../command.ts";
import { instanceArguments } from "../common-options.ts";
import { instanceOf, nameOf } from "../instance-of.ts";

export const instancesTerminate = defineCommand({
  path: ["instances", "terminate"],
  aliases: [["wf", "cancel"]],
  group: "Instances",
  summary: "end an instance for good",
  description: [
    "Asks first when a person is at the terminal. What a step in flight returns later is refused.",
  ],
  connects: true,
  arguments: instanceArguments,
  options: {
    reason: { summary: "kept with the instance" },
    yes: { type: "flag", short: "y", summary: "do not ask" },
  },
  examples: [
    { line: "instances terminate order o-17", about: "asks, then ends it" },
    { line: "instances terminate order o-17 --yes --reason 'sent twice'", about: "in a script" },
    { line: "wf cancel o-17", about: "by its id alone" },
  ],
  async run(context) {
    const { values, input, out, err } = context;
    const instance = await instanceOf(context);
    if (!values.yes && input.isTerminal && err.isTerminal) {
      const answer = await input.ask(`Terminate ${nameOf(instance)}? It cannot be undone. [y/N] `);
      if (!/^y(es)?$/i.test(answer?.trim() ?? "")) {
        out.line("Nothing was done.");
        return 70;
      }
    }
    await instance.terminate({ reason: values.reason });
    out.line(`Terminated ${nameOf(instance)}.`);
  },
});

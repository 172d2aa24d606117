import { type Command, defineCommand } from "../command.ts";
import { findCommand } from "../find-command.ts";
import { writeHelpOn } from "../help/help.ts";
import { writeOverview } from "../help/overview.ts";

export function createHelp(commands: () => readonly Command[]): Command {
  return defineCommand({
    path: ["help"],
    group: "Help",
    summary: "explain a command, or all of them",
    arguments: [
      { name: "command", optional: true, summary: "its first word" },
      { name: "verb", optional: true, summary: "its second word" },
    ],
    examples: [
      { line: "help", about: "everything at one glance" },
      { line: "help instances list", about: "one command" },
    ],
    async run({ values, out }) {
      const words = [values.command, values.verb].filter((word) => word !== undefined);
      if (words.length === 0) writeOverview(commands(), out);
      // What names nothing is an error, which says what may have been meant.
      else if (!writeHelpOn(words, commands(), out)) findCommand(commands(), words);
    },
  });
}

/** What the commands that look at a store have in common. */
import type { Argument, OptionTable } from "../command.ts";

export const fileArgument = {
  name: "file",
  suggests: "files",
  summary: "the file that exports an app, or workflows",
} as const satisfies Argument;

export const storeOption = {
  store: {
    placeholder: "<path>",
    suggests: "files",
    summary: "a SQLite file to use for a file that exports only workflows (default that of everstep dev)",
  },
} as const satisfies OptionTable;

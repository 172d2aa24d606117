/** The options that many commands have. */
import type { Argument, OptionTable, ValueOption, ValuesOf } from "./command.ts";

/** Of every command that talks to a server. */
export const connectionOptions = {
  url: { summary: "where the workflows are mounted, for instance https://host/api/workflows" },
  header: {
    short: "H",
    repeat: true,
    placeholder: '"Name: value"',
    summary: "a header to send with every request, may be repeated",
  },
  timeout: { type: "duration", summary: "how long to wait for an answer (default 15s)" },
  retries: {
    type: "number",
    summary: "how often to try again when there is no answer, or 429, or 5xx (default 2)",
  },
} as const satisfies Readonly<Record<string, ValueOption>>;

export type ConnectionValues = ValuesOf<readonly [], typeof connectionOptions>;

/** Of every command. */
export const commonOptions = {
  help: { type: "flag", short: "h", summary: "explain the command" },
} as const satisfies OptionTable;

/** How instances are named: by workflow and id, or by the id alone where only one workflow has it. */
export const instanceArguments = [
  {
    name: "workflow",
    asOption: true,
    optional: true,
    summary: "the workflow's name; without it the id is looked for in all workflows",
  },
  { name: "id", asOption: true, summary: "the instance's id" },
] as const satisfies readonly Argument[];

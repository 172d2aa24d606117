import type { OptionTable } from "./command.ts";

/** Of the commands that show log lines. */
export const logOptions = {
  "log-level": {
    placeholder: "<level>",
    choices: ["debug", "info", "warn", "error"],
    summary: "lines of this level only",
  },
  "log-category": {
    placeholder: "<category>",
    summary: "lines of this category only; the engine's own are in system",
  },
} as const satisfies OptionTable;

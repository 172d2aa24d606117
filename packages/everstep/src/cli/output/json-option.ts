/** Output for programs: what the HTTP API answers, on request. */
import type { OptionTable } from "../command.ts";

/** Of commands that show one thing. */
export const jsonOption = {
  json: { type: "flag", summary: "as one JSON object, for programs" },
} as const satisfies OptionTable;

/** Of commands that show many. */
export const jsonLinesOption = {
  json: { type: "flag", summary: "as JSON, one object in each line, for programs" },
} as const satisfies OptionTable;

/** Which instances a command is about, where it is not about one: what users can say, and what the server is asked. */
import type { OptionTable, ValuesOf } from "./command.ts";
import { readStatuses, statuses } from "./status-words.ts";

export const filterOptions = {
  status: {
    repeat: true,
    suggests: statuses,
    summary: "instances with this status only; may be repeated, or several with commas",
  },
  "dead-letter": { type: "flag", summary: "only those that the engine gave up on" },
  since: { type: "duration", summary: "only those created within this time" },
  "id-prefix": { placeholder: "<text>", summary: "only those whose ids begin like this" },
} as const satisfies OptionTable;

type FilterValues = ValuesOf<readonly [], typeof filterOptions>;

export interface InstanceFilter {
  readonly status: readonly string[];
  readonly deadLetter: true | undefined;
  readonly createdFrom: number | undefined;
  readonly idPrefix: string | undefined;
}

export function filterOf({ status, deadLetter, since, idPrefix }: FilterValues, now: number): InstanceFilter {
  return {
    status: readStatuses(status),
    deadLetter: deadLetter || undefined,
    createdFrom: since === undefined ? undefined : now - since,
    idPrefix,
  };
}

/** The first of them that was said. */
export function filterSaid({ status, deadLetter, since, idPrefix }: FilterValues): string | undefined {
  if (status.length > 0) return "--status";
  if (deadLetter) return "--dead-letter";
  if (since !== undefined) return "--since";
  return idPrefix === undefined ? undefined : "--id-prefix";
}

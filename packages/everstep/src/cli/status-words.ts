/** The statuses, and the words other engines have for them, which the server understands too. */

import { instanceStatuses, otherStatusWords } from "../model/instance.ts";
import { nearest } from "../model/nearest.ts";
import { UsageError } from "./problems.ts";

export { instanceStatuses as statuses } from "../model/instance.ts";

export const otherWords: readonly string[] = Object.keys(otherStatusWords);

/** Every status of a list of options that may each hold several: `--status errored,paused --status waiting`. */
export function readStatuses(texts: readonly string[]): readonly string[] {
  const words = texts.flatMap((text) => text.split(",")).map((word) => word.trim().toLowerCase());
  const known: readonly string[] = [...instanceStatuses, ...otherWords];
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return words;
  const meant = nearest(unknown, known);
  // A word of another engine is shown with the rest only where it was meant.
  const shown =
    meant === undefined || instanceStatuses.some((status) => status === meant)
      ? []
      : [`${meant} (of other engines)`];
  throw new UsageError(
    `There is no status ${JSON.stringify(unknown)}; use ${[...instanceStatuses, ...shown].join(", ")}.`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}

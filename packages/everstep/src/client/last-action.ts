import { decodeValue } from "../authoring/codec.ts";
import { operatorCategory, type StoredLogLine } from "../model/log-line.ts";
import type { LastActionView } from "../wire/index.ts";

/** What a person did last, as far as the newest lines of the run's log tell. */
export function lastAction(newest: readonly StoredLogLine[]): LastActionView | undefined {
  const line = newest.find(({ category }) => category === operatorCategory);
  if (line === undefined) return undefined;
  const { action, actor } = dataOf(line);
  return {
    action: typeof action === "string" ? action : "",
    actor: typeof actor === "string" ? actor : null,
    text: line.message,
    at: new Date(line.createdAt),
  };
}

/** One line that is damaged is no reason to say nothing of the rest. */
function dataOf({ data }: StoredLogLine): Readonly<Record<string, unknown>> {
  try {
    return Object(data && decodeValue(data));
  } catch {
    return {};
  }
}

import { EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";
import type { ServerEvent } from "./sse-parser.ts";

/** The JSON of events of one type; nothing of others. */
export function readData<Item>(type: string): (event: ServerEvent) => Item | undefined {
  return (event) => {
    if (event.type !== type) return undefined;
    try {
      return parseJson(event.data) as Item;
    } catch (problem) {
      throw new EverstepError(
        "ANSWER_NOT_UNDERSTOOD",
        `The server sent an event "${type}" that is no JSON. Does something change its answers on their way?`,
        { cause: problem },
      );
    }
  };
}

import { EverstepError } from "../model/error.ts";

/** A place in the list of topics: the last topic of the page, in a form that a cursor of another list does not have. */
export function topicCursor(topic: string): string {
  return `${mark}${topic}`;
}

export function readTopicCursor(cursor: string): string {
  if (cursor.length > mark.length && cursor.startsWith(mark)) return cursor.slice(mark.length);
  throw new EverstepError(
    "INVALID_CURSOR",
    `${JSON.stringify(cursor.slice(0, 80))} is not a place in the list of topics. Pass the cursor of the page before it, unchanged.`,
  );
}

const mark = "topic:";

/** What an instance waits for, and what happens when the time of its wait is over: one word for each. */
import type { WireWhy } from "../wire/index.ts";

export type WaitKind = "sleep" | "retry" | "event" | "topic";

/** What is known of a wait. */
export type KnownWait = Pick<WireWhy, "reason" | "waitsFor">;

/** A wait for something that may come at any time only ends then if nothing comes. */
export const whenOver: Readonly<Record<WaitKind, string>> = {
  sleep: "wakes",
  retry: "tries again",
  event: "times out",
  topic: "times out",
};

/** As the name of a field: "Times out". */
export function headed(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

export function waitKindOf({ reason, waitsFor }: KnownWait): WaitKind {
  if (waitsFor?.topic !== undefined) return "topic";
  if (waitsFor?.eventType !== undefined) return "event";
  return reason === "waiting-for-retry" ? "retry" : "sleep";
}

/** "approval ← approved", "news ← topic prices"; of a sleep or a retry the step. */
export function awaited({ waitsFor }: KnownWait): string {
  if (!waitsFor) return "";
  const { stepName, eventType, topic } = waitsFor;
  if (topic !== undefined) return `${stepName} ← topic ${topic}`;
  return eventType === undefined ? stepName : `${stepName} ← ${eventType}`;
}

/**
 * "approval ← approved, times out in 10 min", "nap wakes in 1 h", "charge tries again now". `when` says how far away the end is, or
 * is null where nobody knows.
 */
export function waitWords(wait: KnownWait | undefined, when: string | null): string {
  if (!wait?.waitsFor) return when === null ? "" : `due ${when}`;
  const what = awaited(wait);
  if (when === null) return what;
  const kind = waitKindOf(wait);
  return `${what}${kind === "event" || kind === "topic" ? "," : ""} ${whenOver[kind]} ${when}`;
}

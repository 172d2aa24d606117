/** A workflow's limits as people read them. */
import { spokenBytes, spokenNumber } from "../../words/numbers.ts";
import { spokenDuration } from "../../words/time.ts";

const words: Readonly<Record<string, string>> = {
  stepsMax: "Steps in a run",
  parallelStepsMax: "Steps open at once",
  paramsBytesMax: "Size of params",
  resultBytesMax: "Size of a step's result",
  outputBytesMax: "Size of output",
  eventBytesMax: "Size of an event's payload",
  bufferedEventsMax: "Events kept for later",
  sleepMsMax: "Longest sleep",
  waitMsMax: "Longest event timeout",
  waitMsDefault: "Default event timeout",
  timeoutMsMax: "Longest attempt",
  crashesMax: "Crashes in a row",
  stallMs: "Stall timeout",
  batchMax: "Instances in a batch",
};

export interface SpokenLimit {
  readonly name: string;
  readonly value: string;
}

/** Those that people run into first; names of other kinds are long enough for everybody. */
export function spokenLimits(limits: Readonly<Record<string, number | null>>): readonly SpokenLimit[] {
  return Object.entries(words).flatMap(([key, name]) => {
    const limit = limits[key];
    return limit === undefined ? [] : [{ name, value: spokenLimit(key, limit) }];
  });
}

function spokenLimit(key: string, limit: number | null): string {
  if (limit === null) return "no limit";
  if (/Bytes/.test(key)) return spokenBytes(limit);
  if (/Ms(Max|Default)?$/.test(key)) return spokenDuration(limit);
  return spokenNumber(limit);
}

/** A workflow's limits as people read them. */
import { spokenBytes, spokenNumber } from "../../words/numbers.ts";
import { spokenDuration } from "../../words/time.ts";

const words: Readonly<Record<string, string>> = {
  maxSteps: "Steps in a run",
  maxParallelSteps: "Steps open at once",
  maxParamsBytes: "Size of params",
  maxResultBytes: "Size of a step's result",
  maxOutputBytes: "Size of output",
  maxEventBytes: "Size of an event's payload",
  maxBufferedEvents: "Events kept for later",
  maxSleepMs: "Longest sleep",
  maxWaitTimeoutMs: "Longest event timeout",
  defaultWaitTimeoutMs: "Default event timeout",
  maxStepTimeoutMs: "Longest attempt",
  maxCrashes: "Crashes in a row",
  stallTimeoutMs: "Stall timeout",
  maxBatchSize: "Instances in a batch",
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
  if (/Ms$/.test(key)) return spokenDuration(limit);
  return spokenNumber(limit);
}

import { type ErrorCode, EverstepError } from "../model/error.ts";
import { meant } from "../model/known-names.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";
import { type Duration, formatDuration, parseDuration } from "./duration.ts";

type TimeLimit = Extract<keyof Limits, `${string}Ms`>;
type WithoutUnit<Name> = Name extends `${infer Start}Ms` ? Start : Name;

/** Limits as an author gives them: times are durations, `maxSleep: "30 days"`; Infinity lifts a limit. */
export type LimitOptions = {
  readonly [Name in keyof Limits as WithoutUnit<Name>]?:
    | (Name extends TimeLimit ? Duration : number)
    | undefined;
};

/** The name of the limit that each option sets. */
const limitOf: ReadonlyMap<string, keyof Limits> = new Map(
  (Object.keys(defaultLimits) as (keyof Limits)[]).map((name) => [name.replace(/Ms$/, ""), name]),
);

/** What applies where nothing is given, in the form in which it is given; times in milliseconds. */
export const defaultLimitOptions = Object.fromEntries(
  [...limitOf].map(([option, name]) => [option, defaultLimits[name]]),
) as { readonly [Name in keyof Limits as WithoutUnit<Name>]: number };

/** Limits with what is left out taken from `base`; a sentence for everything that is no limit. */
export function limitsFrom(
  given: LimitOptions | undefined,
  base: Limits,
  what: string,
  code: ErrorCode,
): Limits {
  if (given === undefined) return base;
  if (typeof given !== "object" || given === null) {
    throw new EverstepError(code, `${what} must be an object, such as { maxSteps: 2000 }.`);
  }
  const limits: Record<string, number> = { ...base };
  for (const [option, value] of Object.entries(given) as [string, unknown][]) {
    if (value === undefined) continue;
    const name = limitOf.get(option);
    if (name === undefined) {
      throw new EverstepError(code, `${what}.${option} is no limit. ${meant(option, [...limitOf.keys()])}`);
    }
    limits[name] =
      name === option
        ? checkWhole(name, value, what, code)
        : checkTime(option, value, mayBeNone.has(name) ? 0 : 1, what, code);
  }
  // One that is given may fit one that is said elsewhere: by the app, or by its workflow.
  const all = limits as unknown as Limits;
  if (given.minWaitTimeout !== undefined && given.maxWaitTimeout !== undefined)
    requireLegalWait(all, what, code);
  if (given.pageSize !== undefined && given.maxPageSize !== undefined) requireLegalPage(all, what, code);
  return all;
}

/** Limits that go together, once all are known. */
export function requireLegal(limits: Limits, what: string, code: ErrorCode): void {
  requireLegalWait(limits, what, code);
  requireLegalPage(limits, what, code);
}

function requireLegalWait(
  { minWaitTimeoutMs, maxWaitTimeoutMs }: Limits,
  what: string,
  code: ErrorCode,
): void {
  if (minWaitTimeoutMs <= maxWaitTimeoutMs) return;
  throw new EverstepError(
    code,
    `${what} allows no wait at all: minWaitTimeout is ${formatDuration(minWaitTimeoutMs)} and maxWaitTimeout only ${formatDuration(maxWaitTimeoutMs)}.`,
  );
}

function requireLegalPage({ pageSize, maxPageSize }: Limits, what: string, code: ErrorCode): void {
  if (pageSize <= maxPageSize) return;
  throw new EverstepError(
    code,
    `${what} has pages larger than it allows: pageSize is ${pageSize} and maxPageSize only ${maxPageSize}.`,
  );
}

function checkTime(option: string, value: unknown, least: number, what: string, code: ErrorCode): number {
  if (value === Number.POSITIVE_INFINITY) return value;
  const rule = `it must be a duration of at least ${least} ms, such as "30 seconds", or Infinity`;
  let ms = Number.NaN;
  try {
    ms = parseDuration(value, option);
  } catch {}
  if (ms >= least) return ms;
  throw new EverstepError(code, `${what}.${option} is ${String(value)}; ${rule}.`);
}

function checkWhole(name: string, value: unknown, what: string, code: ErrorCode): number {
  const least = mayBeNone.has(name) ? 0 : 1;
  const isWhole = Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  const most = mostOf.get(name) ?? Number.POSITIVE_INFINITY;
  if (isWhole && (value as number) >= least && (value as number) <= most) return value as number;
  const range =
    most === Number.POSITIVE_INFINITY
      ? `of at least ${least}, or Infinity`
      : `from ${least} to ${most}, the longest that every store keeps`;
  throw new EverstepError(code, `${what}.${name} is ${String(value)}; it must be a whole number ${range}.`);
}

/**
 * Characters that fit into the narrowest column any store has for them; more would be refused by the store, after a body
 * has run. Of a log category each may take three bytes. A step's key has the names of the steps around it, too.
 */
const mostOf: ReadonlyMap<string, number> = new Map([
  ["maxWorkflowNameLength", 255],
  ["maxInstanceIdLength", 512],
  ["maxStepNameLength", 4096],
  ["maxEventTypeLength", 512],
  ["maxTopicLength", 512],
  ["maxLogCategoryLength", 170],
]);

/** Where nothing at all is a limit that somebody may want. */
const mayBeNone: ReadonlySet<string> = new Set([
  "maxParamsBytes",
  "maxResultBytes",
  "maxOutputBytes",
  "maxEventBytes",
  "maxLogBytes",
  "maxLogMessageLength",
  "maxBufferedEvents",
  "maxBufferedBytes",
  "maxSteps",
  "maxSleepMs",
  "minWaitTimeoutMs",
]);

import { type ErrorCode, EverstepError } from "../model/error.ts";
import { meant } from "../model/known-names.ts";
import { defaultLimits, type Limits } from "../model/limits.ts";

/** Limits with what is left out taken from `base`; a sentence for everything that is no limit. */
export function limitsFrom(
  given: Partial<Limits> | undefined,
  base: Limits,
  what: string,
  code: ErrorCode,
): Limits {
  if (given === undefined) return base;
  if (typeof given !== "object" || given === null) {
    throw new EverstepError(code, `${what} must be an object, such as { stepsMax: 2000 }.`);
  }
  const limits: Record<string, number> = { ...base };
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (value !== undefined) limits[name] = checkLimit(name, value, what, code);
  }
  // One that is given may fit one that is said elsewhere: by the app, or by its workflow.
  const all = limits as unknown as Limits;
  if (given.waitMsMin !== undefined && given.waitMsMax !== undefined) requireLegalWait(all, what, code);
  if (given.pageSize !== undefined && given.pageSizeMax !== undefined) requireLegalPage(all, what, code);
  return all;
}

/** Limits that go together, once all are known. */
export function requireLegal(limits: Limits, what: string, code: ErrorCode): void {
  requireLegalWait(limits, what, code);
  requireLegalPage(limits, what, code);
}

function requireLegalWait({ waitMsMin, waitMsMax }: Limits, what: string, code: ErrorCode): void {
  if (waitMsMin <= waitMsMax) return;
  throw new EverstepError(
    code,
    `${what} allows no wait at all: waitMsMin is ${waitMsMin} and waitMsMax only ${waitMsMax}.`,
  );
}

function requireLegalPage({ pageSize, pageSizeMax }: Limits, what: string, code: ErrorCode): void {
  if (pageSize <= pageSizeMax) return;
  throw new EverstepError(
    code,
    `${what} has pages larger than it allows: pageSize is ${pageSize} and pageSizeMax only ${pageSizeMax}.`,
  );
}

function checkLimit(name: string, value: unknown, what: string, code: ErrorCode): number {
  if (!Object.hasOwn(defaultLimits, name)) {
    throw new EverstepError(code, `${what}.${name} is no limit. ${meant(name, Object.keys(defaultLimits))}`);
  }
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
  ["workflowNameMax", 255],
  ["instanceIdMax", 512],
  ["stepNameMax", 4096],
  ["eventTypeMax", 512],
  ["topicMax", 512],
  ["logCategoryMax", 170],
]);

/** Where nothing at all is a limit that somebody may want. */
const mayBeNone: ReadonlySet<string> = new Set([
  "paramsBytesMax",
  "resultBytesMax",
  "outputBytesMax",
  "eventBytesMax",
  "logBytesMax",
  "logMessageMax",
  "bufferedEventsMax",
  "bufferedBytesMax",
  "stepsMax",
  "sleepMsMax",
  "waitMsMin",
]);

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
  if (given.waitMsMin !== undefined && given.waitMsMax !== undefined) {
    requireLegalWait(limits as unknown as Limits, what, code);
  }
  return limits as unknown as Limits;
}

export function requireLegalWait({ waitMsMin, waitMsMax }: Limits, what: string, code: ErrorCode): void {
  if (waitMsMin <= waitMsMax) return;
  throw new EverstepError(
    code,
    `${what} allows no wait at all: waitMsMin is ${waitMsMin} and waitMsMax only ${waitMsMax}.`,
  );
}

function checkLimit(name: string, value: unknown, what: string, code: ErrorCode): number {
  if (!Object.hasOwn(defaultLimits, name)) {
    throw new EverstepError(code, `${what}.${name} is no limit. ${meant(name, Object.keys(defaultLimits))}`);
  }
  const least = mayBeNone.has(name) ? 0 : 1;
  const isWhole = Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  if (isWhole && (value as number) >= least) return value as number;
  throw new EverstepError(
    code,
    `${what}.${name} is ${String(value)}; it must be a whole number of at least ${least}, or Infinity.`,
  );
}

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

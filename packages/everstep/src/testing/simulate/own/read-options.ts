/** The check of what `simulate` is told: a mistake in it is answered at once, and says what to write instead. */

import type { LimitOptions } from "../../../authoring/check-limits.ts";
import { parseDuration } from "../../../authoring/duration.ts";
import { EverstepError } from "../../../model/error.ts";
import { defaultFaults, type Faults, faultNames } from "./faults.ts";
import type { Invariants } from "./invariants.ts";
import type { Settings, SimulatedWorkflows, SimulateOptions } from "./options.ts";
import { readReplay } from "./replay-code.ts";

/** They are called by letters. */
const runnersMax = 26;
/** Nobody is given up on because the seed kept killing its process. */
const manyCrashes: LimitOptions = { maxCrashes: 1_000_000 };

const known: Readonly<Record<keyof SimulateOptions<never, never>, string>> = {
  seeds: "any",
  state: "function",
  scenario: "function",
  invariants: "any",
  always: "any",
  faults: "any",
  runners: "any",
  store: "function",
  limits: "object",
  mustEnd: "boolean",
  patience: "any",
  timeBudget: "any",
  shrinkTime: "any",
  shrinkTries: "any",
  replay: "any",
  maxFailures: "any",
  throws: "boolean",
  onProgress: "function",
};

// biome-ignore lint/suspicious/noExplicitAny: what is inside is checked below
export function readOptions(workflows: unknown, options: SimulateOptions<any, any> = {}): Settings {
  checkShape(options);
  const replay = options.replay ?? replayFromEnvironment();
  return {
    workflowsOf: readWorkflows(workflows),
    seeds: readSeeds(options.seeds ?? 100),
    replay: replay === undefined ? null : readReplay(replay),
    state: options.state ?? (() => ({})),
    scenario: options.scenario ?? null,
    invariants: readInvariants(options.invariants, "invariants"),
    always: readInvariants(options.always, "always"),
    faults: readFaults(options.faults),
    runners: wholeNumber(options.runners ?? 3, "runners", 1, runnersMax),
    store: options.store ?? null,
    limits: { ...manyCrashes, ...options.limits },
    mustEnd: options.mustEnd ?? true,
    patienceMs: parseDuration(options.patience ?? "1 second", "patience"),
    timeBudgetMs:
      options.timeBudget === undefined
        ? Number.POSITIVE_INFINITY
        : parseDuration(options.timeBudget, "timeBudget"),
    shrinkMs: parseDuration(options.shrinkTime ?? "5 seconds", "shrinkTime"),
    shrinkTries: wholeNumber(options.shrinkTries ?? 2000, "shrinkTries", 0),
    maxFailures: wholeNumber(options.maxFailures ?? 1, "maxFailures", 1),
    throws: options.throws ?? true,
    onProgress: options.onProgress ?? (() => {}),
  };
}

function checkShape(options: unknown): void {
  if (typeof options !== "object" || options === null)
    throw invalid("simulate takes its options second: simulate({ ORDER: order }, { invariants: { ... } }).");
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(known, name) ? known[name as keyof typeof known] : undefined;
    if (type === undefined)
      throw invalid(`simulate has no option "${name}". There are: ${Object.keys(known).join(", ")}.`);
    if (value !== undefined && type !== "any" && (typeof value !== type || value === null))
      throw invalid(`The option "${name}" of simulate must be ${article(type)}, not ${shown(value)}.`);
  }
}

function readWorkflows(workflows: unknown): Settings["workflowsOf"] {
  if (typeof workflows === "function") return workflows as Settings["workflowsOf"];
  if (typeof workflows === "object" && workflows !== null && Object.keys(workflows).length > 0)
    return () => workflows as SimulatedWorkflows;
  throw invalid(
    "simulate needs workflows first: { ORDER: order }, or a function that gives them for one process: " +
      "(state) => ({ ORDER: orderWorkflow(state) }).",
  );
}

function readSeeds(seeds: unknown): readonly number[] {
  const { from, count } = (
    typeof seeds === "object" && seeds !== null ? seeds : { from: 1, count: seeds }
  ) as {
    readonly from: unknown;
    readonly count: unknown;
  };
  const first = wholeNumber(from, "seeds.from", 0);
  return Array.from({ length: wholeNumber(count, "seeds", 1) }, (_, at) => first + at);
}

function readInvariants(given: unknown, what: string): Invariants<unknown> {
  if (given === undefined) return {};
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw invalid(
      `${what} must be functions by name: ${what}: { "an order is charged once": ({ state }) => ... }.`,
    );
  for (const [name, invariant] of Object.entries(given))
    if (typeof invariant !== "function")
      throw invalid(`${what} has "${name}", which is ${shown(invariant)}. It must be a function.`);
  return given as Invariants<unknown>;
}

function readFaults(given: unknown): Faults {
  if (given === undefined) return defaultFaults;
  const none = Object.fromEntries(faultNames.map((name) => [name, false])) as unknown as Faults;
  if (given === false) return none;
  if (typeof given !== "object" || given === null)
    throw invalid(
      "faults must be false, or say which there are by name: faults: { crashes: true, clocks: false }.",
    );
  for (const [name, value] of Object.entries(given)) {
    if (!(faultNames as readonly string[]).includes(name))
      throw invalid(`There is no fault "${name}". There are: ${faultNames.join(", ")}.`);
    if (typeof value !== "boolean")
      throw invalid(`faults.${name} must be true or false, not ${shown(value)}.`);
  }
  return { ...defaultFaults, ...(given as Partial<Faults>) };
}

function wholeNumber(value: unknown, what: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
    return value as number;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  throw invalid(`${what} must be a whole number ${range}, not ${shown(value)}.`);
}

/** So that a printed failure can be played again without touching the test. */
function replayFromEnvironment(): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.EVERSTEP_SIMULATE_REPLAY || undefined;
}

function invalid(message: string): EverstepError {
  return new EverstepError("INVALID_ARGUMENT", message);
}

function article(type: string): string {
  return type === "object" ? "an object" : `a ${type}`;
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "object") return value === null ? "null" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}

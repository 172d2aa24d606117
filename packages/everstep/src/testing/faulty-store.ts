/**
 * A store that fails on demand. Wraps any store and lets a test decide, call by call, what becomes of it:
 *
 *   const faulty = createFaultyStore(store);
 *   const stop = faulty.stopBefore("commit");       // the next commit waits before it is applied
 *   const stop = faulty.stopAfter("commit");        // ... after it was applied, before anybody hears of it
 *   const stop = faulty.stopBefore("commit", { step: "charge" });   // ... the commit that records this step
 *   await stop.continue();                          // "committed", "superseded", ...: what the store answered
 *   await stop.loseReply();                         // the same, but the caller gets an ambiguous failure
 *   faulty.fail("claim", "unavailable", { times: 3 });
 *   faulty.fail("commit", "ambiguous", { applied: true });
 *   faulty.plan((call) => (dice() < 0.01 ? () => Promise.reject(storeFailure("conflict")) : null));
 *
 * A verb is a method of the store ("claim", "renew", ...) or a kind of request ("commit", "create", "sendEvent", ...):
 * the latter means every `write` that carries such a request, with the whole batch.
 */
import { type ErrorCode, StoreError, type StoreFailure } from "../model/error.ts";
import { checkNames, checkWord, type NamesOf } from "../model/known-names.ts";
import type { Store, StoreOutcome } from "../store/store.ts";
import { checkTimes } from "./check-times.ts";
import { createDeferred } from "./deferred.ts";
import { interceptStore, type StoreCall, type StoreVerb, storeVerbs } from "./intercept-store.ts";

/** Takes the place of a call: may make it (`apply`) once, late, twice or not at all, and answers its caller. */
export type Fault = (apply: () => Promise<unknown>) => Promise<unknown>;

/** Says what becomes of a call, or null when it has no opinion. The oldest rule with an opinion decides. */
export type FaultRule = (call: StoreCall) => Fault | null;

export interface FaultOptions {
  /** Only commits that record something of the step with this name. */
  readonly step?: string;
  /** Only calls that fit. */
  readonly where?: (call: StoreCall) => boolean;
}

export interface FailOptions extends FaultOptions {
  /** How many calls fail; default 1. */
  readonly times?: number;
  /** Whether the call takes effect although its caller hears of a failure; default false. */
  readonly applied?: boolean;
}

export interface StopOptions extends FaultOptions {
  /** Told in the same moment in which a call arrives. */
  readonly onReached?: (call: StoreCall) => void;
}

/** A place where the next fitting call stops. */
export interface StoreStop {
  /** A call has arrived here. */
  readonly isReached: boolean;
  /** Resolves with the call when one arrives. */
  readonly reached: Promise<StoreCall>;
  /** Lets it go on. Resolves with what the store answered: the kind of the outcome, "done" or "failed". */
  continue(): Promise<string>;
  /** Lets it go on, but its caller hears only that the outcome is unknown. */
  loseReply(): Promise<string>;
  /** Ends it with a failure; one that was not applied yet never will be. */
  fail(failure: StoreFailure): Promise<string>;
  /** Lets calls pass from now on; one that has arrived still waits to be released. */
  remove(): void;
}

export interface FaultyStore extends Store {
  plan(rule: FaultRule): PlannedRule;
  stopBefore(verb: StoreVerb, options?: StopOptions): StoreStop;
  stopAfter(verb: StoreVerb, options?: StopOptions): StoreStop;
  fail(verb: StoreVerb, failure: StoreFailure, options?: FailOptions): PlannedRule;
  /** How many calls carried this verb so far, those that failed included. */
  count(verb: StoreVerb): number;
}

export interface PlannedRule {
  remove(): void;
}

type Plan = (rule: FaultRule) => PlannedRule;

export function createFaultyStore(store: Store): FaultyStore {
  const rules = new Set<FaultRule>();
  const counts = new Map<StoreVerb, number>();
  const plan: Plan = (rule) => {
    rules.add(rule);
    return { remove: () => rules.delete(rule) };
  };
  const faulty = interceptStore(store, (call, apply) => {
    for (const verb of call.verbs) counts.set(verb, (counts.get(verb) ?? 0) + 1);
    for (const rule of rules) {
      const fault = rule(call);
      if (fault) return fault(apply);
    }
    return apply();
  });
  return {
    ...faulty,
    plan,
    stopBefore: (verb, options) => planStop(plan, "before", verb, options),
    stopAfter: (verb, options) => planStop(plan, "after", verb, options),
    fail: (verb, failure, options) => planFailure(plan, verb, failure, options),
    count: (verb) => counts.get(verb) ?? 0,
  };
}

/** The error a store gives for a failure of this sort. */
export function storeFailure(failure: StoreFailure): StoreError {
  return new StoreError(failure, codeOf[failure], `The store was made to fail: ${failure}.`);
}

const codeOf: Readonly<Record<StoreFailure, ErrorCode>> = {
  conflict: "STORE_BUSY",
  unavailable: "STORE_UNAVAILABLE",
  ambiguous: "STORE_UNAVAILABLE",
  constraint: "MUTATION_CONFLICT",
  invalid: "STORE_FAILED",
  "too-large": "PAYLOAD_TOO_LARGE",
  fatal: "STORE_FAILED",
};

const failNames: NamesOf<FailOptions> = { step: true, where: true, times: true, applied: true };
const stopNames: NamesOf<StopOptions> = { step: true, where: true, onReached: true };

function planFailure(
  plan: Plan,
  verb: StoreVerb,
  failure: StoreFailure,
  options: FailOptions = {},
): PlannedRule {
  checkWord(verb, storeVerbs, "The verb of a call that fails");
  checkWord(failure, Object.keys(codeOf), "How it fails");
  checkNames(options, failNames, "fail");
  const { times = 1, applied = false } = options;
  checkTimes(times);
  let left = times;
  const planned = plan((call) => {
    if (left <= 0 || !fits(call, verb, options)) return null;
    if (--left === 0) planned.remove();
    return async (apply) => {
      if (applied) await apply();
      throw storeFailure(failure);
    };
  });
  return planned;
}

function planStop(
  plan: Plan,
  place: "before" | "after",
  verb: StoreVerb,
  options: StopOptions = {},
): StoreStop {
  checkWord(verb, storeVerbs, "The verb of a call to stop at");
  checkNames(options, stopNames, "A stop");
  const reached = createDeferred<StoreCall>();
  const released = createDeferred<StoreError | null>();
  const answered = createDeferred<string>();
  let isReached = false;
  /** Waits to be released; gives the failure its caller shall hear of, if any. */
  const stopAt = (call: StoreCall): Promise<StoreError | null> => {
    isReached = true;
    options.onReached?.(call);
    reached.resolve(call);
    return released.promise;
  };
  const planned = plan((call) => {
    if (!fits(call, verb, options)) return null;
    planned.remove();
    return async (apply) => {
      let failure = place === "before" ? await stopAt(call) : null;
      if (failure && failure !== lostReply) {
        answered.resolve("failed");
        throw failure;
      }
      const answer = await apply().catch((error: unknown) => {
        answered.resolve("failed");
        throw error;
      });
      if (place === "after") failure = await stopAt(call);
      answered.resolve(wordFor(answer, call, verb));
      if (failure) throw failure;
      return answer;
    };
  });
  const release = async (failure: StoreError | null): Promise<string> => {
    if (!isReached) throw neverReached(verb);
    released.resolve(failure);
    return answered.promise;
  };
  return {
    get isReached() {
      return isReached;
    },
    reached: reached.promise,
    continue: () => release(null),
    loseReply: () => release(lostReply),
    async fail(failure) {
      checkWord(failure, Object.keys(codeOf), "How it fails");
      return release(storeFailure(failure));
    },
    remove: () => planned.remove(),
  };
}

/** What the caller of a call hears whose reply was lost on the way. */
const lostReply: StoreError = storeFailure("ambiguous");

function neverReached(verb: StoreVerb): Error {
  return new Error(
    `No "${verb}" has come to this stop. Let it be made first, and check that the verb is the right one.`,
  );
}

function fits(call: StoreCall, verb: StoreVerb, { step, where }: FaultOptions): boolean {
  return (
    call.verbs.includes(verb) &&
    (step === undefined || recordedSteps(call).includes(step)) &&
    (where === undefined || where(call))
  );
}

function recordedSteps({ requests }: StoreCall): string[] {
  const boundaries = requests.flatMap((request) => (request.kind === "commit" ? [request.boundary] : []));
  return boundaries.flatMap(({ steps, timeouts }) =>
    [...steps, ...timeouts.map(({ wait }) => wait)].map((step) => step.name),
  );
}

function wordFor(answer: unknown, call: StoreCall, verb: StoreVerb): string {
  const at = call.requests.findIndex((request) => request.kind === verb);
  const outcome = at < 0 ? undefined : (answer as readonly StoreOutcome[])[at];
  return outcome?.kind ?? "done";
}

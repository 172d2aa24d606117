/**
 * What a test has arranged instead of the real thing. The rules live in the harness, outside the engine and outside the
 * store, so they survive restarts of runners and of instances; which one applies is decided anew from what the engine
 * itself says (the number of the attempt), so replay and restart see the same.
 */
import type { StepContext } from "../authoring/workflow-step.ts";
import type { InstanceRef } from "../model/instance.ts";
import { parseJson } from "../model/json.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { checkTimes } from "./check-times.ts";

export interface MockTimes {
  /** For this many attempts; without it for all that follow. */
  readonly times?: number;
}

/** Mocks of one workflow, or of one of its instances. What is said later wins over what was said before. */
export interface WorkflowMocks {
  /** `count` picks one occurrence of a step that repeats its name. */
  step(name: string, options?: { readonly count?: number }): StepMock;
  /** A wait for events of this type. */
  event(type: string): EventMock;
  /** Sleeps end at once: those with these names, or all. */
  disableSleeps(...names: string[]): WorkflowMocks;
  /** Retries follow at once. A delay that an error asks for itself (RetryAfterError, `classify`) is kept. */
  disableRetryDelays(): WorkflowMocks;
}

/** What the attempts of a step come to instead of running its callback; several in a row are used up one after another. */
export interface StepMock {
  /** A value, or a function of the step's context that gives it. */
  returns(value: unknown, options?: MockTimes): StepMock;
  throws(error: unknown, options?: MockTimes): StepMock;
  /** The callback never ends: the attempt times out when the clock has passed its timeout. */
  timesOut(options?: MockTimes): StepMock;
}

export interface EventMock {
  /** The event is sent to the instance, through the store, when it begins to wait. */
  arrives(event?: { readonly payload?: unknown }): void;
  /** The wait ends at once without an event. An event that is there already is still taken. */
  timesOut(): void;
}

export type StepBehaviour =
  | { readonly kind: "returns"; readonly value: unknown }
  | { readonly kind: "throws"; readonly error: unknown }
  | { readonly kind: "timesOut" };

export type EventBehaviour =
  | { readonly kind: "arrives"; readonly payload: unknown }
  | { readonly kind: "timesOut" };

interface Rules {
  readonly steps: StepRule[];
  readonly events: Map<string, EventBehaviour>;
  readonly metEvents: Set<string>;
  readonly sleeps: Set<string>;
  allSleeps: boolean;
  noRetryDelays: boolean;
}

interface StepRule {
  readonly name: string;
  readonly count: number | null;
  readonly plan: { readonly behaviour: StepBehaviour; readonly times: number }[];
  /** A step of this name has run an attempt. */
  isMet: boolean;
}

/** All mocks of a harness. Those of an instance win over those of its workflow. */
export class MockBook {
  readonly #rules = new Map<string, Rules>();

  edit(workflowName: string, instanceId: string | null): WorkflowMocks {
    const rules = this.#rulesFor(workflowName, instanceId);
    const mocks: WorkflowMocks = {
      step(name, options = {}) {
        const rule: StepRule = { name, count: options.count ?? null, plan: [], isMet: false };
        rules.steps.unshift(rule);
        return stepMock(rule);
      },
      event: (type) => ({
        arrives: (event = {}) => void rules.events.set(type, { kind: "arrives", payload: event.payload }),
        timesOut: () => void rules.events.set(type, { kind: "timesOut" }),
      }),
      disableSleeps(...names) {
        if (names.length === 0) rules.allSleeps = true;
        for (const name of names) rules.sleeps.add(name);
        return mocks;
      },
      disableRetryDelays() {
        rules.noRetryDelays = true;
        return mocks;
      },
    };
    return mocks;
  }

  /** What an attempt comes to; null for the real thing. */
  stepBehaviour(ref: InstanceRef, { step, attempt }: StepContext): StepBehaviour | null {
    let found: StepBehaviour | null = null;
    for (const rules of this.#rulesOf(ref)) {
      const fitting = rules.steps.filter(
        ({ name, count }) => name === step.name && (count === null || count === step.count),
      );
      for (const each of fitting) each.isMet = true;
      const [rule] = fitting;
      found ??= rule ? behaviourAt(rule, attempt) : null;
    }
    return found;
  }

  eventBehaviour(ref: InstanceRef, type: string): EventBehaviour | null {
    let found: EventBehaviour | null = null;
    for (const rules of this.#rulesOf(ref)) {
      rules.metEvents.add(type);
      found ??= rules.events.get(type) ?? null;
    }
    return found;
  }

  sleeps(ref: InstanceRef, name: string): boolean {
    return !this.#rulesOf(ref).some((rules) => rules.allSleeps || rules.sleeps.has(name));
  }

  delaysRetries(ref: InstanceRef): boolean {
    return !this.#rulesOf(ref).some((rules) => rules.noRetryDelays);
  }

  /** Forgets all mocks; gives those that nothing has met, in words: their names may be misspelt. */
  end(): string[] {
    const all = [...this.#rules];
    this.#rules.clear();
    return all.flatMap(([at, { steps, events, metEvents }]) => {
      const [workflowName] = parseJson(at) as [string];
      const waits = [...events.keys()].filter((type) => !metEvents.has(type));
      return [
        ...steps.filter(({ isMet }) => !isMet).map(({ name }) => `step ${JSON.stringify(name)}`),
        ...waits.map((type) => `event ${JSON.stringify(type)}`),
      ].map((what) => `The mock of ${what} of workflow ${JSON.stringify(workflowName)} was never met.`);
    });
  }

  #rulesOf({ workflowName, instanceId }: InstanceRef): Rules[] {
    const own = this.#rules.get(place(workflowName, instanceId));
    const common = this.#rules.get(place(workflowName, null));
    return [own, common].filter((rules) => rules !== undefined);
  }

  #rulesFor(workflowName: string, instanceId: string | null): Rules {
    const at = place(workflowName, instanceId);
    const known = this.#rules.get(at);
    if (known) return known;
    const rules: Rules = {
      steps: [],
      events: new Map(),
      metEvents: new Set(),
      sleeps: new Set(),
      allSleeps: false,
      noRetryDelays: false,
    };
    this.#rules.set(at, rules);
    return rules;
  }
}

const mockNames: NamesOf<MockTimes> = { times: true };

function stepMock({ plan }: StepRule): StepMock {
  const add = (behaviour: StepBehaviour, options: MockTimes = {}): StepMock => {
    checkNames(options, mockNames, "A mock");
    const { times = Number.POSITIVE_INFINITY } = options;
    checkTimes(times);
    plan.push({ behaviour, times });
    return mock;
  };
  const mock: StepMock = {
    returns: (value, options) => add({ kind: "returns", value }, options),
    throws: (error, options) => add({ kind: "throws", error }, options),
    timesOut: (options) => add({ kind: "timesOut" }, options),
  };
  return mock;
}

function behaviourAt({ plan }: StepRule, attempt: number): StepBehaviour | null {
  let last = 0;
  for (const { behaviour, times } of plan) {
    last += times;
    if (attempt <= last) return behaviour;
  }
  return null;
}

function place(workflowName: string, instanceId: string | null): string {
  return JSON.stringify([workflowName, instanceId]);
}

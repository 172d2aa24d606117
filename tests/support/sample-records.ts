/** For tests: records with a plain default for everything the case does not speak of. */
import type { EventRecord } from "../../packages/everstep/src/model/event.ts";
import type {
  CompletedStep,
  ErroredStep,
  StepType,
  WaitingStep,
} from "../../packages/everstep/src/model/step.ts";
import type { EncodedValue } from "../../packages/everstep/src/model/value.ts";

interface Identity {
  readonly key: string;
  readonly type?: StepType;
  readonly index?: number;
}

export function completed(facts: Partial<CompletedStep> & Identity): CompletedStep {
  const { index = 0 } = facts;
  return {
    ...base(facts),
    attempts: 1,
    starts: 1,
    status: "completed",
    result: json(facts.key),
    settledIndex: index,
    settledAt: 1,
    ...facts,
  };
}

export function errored(facts: Partial<ErroredStep> & Identity): ErroredStep {
  const { index = 0 } = facts;
  const error = { name: "Error", message: "down" };
  return {
    ...base(facts),
    attempts: 1,
    starts: 1,
    status: "errored",
    error,
    errors: [{ attempt: 1, at: 1, error }],
    settledIndex: index,
    settledAt: 1,
    ...facts,
  };
}

export function waiting(facts: Partial<WaitingStep> & Identity): WaitingStep {
  const { type = "sleep" } = facts;
  const waitsFor = type === "sleep" ? "timer" : type === "do" ? "retry" : "event";
  return { ...base({ ...facts, type }), status: "waiting", waitsFor, wakeAt: 1000, ...facts };
}

export function event(facts: Partial<EventRecord> & { readonly seq: number }): EventRecord {
  return {
    id: `event-${facts.seq}`,
    type: null,
    topic: null,
    forStep: null,
    system: false,
    payload: json(facts.seq),
    createdAt: 0,
    deliveredAt: null,
    consumedBy: null,
    ...facts,
  };
}

export function json(value: unknown): EncodedValue {
  return { json: JSON.stringify(value), marks: null };
}

function base({ key, type = "do", index = 0 }: Identity) {
  return {
    index,
    key,
    name: key.split("/").at(-1) ?? key,
    count: 1,
    type,
    parentKey: key.includes("/") ? key.slice(0, key.lastIndexOf("/")) : null,
    depth: key.split("/").length - 1,
    createdAt: 0,
    attempts: 0,
    starts: 0,
    maxAttempts: type === "do" ? 6 : 1,
    timeoutMs: type === "do" ? 600_000 : null,
    errors: [],
    eventType: null,
    topic: null,
    wakeAt: null,
  };
}

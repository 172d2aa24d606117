/** Requests and records the cases speak in. Every builder gives a plain default; `facts` says what matters to the case. */
import {
  type BegunBody,
  type InstanceRef,
  type InstanceStatus,
  inputNotGiven,
} from "../../model/instance.ts";
import type { Lease } from "../../model/lease.ts";
import type { LogLine } from "../../model/log-line.ts";
import type { CompletedStep, ErroredStep, StepRecord, WaitingStep } from "../../model/step.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type {
  AbandonRequest,
  Boundary,
  Change,
  ChangeRequest,
  ClaimRequest,
  CommitRequest,
  CreateRequest,
  DeleteRequest,
  LeaseOffer,
  Next,
  PublishRequest,
  SendEventRequest,
} from "../../store/index.ts";

/** Cases count time in milliseconds from one moment, so that due times read as small numbers. */
export function at(ms: number): number {
  return 1_750_000_000_000 + ms;
}

export const leaseMs = 30_000;
export const workflow = "order";
/** Far enough away that nothing in a case reaches it. */
export const never: number = at(365 * 24 * 60 * 60 * 1000);

export function ref(instanceId: string, workflowName: string = workflow): InstanceRef {
  return { workflowName, instanceId };
}

export function value(plain: unknown): EncodedValue {
  return { json: JSON.stringify(plain), marks: null };
}

export function failure(message: string): StoredError {
  return { name: "Error", message };
}

/** A creation; a lease that it offers gets a token of its own. */
export interface CreateFacts extends Partial<Omit<CreateRequest, "kind" | "lease">> {
  readonly lease?: (Omit<LeaseOffer, "token"> & { readonly token?: number }) | null;
}

export function create(instanceId: string, { lease = null, ...facts }: CreateFacts = {}): CreateRequest {
  return {
    kind: "create",
    workflowName: workflow,
    instanceId,
    params: value({ for: instanceId }),
    ...inputNotGiven,
    createdAt: at(0),
    dueAt: at(0),
    history: [],
    ...facts,
    lease: lease === null ? null : { token: nextToken(), ...lease },
  };
}

export function deletion(
  { workflowName, instanceId }: InstanceRef,
  when: DeleteRequest["when"] = {},
): DeleteRequest {
  return { kind: "delete", workflowName, instanceId, when };
}

/** Far apart, as those of runners are: none is another's by counting on. */
export function nextToken(): number {
  tokens += 97;
  return tokens;
}

/** For stories that are told twice: the same tokens again. */
export function repeatTokens(): void {
  tokens = tokensBegin;
}

const tokensBegin = 1000;
let tokens = tokensBegin;

export function claimRequest(facts: Partial<ClaimRequest> & { readonly now: number }): ClaimRequest {
  return {
    owner: "runner",
    token: nextToken(),
    workflows: [{ name: workflow, concurrency: null }],
    limit: 100,
    leaseUntil: facts.now + leaseMs,
    ...facts,
  };
}

export function boundary(number: number, facts: Partial<Omit<Boundary, "number">> = {}): Boundary {
  return {
    number,
    steps: [],
    timeouts: [],
    consumed: [],
    eventSeqSeen: 0,
    logs: [],
    begun: [],
    next: { kind: "continue" },
    ...facts,
  };
}

/** `leaseUntil` lies in the past unless the case says otherwise: a commit never shortens a lease. */
export function commit(
  lease: Lease,
  committed: Boundary,
  facts: Partial<Omit<CommitRequest, "kind" | "lease" | "boundary">> = {},
): CommitRequest {
  return {
    kind: "commit",
    lease,
    boundary: committed,
    alongside: [],
    mutations: null,
    leaseUntil: at(0),
    ...facts,
  };
}

export function suspendUntil(dueAt: number): Next {
  return { kind: "suspend", dueAt, task: "wake" };
}

export function complete(output: unknown = "done"): Next {
  return { kind: "complete", output: value(output) };
}

export function errorOut(message: string, deadLetter = false): Next {
  return { kind: "error", error: failure(message), deadLetter };
}

export function terminateSelf(): Next {
  return { kind: "terminate", reason: { source: "deadline", message: "too late" } };
}

export function completed(index: number, facts: Partial<Omit<CompletedStep, "index">> = {}): CompletedStep {
  return {
    ...stepFacts(index),
    type: "do",
    attempts: 1,
    starts: 1,
    maxAttempts: 6,
    timeoutMs: 600_000,
    status: "completed",
    result: value(`result ${index}`),
    settledIndex: index,
    settledAt: at(index),
    ...facts,
  };
}

export function errored(index: number, facts: Partial<Omit<ErroredStep, "index">> = {}): ErroredStep {
  return {
    ...stepFacts(index),
    type: "do",
    attempts: 1,
    starts: 1,
    maxAttempts: 1,
    timeoutMs: null,
    errors: [{ attempt: 1, at: at(index), error: failure(`attempt of ${index}`) }],
    status: "errored",
    error: failure(`step ${index} failed`),
    settledIndex: index,
    settledAt: at(index),
    ...facts,
  };
}

export function sleeping(
  index: number,
  wakeAt: number,
  facts: Partial<Omit<WaitingStep, "index">> = {},
): WaitingStep {
  return {
    ...stepFacts(index),
    type: "sleep",
    status: "waiting",
    waitsFor: "timer",
    ...facts,
    wakeAt,
  };
}

export function awaiting(
  index: number,
  eventType: string,
  wakeAt: number,
  facts: Partial<Omit<WaitingStep, "index">> = {},
): WaitingStep {
  return sleeping(index, wakeAt, { type: "waitForEvent", waitsFor: "event", eventType, ...facts });
}

export function awaitingTopic(index: number, topic: string, wakeAt: number): WaitingStep {
  return sleeping(index, wakeAt, { type: "waitForEvent", waitsFor: "event", topic });
}

/** What a wait becomes when its event arrived. */
export function received(wait: WaitingStep, payload: unknown = "got it"): StepRecord {
  const { waitsFor: _, ...identity } = wait;
  return {
    ...identity,
    status: "completed",
    result: value(payload),
    settledIndex: wait.index,
    settledAt: wait.createdAt,
  };
}

/** What a wait becomes when nothing came. */
export function timedOut(wait: WaitingStep): StepRecord {
  const { waitsFor: _, ...identity } = wait;
  return {
    ...identity,
    status: "errored",
    error: failure("timed out"),
    settledIndex: wait.index,
    settledAt: wait.wakeAt,
  };
}

export function begun(key: string, start = 1): BegunBody {
  return { key, name: key, start, at: at(start) };
}

export function logLine(message: string, facts: Partial<Omit<LogLine, "message">> = {}): LogLine {
  return {
    stepKey: null,
    attempt: null,
    level: "info",
    category: "workflow",
    data: null,
    isReplay: false,
    createdAt: at(0),
    message,
    ...facts,
  };
}

export function sendEvent(
  instanceId: string,
  id: string,
  type: string | null,
  facts: Partial<Omit<SendEventRequest, "kind" | "instanceId" | "id" | "type">> = {},
): SendEventRequest {
  return {
    kind: "sendEvent",
    workflowName: workflow,
    instanceId,
    id,
    type,
    forStep: null,
    system: false,
    payload: value({ event: id }),
    createdAt: at(0),
    bufferMax: 10_000,
    ...facts,
  };
}

export function publish(id: string, topic: string, facts: Partial<PublishRequest> = {}): PublishRequest {
  return { kind: "publish", id, topic, payload: value({ publication: id }), createdAt: at(0), ...facts };
}

const unfinished: readonly InstanceStatus[] = ["active", "waiting", "paused"];
const all: readonly InstanceStatus[] = ["active", "waiting", "paused", "complete", "errored", "terminated"];

export function change(
  instanceId: string,
  made: Change,
  when: ChangeRequest["when"] = { statuses: all },
): ChangeRequest {
  changes += 1;
  return { kind: "change", id: `change ${changes}`, ...ref(instanceId), when, change: made };
}

/** Each change is another, unless a case repeats one. */
let changes = 0;

export function pause(instanceId: string): ChangeRequest {
  return change(instanceId, { kind: "pause" }, { statuses: ["active", "waiting"] });
}

export function resume(instanceId: string, shiftDeadlines = false): ChangeRequest {
  return change(instanceId, { kind: "resume", shiftDeadlines }, { statuses: ["paused"] });
}

export function terminate(instanceId: string): ChangeRequest {
  return change(
    instanceId,
    { kind: "terminate", reason: { source: "user", message: "enough" } },
    { statuses: unfinished },
  );
}

export function restart(instanceId: string, history: readonly StepRecord[] = []): ChangeRequest {
  return change(instanceId, { kind: "restart", history });
}

export function abandon(owner: string, fate: AbandonRequest["fate"] = { kind: "expire" }): AbandonRequest {
  return { kind: "abandon", owner, fate };
}

function stepFacts(index: number) {
  return {
    index,
    key: `step ${index}#1`,
    name: `step ${index}`,
    count: 1,
    parentKey: null,
    depth: 0,
    createdAt: at(index),
    attempts: 0,
    starts: 0,
    maxAttempts: null,
    timeoutMs: null,
    errors: [],
    eventType: null,
    topic: null,
    wakeAt: null,
  } as const;
}

/** What has to be read before a batch can be decided. */
import type { InstanceRef } from "../../model/instance.ts";
import type {
  AbandonRequest,
  ChangeRequest,
  CommitRequest,
  CreateRequest,
  PublishRequest,
  SendEventRequest,
  StoreRequest,
} from "../store.ts";
import { nameKey } from "./keys.ts";
import { runKey } from "./run-key.ts";

export interface Needs {
  /** Runs to lock, by id and by the name of their instance. */
  readonly runs: Set<number>;
  readonly names: Map<string, InstanceRef>;
  readonly abandons: AbandonRequest[];
  /** Instances that may be there already. */
  readonly creates: Map<string, InstanceRef>;
  /** How many ids of runs it may take. */
  newRuns: number;

  readonly eventIds: { readonly ref: InstanceRef; readonly id: string }[];
  /** Instances that get an event, with the smallest buffer asked for. */
  readonly sends: Map<string, InstanceRef & { readonly bufferMax: number; readonly count: number }>;
  readonly publishes: PublishRequest[];

  /** Runs that are to suspend or to time out, with the newest event they have seen. */
  readonly looks: Map<number, number>;
  /** Events that commits build on. */
  readonly heard: { readonly run: number; readonly seq: number }[];
  readonly steps: { readonly run: number; readonly index: number }[];
  /** Commits that register a wait on a topic. */
  readonly topicRuns: Set<number>;

  /** Instances whose waits are moved. */
  readonly shifts: Map<string, InstanceRef>;
  readonly retries: { readonly ref: InstanceRef; readonly stepKeys: readonly string[] }[];
  readonly changes: { readonly ref: InstanceRef; readonly id: string }[];
}

export function needsOf(requests: readonly StoreRequest[]): Needs {
  const needs: Needs = {
    runs: new Set(),
    names: new Map(),
    abandons: [],
    creates: new Map(),
    newRuns: 0,
    eventIds: [],
    sends: new Map(),
    publishes: [],
    looks: new Map(),
    heard: [],
    steps: [],
    topicRuns: new Set(),
    shifts: new Map(),
    retries: [],
    changes: [],
  };
  for (const request of requests) note(needs, request);
  return needs;
}

function note(needs: Needs, request: StoreRequest): void {
  switch (request.kind) {
    case "create":
      return noteCreate(needs, request);
    case "commit":
      return noteCommit(needs, request);
    case "sendEvent":
      return noteSend(needs, request);
    case "publish":
      needs.publishes.push(request);
      return;
    case "change":
      return noteChange(needs, request);
    case "delete":
      needs.names.set(nameKey(request), refOf(request));
      return;
    case "wake":
      needs.runs.add(runKey(request.runId));
      return;
    case "abandon":
      needs.abandons.push(request);
  }
}

function noteCreate(needs: Needs, request: CreateRequest): void {
  needs.creates.set(nameKey(request), refOf(request));
  needs.newRuns += 1;
}

function noteCommit(needs: Needs, { lease, boundary, alongside, announce }: CommitRequest): void {
  const run = runKey(lease.runId);
  const { steps, timeouts, next, eventSeqSeen, heard = [] } = boundary;
  needs.runs.add(run);
  if (next.kind === "suspend" || timeouts.length > 0) {
    needs.looks.set(run, Math.min(eventSeqSeen, needs.looks.get(run) ?? eventSeqSeen));
  }
  for (const { seq } of heard) needs.heard.push({ run, seq });
  for (const step of steps) {
    if (step.status !== "waiting") continue;
    needs.steps.push({ run, index: step.index });
    if (step.topic !== null) needs.topicRuns.add(run);
  }
  for (const { wait } of timeouts) needs.steps.push({ run, index: wait.index });
  for (const request of alongside) note(needs, request);
  if (announce) noteCreate(needs, announce);
}

function noteSend(needs: Needs, request: SendEventRequest): void {
  const key = nameKey(request);
  const before = needs.sends.get(key);
  const bufferMax = Math.min(request.bufferMax, before?.bufferMax ?? request.bufferMax);
  needs.sends.set(key, { ...refOf(request), bufferMax, count: (before?.count ?? 0) + 1 });
  needs.names.set(key, refOf(request));
  needs.eventIds.push({ ref: refOf(request), id: request.id });
}

function noteChange(needs: Needs, request: ChangeRequest): void {
  const ref = refOf(request);
  const { change, announce } = request;
  needs.names.set(nameKey(ref), ref);
  needs.changes.push({ ref, id: request.id });
  if (change.kind === "resume" && change.shiftDeadlines) needs.shifts.set(nameKey(ref), ref);
  if (change.kind === "restart") needs.newRuns += 1;
  if (change.kind === "retryStep") needs.retries.push({ ref, stepKeys: change.releaseEventsOf });
  if (announce) noteCreate(needs, announce);
}

function refOf({ workflowName, instanceId }: InstanceRef): InstanceRef {
  return { workflowName, instanceId };
}

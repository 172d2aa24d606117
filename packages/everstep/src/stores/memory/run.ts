/**
 * The rows of one run. `leased`, `dueAt` and `status` together say what the run wants:
 *
 *   pending   not leased, active or waiting: due at `dueAt`
 *   held      leased: `dueAt` is the end of the lease; past it the run may be claimed by anybody
 *   paused    wants nothing, but may still be held by the runner that was at work
 *   terminal  wants nothing
 *
 * Every move between them goes through the functions below, which keep the database's indexes right (INV-37).
 */
import type { EventRecord } from "../../model/event.ts";
import type { BegunBody, InstanceRef, InstanceStatus, TerminationReason } from "../../model/instance.ts";
import { isTerminal } from "../../model/instance.ts";
import type { LogLine, StoredLogLine } from "../../model/log-line.ts";
import type { StepRecord, WaitingStep } from "../../model/step.ts";
import type { TaskKind } from "../../model/task.ts";
import type { EncodedValue, StoredError } from "../../model/value.ts";
import type { ChangeOutcome, LeaseOffer } from "../../store/index.ts";
import type { MemoryDatabase, Workflow } from "./database.ts";
import { detached } from "./detached.ts";
import type { DueQueue } from "./due-queue.ts";

/** What all runs of an instance share. */
export interface Instance extends InstanceRef {
  readonly workflow: Workflow;
  /** Order of creation over the whole database. */
  readonly serial: number;
  readonly params: EncodedValue;
  readonly createdAt: number;
  readonly deadlineAt: number | null;
  readonly retentionMs: number | null;
  readonly parent: InstanceRef | null;
  /** By run number; the last one is current. */
  readonly runs: Run[];
  /** What became of changes made to it, by their ids. */
  readonly changes: Map<string, ChangeOutcome>;
}

export interface Run {
  readonly id: number;
  readonly instance: Instance;
  readonly number: number;

  status: InstanceStatus;
  kind: TaskKind;
  dueAt: number;
  leased: boolean;
  /** The last to hold the lease; stays when it is given back. */
  owner: string | null;
  token: number;
  /** Number of the last boundary applied under the token. */
  lastCommit: number;
  /** Something was recorded: there is a history to read. */
  touched: boolean;
  eventSeq: number;
  begun: readonly BegunBody[];
  crashCount: number;
  waitingSince: number | null;

  startedAt: number | null;
  updatedAt: number;
  pausedAt: number | null;
  completedAt: number | null;
  retentionUntil: number | null;
  output: EncodedValue | null;
  error: StoredError | null;
  terminationReason: TerminationReason | null;
  deadLetter: boolean;

  readonly steps: Map<number, StepRecord>;
  readonly open: Map<number, WaitingStep>;
  readonly events: Map<number, EventRecord>;
  readonly undelivered: Map<number, EventRecord>;
  readonly logs: StoredLogLine[];

  /** Its place in the due queues; theirs to write. */
  queue: DueQueue | null;
  place: number;
}

/** How a run ends. What is left out stays null. */
export interface Ending {
  readonly status: "complete" | "errored" | "terminated";
  readonly output?: EncodedValue;
  readonly error?: StoredError;
  readonly deadLetter?: boolean;
  readonly reason?: TerminationReason;
}

export function currentRun(instance: Instance): Run {
  return instance.runs[instance.runs.length - 1] as Run;
}

export function leaseInForce(run: Run, now: number): boolean {
  return run.leased && run.dueAt > now;
}

/** Adds a run behind the instance's last one: pending, due now or later, beginning with `history`. */
export function addRun(
  database: MemoryDatabase,
  instance: Instance,
  facts: { readonly token: number; readonly dueAt: number; readonly history: readonly StepRecord[] },
  now: number,
): Run {
  database.lastRunId += 1;
  const run: Run = {
    id: database.lastRunId,
    instance,
    number: instance.runs.length + 1,
    status: "active",
    kind: "run",
    dueAt: facts.dueAt,
    leased: false,
    owner: null,
    token: facts.token,
    lastCommit: 0,
    touched: facts.history.length > 0,
    eventSeq: 0,
    begun: [],
    crashCount: 0,
    waitingSince: null,
    startedAt: null,
    updatedAt: now,
    pausedAt: null,
    completedAt: null,
    retentionUntil: null,
    output: null,
    error: null,
    terminationReason: null,
    deadLetter: false,
    steps: new Map(),
    open: new Map(),
    events: new Map(),
    undelivered: new Map(),
    logs: [],
    queue: null,
    place: 0,
  };
  instance.runs.push(run);
  database.runs.set(run.id, run);
  for (const step of facts.history) database.putStep(run, step);
  database.reschedule(run);
  return run;
}

/** Hands the run to a new owner under a new token. */
export function lease(database: MemoryDatabase, run: Run, offer: LeaseOffer, now: number): void {
  run.status = "active";
  run.kind = "resume";
  run.leased = true;
  run.owner = offer.owner;
  run.dueAt = offer.until;
  run.token = offer.token;
  run.lastCommit = 0;
  run.waitingSince = null;
  run.startedAt ??= now;
  run.updatedAt = now;
  database.reschedule(run);
}

/** A lease only ever grows while it is held. */
export function extendLease(database: MemoryDatabase, run: Run, until: number): void {
  run.dueAt = Math.max(run.dueAt, until);
  database.reschedule(run);
}

export function giveBack(database: MemoryDatabase, run: Run, kind: TaskKind, dueAt: number): void {
  run.leased = false;
  run.kind = kind;
  run.dueAt = dueAt;
  database.reschedule(run);
}

/** Due now, unless it has been due for longer already. */
export function makeDue(database: MemoryDatabase, run: Run, kind: TaskKind, now: number): void {
  run.kind = kind;
  run.dueAt = Math.min(run.dueAt, now);
  database.reschedule(run);
}

export function end(database: MemoryDatabase, run: Run, ending: Ending, now: number): void {
  const { retentionMs } = run.instance;
  run.status = ending.status;
  run.leased = false;
  run.waitingSince = null;
  run.pausedAt = null;
  run.output = ending.output ?? null;
  run.error = ending.error ?? null;
  run.deadLetter = ending.deadLetter ?? false;
  run.terminationReason = ending.reason ?? null;
  run.completedAt = now;
  run.updatedAt = now;
  run.retentionUntil = retentionMs === null ? null : now + retentionMs;
  database.reschedule(run);
}

/** Only these may be claimed, now or once `dueAt` has come. */
export function isSchedulable(run: Run): boolean {
  return run.status !== "paused" && !isTerminal(run.status);
}

export function addLogs(run: Run, lines: readonly LogLine[]): void {
  for (const line of lines) run.logs.push(detached({ ...line, seq: run.logs.length + 1 }));
}

/**
 * What a workflow leaves in a store, written by hand for many runs at once: without a fence, a read, a lease to extend
 * or anything to decide. What is left is what the store costs at least.
 */
export interface Rows {
  /** Instances with their runs, leased from the start. */
  create(runs: Runs, workflow: string, now: number): void;
  step(runs: Runs, step: RawStep, now: number): void;
  /** The runs go on, and the body named here is in flight. */
  advance(runs: Runs, commit: number, begun: string, now: number): void;
  sleep(runs: Runs, wait: RawSleep, now: number): void;
  waitForEvent(runs: Runs, wait: RawWait, now: number): void;
  settleWait(runs: Runs, index: number, result: Value, now: number): void;
  suspend(runs: Runs, commit: number, dueAt: number, now: number): void;
  claim(runs: Runs, now: number): void;
  /** One event for each run, which is due now. */
  sendEvent(runs: Runs, event: RawEvent, now: number): void;
  /** The event ends the wait, and its step holds it. */
  consume(
    runs: Runs,
    seq: number,
    wait: { readonly index: number; readonly name: string },
    now: number,
  ): void;
  complete(runs: Runs, commit: number, output: Value, now: number): void;
}

export type Runs = readonly number[];

export interface RawStep {
  readonly index: number;
  readonly name: string;
  /** JSON. */
  readonly result: string;
}

export interface RawSleep {
  readonly index: number;
  readonly name: string;
  readonly wakeAt: number;
}

export interface RawWait {
  readonly index: number;
  readonly name: string;
  readonly type: string;
}

export interface RawEvent {
  readonly seq: number;
  readonly type: string;
  /** JSON. */
  readonly payload: string;
}

export interface Value {
  readonly json: string;
  readonly marks: string | null;
}

export const nothing: Value = { json: "null", marks: '[[[],"undefined"]]' };

export const leaseMs = 30_000;
export const waitMs = 86_400_000;
export const owner = "00000000-0000-4000-8000-000000000000";

/** Where a run stands in the queue, as numbers in the column `lane`. */
export const lane = { resuming: 0, held: 2 } as const;

export function instanceId(run: number): string {
  return `i-${run}`;
}

export function eventId(run: number, seq: number): string {
  return `00000000-0000-4000-8000-${run}-${seq}`;
}

/** The body in flight, as the engine writes it. */
export function begunText(name: string, now: number): string {
  return `[{"key":"${name}","name":"${name}","start":1,"at":${now}}]`;
}

/** What a wait's step holds once the event has come. */
export function receivedEvent(now: number): Value {
  const json = `{"type":"go","payload":1,"timestamp":"${new Date(now).toISOString()}"}`;
  return { json, marks: '[[["timestamp"],"Date"]]' };
}

import type { Call } from "./call.ts";
import type { StepBase } from "./settle.ts";

/** What a step's next record is built on: what is recorded of it, or what is known at its first start. */
export function baseOf(call: Call, createdAt: number, starts = call.record?.starts ?? 0): StepBase {
  const known = call.record;
  if (known) {
    const { index, key, name, count, type, parentKey, depth } = known;
    const { attempts, maxAttempts, timeoutMs, errors, eventType, topic, wakeAt } = known;
    const identity = { index, key, name, count, type, parentKey, depth, createdAt: known.createdAt };
    return { ...identity, attempts, starts, maxAttempts, timeoutMs, errors, eventType, topic, wakeAt };
  }
  const { options, eventType, topic, wakeAt } = call.spec;
  return {
    index: call.index as number,
    key: call.key,
    name: call.name,
    count: call.count,
    type: call.type,
    parentKey: call.parent?.call.key ?? null,
    depth: call.depth,
    createdAt,
    attempts: 0,
    starts,
    maxAttempts: options ? options.maxAttempts : 1,
    timeoutMs: options ? options.timeoutMs : null,
    errors: noErrors,
    eventType,
    topic,
    wakeAt,
  };
}

const noErrors: StepBase["errors"] = [];

/** When a parked call wants to be looked at again. */
export function wakeOf(call: Call): number {
  return call.record?.wakeAt ?? call.spec.wakeAt ?? Number.POSITIVE_INFINITY;
}

export function earliestWake(calls: readonly Call[]): number {
  let earliest = Number.POSITIVE_INFINITY;
  if (calls.length === 0) return earliest;
  for (const call of calls) earliest = Math.min(earliest, wakeOf(call));
  return earliest;
}

/** Due waits complete in the order of their times, whatever order they were registered in. */
export function inOrderOfTime(calls: readonly Call[]): readonly Call[] {
  if (calls.length < 2) return calls;
  return [...calls].sort((a, b) => wakeOf(a) - wakeOf(b) || (a.index ?? 0) - (b.index ?? 0));
}

/** Waits for an instance to end; a person sees meanwhile what it is at. */
import type { InstanceClient, InstanceResult } from "../../fetch-client/index.ts";
import type { WireStep } from "../../http/wire.ts";
import type { Output } from "./output.ts";
import { painted } from "./paint.ts";
import { stepMark } from "./status.ts";
import { durationBetween, spokenDuration } from "./time.ts";
import { whatOf } from "./timeline.ts";

export async function endOf(
  instance: InstanceClient,
  err: Output,
  now: () => number,
): Promise<InstanceResult<unknown>> {
  if (!err.isTerminal) return instance.result();
  const stop = new AbortController();
  const watching = tellSteps(instance, err, now, stop.signal).catch(() => {});
  try {
    return await instance.result();
  } finally {
    stop.abort();
    await watching;
  }
}

/** A line for each step that came to something new. */
async function tellSteps(
  instance: InstanceClient,
  err: Output,
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  const told = new Map<string, string>();
  for await (const { steps } of instance.watch({ signal })) {
    for (const step of steps) {
      const state = `${step.status} ${step.attempts}`;
      if (told.get(step.stepKey) === state) continue;
      told.set(step.stepKey, state);
      err.line("  ", stepMark(step.status), ` ${step.stepKey}`, painted("dim", `  ${textOf(step, now())}`));
    }
  }
}

function textOf(step: WireStep, now: number): string {
  if (step.settledAt === null) return whatOf(step, now);
  return `after ${spokenDuration(durationBetween(step.createdAt, step.settledAt))}`;
}

/** Waiting for an instance to end, and how it ended. */
import type { InstanceClient, InstanceResult } from "../../fetch-client/index.ts";
import type { WireStatus, WireStep } from "../../wire/index.ts";
import { writeValue } from "./instance-facts.ts";
import type { Output } from "./output.ts";
import { painted } from "./paint.ts";
import { statusStyle, stepMark } from "./status.ts";
import { durationBetween, spokenDuration } from "./time.ts";
import { whatOf } from "./timeline.ts";
import { errorText } from "./value.ts";

/** A person sees meanwhile what it is at. */
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

/** A line for each step that began or came to something new. */
async function tellSteps(
  instance: InstanceClient,
  err: Output,
  now: () => number,
  signal: AbortSignal,
): Promise<void> {
  const told = new Map<string, string>();
  const tell = (stepKey: string, status: WireStep["status"], count: number, text: string): void => {
    const state = `${status} ${count}`;
    if (told.get(stepKey) === state) return;
    told.set(stepKey, state);
    err.line("  ", stepMark(status), ` ${stepKey}`, painted("dim", `  ${text}`));
  };
  for await (const { steps, running } of instance.watch({ signal })) {
    const atWork = new Set(running.map(({ stepKey }) => stepKey));
    for (const step of steps) {
      if (!atWork.has(step.stepKey)) tell(step.stepKey, step.status, step.attempts, textOf(step, now()));
    }
    for (const { stepKey, start } of running) {
      tell(stepKey, "running", start, start === 1 ? "is at work" : `is at work, start ${start}`);
    }
  }
}

function textOf(step: WireStep, now: number): string {
  if (step.settledAt === null) return whatOf(step, now);
  return `after ${spokenDuration(durationBetween(step.createdAt, step.settledAt))}`;
}

/** How an instance ended; true when it is complete. */
export function writeEnding({ status, output, error }: WireStatus, out: Output): boolean {
  const text = error === undefined ? "" : `: ${errorText(error)}`;
  out.line("It is ", painted(statusStyle(status), status), text, error === undefined ? "." : "");
  if (status === "complete") writeValue("Output", output, out);
  return status === "complete";
}

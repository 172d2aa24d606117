import type { EventRecord } from "../../model/event.ts";
import { instanceStatuses } from "../../model/instance.ts";
import type { StepRecord } from "../../model/step.ts";
import type { RunHistory, RunRead } from "../../store/store.ts";
import { Arguments } from "./arguments.ts";
import { readBegun } from "./begun-text.ts";
import { eventReplies, readEvent } from "./event-text.ts";
import { integer, integerOrNull, list, type Reply, text, textOrNull, word } from "./reply.ts";
import { runName } from "./run-id.ts";
import { readRunsScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";
import { readStep } from "./step-text.ts";

export async function readRuns(
  session: Session,
  requests: readonly RunRead[],
  bytesMax?: number,
): Promise<readonly RunHistory[]> {
  const args = new Arguments();
  args.number(bytesMax);
  args.each(requests, ({ runId, steps, eventsAfter }) =>
    args.add(runName(runId)).flag(steps).add(eventsAfter),
  );
  const replies = list(await session.run(readRunsScript, args.list, "reading"));
  return replies.map((reply) => readHistory(list(reply)));
}

function readHistory([id, status, begun, steps, events]: readonly Reply[]): RunHistory {
  const runId = integer(id);
  if (status === undefined) return { kind: "unread", runId };
  try {
    word(status, instanceStatuses);
    readBegun(textOrNull(begun));
    return {
      kind: "history",
      runId,
      steps: readSteps(list(steps)).sort((a, b) => a.index - b.index),
      events: readEvents(list(events)),
    };
  } catch (error) {
    return { kind: "unreadable", runId, error: error as Error };
  }
}

export function readSteps(replies: readonly Reply[]): StepRecord[] {
  const steps: StepRecord[] = [];
  for (let n = 0; n < replies.length; n += 2) {
    steps.push(readStep(text(replies[n]), integerOrNull(replies[n + 1])));
  }
  return steps;
}

export function readEvents(replies: readonly Reply[]): EventRecord[] {
  const events: EventRecord[] = [];
  for (let n = 0; n < replies.length; n += eventReplies) events.push(readEvent(replies, n));
  return events;
}

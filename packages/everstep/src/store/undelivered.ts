import { type LogLine, systemCategory } from "../model/log-line.ts";
import type { AlongsideEvent, SendEventOutcome } from "../model/request.ts";

/** Why nobody gets an event that a step has sent. */
export type Undelivered = Exclude<SendEventOutcome["kind"], "accepted"> | "of-earlier-run";

/** The codes with which the same event is refused outside of a step. */
const said: Readonly<Record<Undelivered, { readonly code: string; readonly because: string }>> = {
  "not-found": { code: "INSTANCE_NOT_FOUND", because: "there is no such instance" },
  terminal: { code: "INSTANCE_TERMINAL", because: "that instance has ended" },
  "of-earlier-run": {
    code: "IDEMPOTENCY_KEY_CONFLICT",
    because: "its id was used for an event to an earlier run of that instance",
  },
  "buffer-full": {
    code: "EVENT_BUFFER_FULL",
    because: "that instance holds as many events as it may that it has not taken",
  },
};

export const undeliveredReasons = Object.keys(said) as readonly Undelivered[];

/**
 * The line that a commit writes into the log of its own run for an event that nobody gets. It is written with the commit,
 * so it is there once, whatever becomes of the answer; the commit itself never fails for it.
 */
export function undeliveredLine(event: AlongsideEvent, reason: Undelivered): LogLine {
  const { workflowName, instanceId, id: eventId, type, from, createdAt } = event;
  const { code, because } = said[reason];
  return {
    stepKey: from?.stepKey ?? null,
    attempt: from?.attempt ?? null,
    level: "warn",
    category: systemCategory,
    message: `Event "${type}" to ${workflowName}/${instanceId} reached nobody: ${because}.`,
    data: { json: JSON.stringify({ code, workflowName, instanceId, eventId, type }), marks: null },
    isReplay: false,
    createdAt,
  };
}

/** None when somebody gets it. */
export function undeliveredLines(event: AlongsideEvent, outcome: SendEventOutcome): readonly LogLine[] {
  if (outcome.kind !== "accepted") return [undeliveredLine(event, outcome.kind)];
  return outcome.ofEarlierRun ? [undeliveredLine(event, "of-earlier-run")] : none;
}

const none: readonly LogLine[] = [];

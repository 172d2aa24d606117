/** One answer to "why is this instance not moving?", from what is recorded of it. */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { retryOf } from "../engine/retry-failed-step.ts";
import type { WhyView } from "../handles/views.ts";
import type { InstanceRecord } from "../model/instance.ts";
import type { StepRecord, WaitingStep } from "../model/step.ts";
import type { LastActionView, WhyWait } from "../wire/index.ts";

export interface WhyTerms {
  readonly now: number;
  readonly definition: WorkflowDefinition;
  /** A runner is at work in this process. */
  readonly runnerRuns: boolean;
  /** How long leases last, and whether the one of this instance is held in this process. */
  readonly leaseMs: number;
  readonly isHere: boolean;
  readonly lastAction?: LastActionView | undefined;
}

type Said = Omit<WhyView, "status">;

/** Due for longer than this, it should have been taken. */
const patienceMs = 10_000;

export function explain(record: InstanceRecord, steps: readonly StepRecord[], terms: WhyTerms): WhyView {
  const { lastAction } = terms;
  const why = { ...said(record, steps, terms), status: record.status };
  return lastAction ? { ...why, lastAction } : why;
}

function said(record: InstanceRecord, steps: readonly StepRecord[], terms: WhyTerms): Said {
  switch (record.status) {
    case "complete":
      return { reason: "complete", answer: `It completed${ago(record.completedAt, terms)}.`, advice: null };
    case "errored":
      return whyErrored(record, steps, terms);
    case "terminated":
      return whyTerminated(record, terms);
    case "paused":
      return whyPaused(record, terms);
    case "active":
    case "waiting":
      if (record.unlisted && !isHeldBySomebody(record, terms)) return whyUnlisted(record, terms);
      return record.executing ? whyExecuting(record, terms) : whyIdle(record, steps, terms);
  }
}

function isHeldBySomebody({ executing, dueAt }: InstanceRecord, { now }: WhyTerms): boolean {
  return executing && dueAt !== null && dueAt > now;
}

function whyUnlisted({ dueAt }: InstanceRecord, { now }: WhyTerms): Said {
  const since =
    dueAt !== null && dueAt <= now ? ` It has been due for ${spoken(now - dueAt, Math.floor)}.` : "";
  return {
    reason: "unlisted",
    answer: `It stands in no list of due runs, because part of a write is missing, so no runner finds it.${since}`,
    advice: "Pause and resume it: that puts it back. A runner that is up does so by itself within a minute.",
  };
}

function whyErrored(record: InstanceRecord, steps: readonly StepRecord[], terms: WhyTerms): Said {
  const error = record.error
    ? `${record.error.name}: ${record.error.message}`
    : "an error that was not recorded";
  const answer = `It failed${ago(record.completedAt, terms)} with ${sentence(shortened(error))}`;
  const retry = retryOf(steps, record.error);
  if (retry.kind === "none") return { reason: "errored", answer, advice: retry.because, mayRetry: false };
  return {
    reason: "errored",
    answer,
    advice: retry.step ? retryStep : goOn,
    mayRetry: true,
    ...(retry.step ? { stepKey: retry.step.key } : {}),
  };
}

const retryStep = "Retry the failed step once its cause is gone, or restart the instance.";
const goOn = "Let it go on once the cause is gone, or restart the instance.";

function whyTerminated({ terminationReason, completedAt }: InstanceRecord, terms: WhyTerms): Said {
  const { source = "user", message = null, by: actor = "a person" } = terminationReason ?? {};
  const by = {
    user: `by ${actor}`,
    maxRunDuration: "because it ran longer than its workflow allows",
    maxSuspendDuration: "because it waited longer than its workflow allows",
    deadline: "because its deadline passed",
    restarted: "because it was restarted",
  }[source];
  return {
    reason: "terminated",
    answer: `It was terminated${ago(completedAt, terms)} ${sentence(`${by}${message ? `: ${shortened(message)}` : ""}`)}`,
    advice: "Restart it to run it again.",
  };
}

function whyPaused({ pausedAt, executing, begun }: InstanceRecord, terms: WhyTerms): Said {
  const last = executing ? begun.at(-1) : undefined;
  const still = last ? ` Its step "${last.name}" is still at work and will be recorded.` : "";
  return {
    reason: "paused",
    answer: `${pausedBy(terms)} paused it${ago(pausedAt, terms)}.${still}`,
    advice: "Resume it.",
  };
}

function pausedBy({ lastAction }: WhyTerms): string {
  return (lastAction?.action === "pause" ? lastAction.actor : null) ?? "Somebody";
}

function whyExecuting({ dueAt, begun }: InstanceRecord, terms: WhyTerms): Said {
  const lateMs = dueAt === null ? 0 : terms.now - dueAt;
  if (lateMs > 0) {
    return {
      reason: "lease-ran-out",
      answer: `The process that ran it has not been heard of; its lease ran out ${spoken(lateMs, Math.floor)} ago.`,
      advice: "A runner that is up takes over by itself within seconds. If none does, start one.",
    };
  }
  const unheardMs = terms.leaseMs + lateMs;
  // A runner that lives renews long before this.
  if (dueAt !== null && !terms.isHere && unheardMs > (terms.leaseMs * 2) / 3)
    return whySilent(unheardMs, -lateMs);
  const last = begun.at(-1);
  if (!last) return { reason: "executing", answer: "A runner is at it right now.", advice: null };
  const tries = last.start > 1 ? `, start ${last.start}` : "";
  return {
    reason: "executing",
    answer: `A runner is at it right now: step "${last.name}" has been at work for ${spoken(terms.now - last.at, Math.floor)}${tries}.`,
    advice: null,
    stepKey: last.key,
  };
}

function whySilent(unheardMs: number, leftMs: number): Said {
  return {
    reason: "runner-silent",
    answer:
      `The runner that has it was last heard of ${spoken(unheardMs, Math.floor)} ago; unless it is heard of again, ` +
      `another takes over in ${spoken(leftMs)}.`,
    advice: null,
  };
}

function whyIdle(record: InstanceRecord, steps: readonly StepRecord[], terms: WhyTerms): Said {
  const { dueAt, crashCount } = record;
  if (dueAt !== null && dueAt <= terms.now) return whyDue(record, dueAt, terms);
  const until = dueAt === null ? {} : { until: new Date(dueAt) };
  const wait = soonest(steps);
  if (crashCount > 0 && dueAt !== null && record.status === "active") {
    return {
      reason: "crash-backoff",
      answer: `Whoever ran it died ${times(crashCount)} in a row without progress; it is tried again in ${spoken(dueAt - terms.now)}.`,
      advice: `Look for what kills the process; after ${terms.definition.limits.maxCrashes} times the instance is given up.`,
      ...until,
    };
  }
  if (wait) return { ...whyWaiting(wait, terms), stepKey: wait.key, waitsFor: waitOf(wait) };
  if (dueAt === null) return { reason: "due-now", answer: "It is about to go on.", advice: null };
  return {
    reason: "not-started-yet",
    answer: `It starts in ${spoken(dueAt - terms.now)}, at ${new Date(dueAt).toISOString()}.`,
    advice: "To start it now, pause it and resume it.",
    ...until,
  };
}

function whyDue({ dueAt: _, ...record }: InstanceRecord, dueAt: number, terms: WhyTerms): Said {
  const lateMs = terms.now - dueAt;
  const { concurrency } = terms.definition.options;
  if (lateMs < patienceMs) {
    return { reason: "due-now", answer: "It is due now; a runner will take it in a moment.", advice: null };
  }
  if (concurrency !== undefined) {
    const nobody = terms.runnerRuns
      ? ""
      : " No runner is at work in this process; if none is elsewhere, start one.";
    return {
      reason: "queued",
      answer: `It has been due for ${spoken(lateMs, Math.floor)} and waits for its turn: at most ${concurrency} of "${record.workflowName}" run at once.`,
      advice: `It goes on when one of those ends. If none of them moves, look at them; or raise the cap.${nobody}`,
    };
  }
  return {
    reason: terms.runnerRuns ? "queued" : "no-runner",
    answer: terms.runnerRuns
      ? `It has been due for ${spoken(lateMs, Math.floor)}, and every place of the runners is taken.`
      : `It has been due for ${spoken(lateMs, Math.floor)}, and nobody has taken it; no runner is at work in this process.`,
    advice: terms.runnerRuns
      ? "Let runners take more at once, or start more of them."
      : "Start a runner that has this workflow, or have one tick.",
  };
}

function whyWaiting(step: WaitingStep, { now }: WhyTerms): Said {
  const left = spoken(step.wakeAt - now);
  const until = { until: new Date(step.wakeAt) };
  if (step.waitsFor === "retry") {
    const last = step.errors.at(-1);
    const because = last ? ` after ${shortened(`${last.error.name}: ${last.error.message}`)}` : "";
    const most = step.maxAttempts === null ? "" : ` of at most ${step.maxAttempts}`;
    return {
      reason: "waiting-for-retry",
      answer: `Step "${step.name}" failed (attempt ${step.attempts}${most})${because}; it is tried again in ${left}.`,
      advice: null,
      ...until,
    };
  }
  if (step.type === "waitForEvent") {
    const what = step.topic === null ? `an event of type "${step.eventType}"` : `topic "${step.topic}"`;
    return {
      reason: step.topic === null ? "waiting-for-event" : "waiting-for-topic",
      answer: `Step "${step.name}" waits for ${what}, for ${left} more.`,
      advice: step.topic === null ? "Send it one." : "Publish to it.",
      ...until,
    };
  }
  return {
    reason: "sleeping",
    answer: `Step "${step.name}" sleeps for ${left} more.`,
    advice: "Skip the sleep if it should go on now.",
    ...until,
  };
}

function waitOf(step: WaitingStep): WhyWait {
  const { name: stepName, eventType, topic } = step;
  return { stepName, ...(topic !== null ? { topic } : eventType !== null ? { eventType } : {}) };
}

/** Of several waits the one that ends first. */
function soonest(steps: readonly StepRecord[]): WaitingStep | undefined {
  const waits = steps.filter((step): step is WaitingStep => step.status === "waiting");
  return waits.toSorted((a, b) => a.wakeAt - b.wakeAt)[0];
}

function ago(time: number | null, { now }: WhyTerms): string {
  return time === null ? "" : ` ${spoken(now - time, Math.floor)} ago`;
}

/**
 * Roughly, so that it is read at a glance, and by the rule of all times: what was is told in whole units that are over (7.6 minutes
 * ago are 7), what is to come in whole seconds that have begun (12.1 seconds are 13).
 */
function spoken(exactMs: number, whole: (units: number) => number = Math.round): string {
  const ms = whole === Math.floor ? exactMs : Math.ceil(exactMs / 1000) * 1000;
  const [unit, size] = units.find(([, least]) => ms >= least * 2) ?? ["second", 1000];
  const count = Math.max(0, whole(ms / size));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const units: readonly (readonly [string, number])[] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
];

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** A text of whoever may have its full stop already. */
function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}...` : text;
}

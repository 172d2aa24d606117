/** Commits that take the shorter way of the write script (plain-commit.lua.ts): steps and what comes next. */
import { endedStatus, type Next } from "../../model/boundary.ts";
import type { StepRecord } from "../../model/step.ts";
import type { CommitRequest } from "../../store/store.ts";
import type { Arguments } from "./arguments.ts";
import { begunText } from "./begun-text.ts";
import { endingText } from "./ending-text.ts";
import { runName } from "./run-id.ts";
import { addStep, newestTime, stepText } from "./step-text.ts";

type PlainNext = Exclude<Next, { readonly kind: "yield" }>;

export function isPlain({ boundary, alongside, mutations, announce }: CommitRequest): boolean {
  const { steps, timeouts, consumed, logs, next, after, noProgress, heard } = boundary;
  if (after !== undefined || noProgress || heard !== undefined) return false;
  if (mutations !== null || announce !== undefined || alongside.length > 0) return false;
  if (timeouts.length > 0 || consumed.length > 0 || logs.length > 0) return false;
  return next.kind !== "yield" && steps.every(next.kind === "suspend" ? isOffTopic : isSettled);
}

export function addPlainCommit(args: Arguments, { lease, boundary, leaseUntil }: CommitRequest): void {
  const { number, steps, begun, eventSeqSeen } = boundary;
  const next = boundary.next as PlainNext;
  const add = (kind: string) => args.add(kind, runName(lease.runId), lease.token, number, begunText(begun));
  const addSettled = (step: StepRecord) => args.add(step.index, newestTime(step), stepText(step));
  switch (next.kind) {
    case "continue":
      add("goOn").add(leaseUntil).each(steps, addSettled);
      return;
    case "suspend":
      add("suspend").add(eventSeqSeen, next.dueAt, next.task);
      args.each(steps, (step) => addStep(args, step));
      return;
    default:
      add("end").each(steps, addSettled).add(endedStatus(next));
      args.flag(next.kind === "error" && next.deadLetter).add(endingText(next));
  }
}

function isOffTopic(step: StepRecord): boolean {
  return isSettled(step) || step.topic === null;
}

function isSettled(step: StepRecord): boolean {
  return step.status !== "waiting";
}

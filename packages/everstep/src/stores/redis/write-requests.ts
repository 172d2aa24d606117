/** Requests as the write script reads them. */
import { type Boundary, endedStatus, type Next, numberBefore } from "../../model/boundary.ts";
import type { TerminationReason } from "../../model/instance.ts";
import type { LogLine } from "../../model/log-line.ts";
import type {
  AbandonRequest,
  AlongsideRequest,
  Change,
  ChangeRequest,
  CommitRequest,
  CreateRequest,
  PublishRequest,
  SendEventRequest,
  StoreRequest,
  WakeRequest,
} from "../../store/store.ts";
import { undeliveredLine, undeliveredReasons } from "../../store/undelivered.ts";
import type { Arguments } from "./arguments.ts";
import { begunText } from "./begun-text.ts";
import { endingText, errorText, reasonText } from "./ending-text.ts";
import { eventText } from "./event-text.ts";
import { logText } from "./log-text.ts";
import { timeOrder } from "./place.ts";
import { addPlainCommit, isPlain } from "./plain-commit.ts";
import { addRecorded, type Recorded } from "./recorded.ts";
import { runName } from "./run-id.ts";
import { addStep } from "./step-text.ts";

/** `recorded`: what the author's mutations of the one commit that has some have recorded. */
export function addRequest(args: Arguments, request: StoreRequest, recorded: Recorded): void {
  if (request.kind === "commit" && isPlain(request)) return addPlainCommit(args, request);
  args.add(request.kind);
  switch (request.kind) {
    case "create":
      return addCreate(args, request);
    case "commit":
      return addCommit(args, request, recorded);
    case "sendEvent":
      return addSendEvent(args, request);
    case "publish":
      return addPublish(args, request);
    case "change":
      return addChange(args, request);
    case "wake":
      return addWake(args, request);
    case "abandon":
      return addAbandon(args, request);
  }
}

function addCreate(args: Arguments, request: CreateRequest): void {
  const { params, parent, lease } = request;
  args.add(request.workflowName, request.instanceId, params.json).text(params.marks);
  args.add(timeOrder(request.createdAt), request.createdAt, request.dueAt);
  args.number(request.deadlineAt).number(request.retentionMs);
  args.text(parent === null ? null : JSON.stringify([parent.workflowName, parent.instanceId]));
  args.each(request.history, (step) => addStep(args, step));
  args.text(lease?.owner).number(lease?.token).number(lease?.until);
}

function addCommit(args: Arguments, request: CommitRequest, recorded: Recorded): void {
  const { lease, boundary, alongside, announce, leaseUntil } = request;
  args.add(runName(lease.runId), lease.token);
  addBoundary(args, boundary);
  args.each(alongside, (beside) => addAlongside(args, beside));
  addRecorded(args, recorded);
  addAnnounced(args, announce);
  args.add(leaseUntil);
}

function addBoundary(args: Arguments, boundary: Boundary): void {
  args.add(boundary.number, numberBefore(boundary)).flag(boundary.noProgress === true);
  args.each(boundary.steps, (step) => addStep(args, step));
  args.each(boundary.timeouts, ({ wait, settled }) => {
    args.add(wait.index, wait.key).text(wait.eventType).add(wait.wakeAt);
    addStep(args, settled);
  });
  args.each(boundary.consumed, ({ seq, stepKey }) => args.add(seq, stepKey));
  args.add(boundary.eventSeqSeen);
  args.each(boundary.heard ?? [], ({ seq, id }) => args.add(seq, id));
  addLogs(args, boundary.logs);
  args.add(begunText(boundary.begun));
  addNext(args, boundary.next);
}

function addNext(args: Arguments, next: Next): void {
  switch (next.kind) {
    case "continue":
      args.add("continue");
      return;
    case "suspend":
      args.add("suspend", next.dueAt, next.task);
      return;
    case "yield":
      args.add("yield", next.dueAt);
      return;
    default:
      args.add("end", endedStatus(next));
      args.flag(next.kind === "error" && next.deadLetter).add(endingText(next));
  }
}

function addAlongside(args: Arguments, request: AlongsideRequest): void {
  args.add(request.kind);
  if (request.kind === "create") return addCreate(args, request);
  addSendEvent(args, request);
  args.each(undeliveredReasons, (reason) => args.add(reason, logText(undeliveredLine(request, reason))));
}

function addAnnounced(args: Arguments, announce: CreateRequest | undefined): void {
  args.flag(announce !== undefined);
  if (announce !== undefined) addCreate(args, announce);
}

function addSendEvent(args: Arguments, request: SendEventRequest): void {
  args.add(request.workflowName, request.instanceId, request.id).text(request.type).text(request.forStep);
  args.flag(request.system).add(eventText(null, request.payload), request.createdAt, request.bufferMax);
  addLogs(args, request.logs);
}

function addLogs(args: Arguments, lines: readonly LogLine[] = []): void {
  args.each(lines, (line) => args.add(logText(line)));
}

function addPublish(args: Arguments, { id, topic, payload, createdAt }: PublishRequest): void {
  args.add(id, topic, eventText(topic, payload), createdAt);
}

function addChange(args: Arguments, request: ChangeRequest): void {
  const { when, change } = request;
  args.add(request.workflowName, request.instanceId, request.id);
  args
    .each(when.statuses, (status) => args.add(status))
    .number(when.runNumber)
    .number(when.token);
  args.add(change.kind);
  addMade(args, change);
  addAnnounced(args, request.announce);
  addLogs(args, request.logs);
}

const restarted: TerminationReason = { source: "restarted", message: null };

function addMade(args: Arguments, change: Change): void {
  switch (change.kind) {
    case "pause":
      return;
    case "resume":
      args.flag(change.shiftDeadlines);
      return;
    case "terminate":
      args.add(reasonText(change.reason));
      return;
    case "restart":
      args.add(reasonText(restarted)).each(change.history, (step) => addStep(args, step));
      return;
    case "retryStep":
      args.flag(change.reopen !== null);
      if (change.reopen !== null) addStep(args, change.reopen);
      args.each(change.drop, (index) => args.add(index));
      args.each(change.releaseEventsOf, (key) => args.add(key)).add(change.dueAt);
  }
}

function addWake(args: Arguments, { runId, token }: WakeRequest): void {
  args.add(runName(runId), token);
}

function addAbandon(args: Arguments, { owner, fate }: AbandonRequest): void {
  args.add(owner, fate.kind);
  if (fate.kind === "error") args.add(errorText(fate.error));
  if (fate.kind === "release") args.add(fate.token);
}

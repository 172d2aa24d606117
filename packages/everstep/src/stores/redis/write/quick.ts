/**
 * Requests that the quick script knows (scripts/quick.lua.ts), as it reads them: commits that are about nothing but their own
 * run, creations, events. What becomes of the run is taken from the state machine.
 */
import type { Next } from "../../../model/boundary.ts";
import type { InstanceRef } from "../../../model/instance.ts";
import type { StepRecord } from "../../../model/step.ts";
import { firstRow } from "../../../store/apply/apply-create.ts";
import { type Ending, isEnding } from "../../../store/apply/ending.ts";
import { committed, ended, madeDue, suspended } from "../../../store/apply/moves.ts";
import type { RunRow } from "../../../store/apply/run-row.ts";
import { firstClaim } from "../../../store/first-claim.ts";
import type {
  CommitRequest,
  CreateRequest,
  PublishRequest,
  SendEventRequest,
  StoreOutcome,
  StoreRequest,
} from "../../../store/store.ts";
import { endingText } from "../records/ending-text.ts";
import { eventText, logText } from "../records/event-text.ts";
import { runName, timeOrder } from "../records/place.ts";
import {
  count,
  type Field,
  type FieldTexts,
  fields,
  fieldsOf,
  laneName,
  statusOr,
} from "../records/run-fields.ts";
import { stepText } from "../records/step-text.ts";
import { Arguments, integer, list, type Reply, text } from "../server/script-values.ts";
import { instanceFacts, readPublication } from "./save.ts";

export function isQuick(request: StoreRequest): boolean {
  switch (request.kind) {
    case "create":
      return request.history.length === 0;
    case "commit":
      return isPlain(request);
    case "sendEvent":
      return request.logs === undefined;
    case "publish":
      return true;
    default:
      return false;
  }
}

// The script hands them over on its stack.
const takenMax = 100;
const linesMax = 1000;

function isPlain({ boundary, alongside, mutations, announce }: CommitRequest): boolean {
  const { steps, timeouts, consumed, logs, next, after, noProgress, heard } = boundary;
  if (after !== undefined || noProgress || heard !== undefined) return false;
  if (mutations !== null || announce !== undefined || alongside.length > 0) return false;
  if (timeouts.length > 0 || consumed.length > takenMax || logs.length > linesMax) return false;
  return next.kind !== "yield" && steps.every(next.kind === "suspend" ? isOffTopic : isSettled);
}

function isOffTopic(step: StepRecord): boolean {
  return isSettled(step) || step.topic === null;
}

function isSettled(step: StepRecord): boolean {
  return step.status !== "waiting";
}

export function quickArguments(
  requests: readonly StoreRequest[],
  now: number,
  isWaitedFor: boolean,
): Arguments {
  const creations = requests.filter((request) => request.kind === "create" && isQuick(request)).length;
  const args = new Arguments().add(now, creations).flag(isWaitedFor);
  return args.each(requests, (request) => addRequest(args, request, now));
}

function addRequest(args: Arguments, request: StoreRequest, now: number): void {
  if (!isQuick(request)) return addForLater(args.add("later"), request);
  switch (request.kind) {
    case "create":
      return addCreate(args.add("create"), request, now);
    case "commit":
      return addCommit(args, request, now);
    case "sendEvent":
      return addEvent(args.add("event"), request, now);
    case "publish":
      return addPublish(args.add("publish"), request, now);
  }
}

/** Whom it is about. */
function addForLater(args: Arguments, request: StoreRequest): void {
  const names: InstanceRef[] = [];
  const runs: string[] = [];
  switch (request.kind) {
    case "publish":
    case "abandon":
      args.add("all");
      return;
    case "wake":
      runs.push(runName(request.runId));
      break;
    case "commit":
      runs.push(runName(request.lease.runId));
      names.push(...request.alongside, ...(request.announce ? [request.announce] : []));
      break;
    case "change":
      names.push(request, ...(request.announce ? [request.announce] : []));
      break;
    default:
      names.push(request);
  }
  args
    .add("some")
    .flag(mayCreate(request))
    .each(runs, (run) => args.add(run));
  args.each(names, ({ workflowName, instanceId }) => args.add(workflowName, instanceId));
}

function mayCreate(request: StoreRequest): boolean {
  if (request.kind === "create") return true;
  if (request.kind === "change") return request.announce !== undefined;
  if (request.kind !== "commit") return false;
  return request.announce !== undefined || request.alongside.some(({ kind }) => kind === "create");
}

function addCreate(args: Arguments, request: CreateRequest, now: number): void {
  const { workflowName, instanceId, createdAt, lease } = request;
  const row = firstRow(request, 0, now);
  const names: FieldTexts = { workflow: workflowName, instance: instanceId, number: String(row.runNumber) };
  const { token, lane, ...more } = { ...fieldsOf(row), ...names };
  args.add(workflowName, instanceId, timeOrder(createdAt)).text(row.owner);
  args.add(token ?? "0", lane ?? "", row.dueAt).flag(lease === null && row.dueAt <= now);
  addFields(args, withoutZeros(more));
  addAll(args, instanceFacts(request).flat());
}

type PlainNext = Exclude<Next, { readonly kind: "yield" }>;

function addCommit(args: Arguments, { lease, boundary, leaseUntil }: CommitRequest, now: number): void {
  const { number, steps, consumed, logs, eventSeqSeen } = boundary;
  const next = boundary.next as PlainNext;
  const applied = committed({ crashCount: 0 }, boundary, now);
  const begin = (kind: string) => args.add(kind, runName(lease.runId), lease.token, number - 1);
  if (isEnding(next)) {
    begin("end").add(...endingArguments(next, now));
    addMoved(args, { ...applied, ...ended(next, null, now) }, { endedAt: String(now) });
    addSettled(args, steps);
  } else if (next.kind === "suspend") {
    const moved = { ...applied, ...suspended(next.task, next.dueAt, now) };
    begin("suspend").add(eventSeqSeen, laneName(moved.lane as number), moved.dueAt);
    addMoved(args, moved);
    addWaits(args, steps);
  } else {
    begin("goOn").add(leaseUntil);
    addMoved(args, applied);
    addSettled(args, steps);
  }
  addAll(
    args,
    consumed.flatMap(({ seq, stepKey }) => [seq, stepKey]),
  );
  args.each(logs, (line) => args.add(logText(line)));
}

/** The class it is listed under, from when on it is kept for its retention, and its record. */
function endingArguments(ending: Ending & Next, now: number): readonly (string | number)[] {
  const { status, deadLetter, pruneAt } = ended(ending, 0, now);
  return [deadLetter ? "dead" : status, pruneAt as number, endingText(ending)];
}

/** What is written and what goes. Of a run that has not crashed before, and whose later commits find it recorded. */
function addMoved(args: Arguments, moved: Partial<RunRow>, more: FieldTexts = {}): void {
  const texts = fieldsOf(moved);
  texts.crashes = undefined;
  if (moved.lastCommit !== 1) texts.recorded = undefined;
  addFields(args, Object.assign(texts, more));
  addAll(args, namesOfGone(texts));
}

function namesOfGone(texts: FieldTexts): readonly string[] {
  const gone: string[] = [];
  for (const name in texts) if (texts[name as Field] === null) gone.push(name);
  return gone;
}

/** Those that are there. */
function addFields(args: Arguments, texts: FieldTexts): void {
  const { list: all } = args;
  const place = all.push("") - 1;
  for (const name in texts) {
    const value = texts[name as Field];
    if (typeof value === "string") all.push(name, value);
  }
  all[place] = String(all.length - place - 1);
}

/** A count that a new hash does not have is 0. */
function withoutZeros(texts: FieldTexts): FieldTexts {
  for (const name in texts) {
    if (fields[name as Field] === "count" && texts[name as Field] === "0") texts[name as Field] = undefined;
  }
  return texts;
}

function addSettled(args: Arguments, steps: readonly StepRecord[]): void {
  addAll(
    args,
    steps.flatMap((step) => [step.index, stepText(step)]),
  );
}

/** Of a wait also its end, its key and its type. */
function addWaits(args: Arguments, steps: readonly StepRecord[]): void {
  args.add(5 * steps.length);
  for (const step of steps) {
    args.add(step.index, stepText(step));
    if (step.status === "waiting") args.add(step.wakeAt, step.key).text(step.eventType);
    else args.add("", "", "-");
  }
}

function addAll(args: Arguments, values: readonly (string | number)[]): void {
  args.add(values.length, ...values);
}

function addEvent(args: Arguments, request: SendEventRequest, now: number): void {
  args.add(request.workflowName, request.instanceId, request.id).text(request.type).text(request.forStep);
  args.flag(request.system).add(request.createdAt, request.bufferMax, eventText(null, request.payload));
  addWake(args, now);
}

function addPublish(args: Arguments, { topic, id, createdAt, payload }: PublishRequest, now: number): void {
  args.add(topic, id, createdAt, eventText(topic, payload));
  addWake(args, now);
}

/** What becomes of a run that the event wakes. */
function addWake(args: Arguments, now: number): void {
  const woken = madeDue({ dueAt: now }, "wake", now);
  args.add(laneName(woken.lane as number), woken.dueAt);
  addFields(args, { ...fieldsOf(woken), due: undefined });
}

/** Null for one that was left alone. */
export function quickOutcome(request: StoreRequest, reply: Reply, now: number): StoreOutcome | null {
  if (reply === null) return null;
  switch (request.kind) {
    case "create": {
      if (typeof reply === "string") {
        const runId = integer(reply);
        return { kind: "created", runId, claim: firstClaim(request, runId, now) };
      }
      const [status, runNumber] = list(reply);
      return { kind: "exists", status: statusOr(status), runNumber: count(runNumber) };
    }
    case "publish":
      return { kind: "published", ...readPublication(text(list(reply)[0])), duplicate: false };
    case "commit":
      return { kind: "committed", eventSeq: integer(reply), timeoutsRefused: false, dueNow: false };
    default: {
      const [run, status, woke] = list(reply);
      const facts = { runId: integer(run), status: statusOr(text(status)), woke: woke === "1" };
      return { kind: "accepted", ...facts, duplicate: false };
    }
  }
}

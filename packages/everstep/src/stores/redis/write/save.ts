/** What the state machine has made of a working set, as the save script reads it. */
import type { InstanceRef } from "../../../model/instance.ts";
import type { StepRecord } from "../../../model/step.ts";
import { pendingLanes } from "../../../store/apply/lane.ts";
import { ended } from "../../../store/apply/moves.ts";
import type { NewEvent, WorkingRun } from "../../../store/apply/working-run.ts";
import type { Publication, WorkingSet } from "../../../store/apply/working-set.ts";
import type { ChangeOutcome, CreateRequest } from "../../../store/store.ts";
import { endingText } from "../records/ending-text.ts";
import { eventText, logText } from "../records/event-text.ts";
import { timeOrder, wide } from "../records/place.ts";
import { type Field, type FieldTexts, fieldsOf, statusOr } from "../records/run-fields.ts";
import { stepText } from "../records/step-text.ts";
import { Arguments, integer, text } from "../server/script-values.ts";
import type { Seen } from "./look.ts";
import { addRecorded, type Recorded } from "./mutations.ts";

/** Null when there is nothing to save, and nobody waits for replicas to have what somebody else has saved. */
export function savingOf(
  { set, before }: Seen,
  recorded: Recorded,
  now: number,
  isWaitedFor: boolean,
): Arguments | null {
  const runs = [...set.runs.values()].filter(isToSave);
  const isNothing = runs.length + set.newChanges.length + set.newPublications.length === 0;
  if (isNothing && recorded.kind === "none" && !isWaitedFor) return null;
  const args = new Arguments();
  args.each(keysOf(set, runs), ([type, key]) => args.add(type, key));
  const created = runs.filter(({ isNew }) => isNew);
  args.each(created, ({ row }) => args.add(row.run));
  addRecorded(args, recorded);
  args.number(created.at(-1)?.row.run);
  args.each(runs, (run) => addRun(args, run, before.get(run) ?? {}));
  args.each(created, (run) => addInstance(args, run));
  args.each(set.newChanges, ({ instance, id, outcome }) => {
    addName(args, refOf(set, instance)).add(id, changeText(outcome as Changed));
  });
  args.each(set.newPublications, ({ request: { topic, id, createdAt }, made }) =>
    args.add(topic, id, createdAt, publicationText(made)),
  );
  return args.add(kindsOf(set, runs, now)).flag(isWaitedFor);
}

function isToSave(run: WorkingRun): boolean {
  if (run.isNew || run.isChanged || run.opening !== null || run.logs.length > 0) return true;
  const { stepPuts, stepDrops, shifts, newEvents, consumed, released } = run;
  return stepPuts.size + stepDrops.size + shifts.size + newEvents.length + consumed.size + released.size > 0;
}

/** Keys that will be written, with their types: one that is damaged must be found before the first write. */
function keysOf(set: WorkingSet, runs: readonly WorkingRun[]): readonly (readonly [string, string])[] {
  const keys: [string, string][] = [];
  for (const run of runs) {
    const add = (type: string, kind: string) => keys.push([type, `${kind}:${run.row.run}`]);
    if (run.stepPuts.size + run.stepDrops.size > 0) add("hash", "steps");
    if (run.stepPuts.size + run.stepDrops.size + run.shifts.size > 0) add("hash", "waits");
    if (run.newEvents.length > 0) add("hash", "events");
    if (run.newEvents.length + run.consumed.size + run.released.size > 0) {
      add("hash", "event-states");
      add("zset", "unread");
    }
    if (run.logs.length > 0) add("list", "logs");
    if (run.newEvents.length > 0) keys.push(["hash", "event-ids"]);
    if (run.isNew) keys.push(["set", "workflows"], ["hash", nameOf("instance", run.instance)]);
    for (const topic of topicsOf(run)) keys.push(["zset", `topic:${topic}`], ["zset", "topics"]);
  }
  for (const { instance } of set.newChanges) keys.push(["hash", nameOf("changes", refOf(set, instance))]);
  if (set.newPublications.length > 0) keys.push(["hash", "publications"], ["zset", "publication-ages"]);
  return [...new Map(keys.map((key) => [key[1], key])).values()];
}

/** Names may contain anything: the length of the first, in bytes, says where the second begins. */
function nameOf(kind: string, { workflowName, instanceId }: InstanceRef): string {
  return `${kind}:${Buffer.byteLength(workflowName)}:${workflowName}:${instanceId}`;
}

function topicsOf(run: WorkingRun): ReadonlySet<string> {
  const isTouched = run.stepPuts.size + run.stepDrops.size > 0 || run.opening !== null;
  const waits = isTouched ? [...run.waits.values(), ...(run.shelf?.waits().values() ?? [])] : [];
  return new Set(waits.flatMap(({ topic }) => (topic === null ? [] : [topic])));
}

function refOf(set: WorkingSet, instance: number): InstanceRef {
  for (const run of set.runs.values()) if (run.row.instance === instance) return run.instance;
  throw new Error(`No run of the instance ${instance} was loaded.`);
}

function addName(args: Arguments, { workflowName, instanceId }: InstanceRef): Arguments {
  return args.add(workflowName, instanceId);
}

function addRun(args: Arguments, run: WorkingRun, before: FieldTexts): void {
  args.add(run.row.run).flag(run.isNew);
  args.each(changedFields(run, before), ([field, value]) => args.add(field).text(value));
  addSteps(args, run);
  args.flag(run.forgetsEnding).text(run.ending && endingText(run.ending.ending));
  args.each(run.newEvents, (event) => addEvent(args, event));
  args.each([...run.released], (seq) => args.add(seq));
  args.each([...run.consumed], ([seq, { stepKey, at }]) => args.add(seq, stepKey, at));
  args.each(run.logs, ({ line }) => args.add(logText(line)));
}

function changedFields(run: WorkingRun, before: FieldTexts): readonly [Field, string | null][] {
  const texts = fieldsOf(run.row);
  if (run.ending !== null) texts.endedAt = String(run.ending.at);
  else if (run.forgetsEnding) texts.endedAt = null;
  if (run.isNew) Object.assign(texts, firstFields(run));
  if (!run.row.isCurrent) keepRetention(texts, run);
  const entries = Object.entries(texts).filter(([, value]) => value !== undefined) as [
    Field,
    string | null,
  ][];
  if (run.isNew) return entries.filter(([, value]) => value !== null);
  // Under the token before there may have been commits since it was looked at.
  const isFencedOff = texts.token !== before.token;
  // What is not known of a hash that is there is written, whatever it may be.
  return entries.filter(([field, value]) => value !== before[field] || (isFencedOff && field === "commit"));
}

/** Nobody prunes a run that was replaced, but until when it would have been kept is still shown. */
function keepRetention(texts: FieldTexts, { ending, instance }: WorkingRun): void {
  texts.keepUntil = undefined;
  if (ending === null) return;
  const { pruneAt } = ended(ending.ending, instance.retentionMs, ending.at);
  if (pruneAt !== null) texts.keepUntil = String(pruneAt);
}

function firstFields({ row, instance }: WorkingRun): FieldTexts {
  return {
    workflow: row.workflow,
    instance: instance.instanceId,
    place: timeOrder(row.createdAt) + wide(row.instance),
    number: String(row.runNumber),
  };
}

function addSteps(args: Arguments, run: WorkingRun): void {
  args.each([...run.stepDrops], (index) => args.add(index));
  args.each([...run.stepPuts.values()], (step) => addStep(args, step));
  args.each([...run.shifts], ([index, wakeAt]) => args.add(index, wakeAt));
  args.add(run.opening ?? "");
}

function addStep(args: Arguments, step: StepRecord): void {
  const isWaiting = step.status === "waiting";
  args.add(step.index, stepText(step)).flag(isWaiting);
  if (isWaiting) args.add(step.wakeAt, step.key).text(step.eventType).text(step.topic);
}

function addEvent(args: Arguments, event: NewEvent): void {
  args.add(event.seq, eventText(event.topic, event.payload)).flag(event.topic === null);
  args.add(event.id, event.createdAt).flag(event.system).text(event.type).text(event.forStep);
}

/** Its names of runs, and for the first one what it was created with. */
function addInstance(args: Arguments, { row, instance }: WorkingRun): void {
  const facts: [string, string | number][] = [[`run:${row.runNumber}`, row.run]];
  if (row.isCurrent) facts.push(["run", row.run], ["runs", row.runNumber]);
  if (instance.request !== null && row.runNumber === 1) facts.push(...instanceFacts(instance.request));
  addName(args, instance).each(facts, ([field, value]) => args.add(field, value));
}

export function instanceFacts(request: CreateRequest): [string, string | number][] {
  const { params, parent, createdAt, deadlineAt, retentionMs } = request;
  const facts: [string, string | number | null][] = [
    ["params", params.json],
    ["created", createdAt],
    ["marks", params.marks],
    ["deadline", deadlineAt],
    ["retention", retentionMs],
    ["parent", parent && JSON.stringify([parent.workflowName, parent.instanceId])],
  ];
  return facts.filter((fact): fact is [string, string | number] => fact[1] !== null);
}

/** What others should be told, a letter each. */
function kindsOf(set: WorkingSet, runs: readonly WorkingRun[], now: number): string {
  const { due, changed, ended } = set.news;
  const isDue = ({ row }: WorkingRun): boolean =>
    row.lane !== null && pendingLanes.includes(row.lane) && row.dueAt <= now;
  return (due || runs.some(isDue) ? "d" : "") + (changed ? "c" : "") + (ended ? "e" : "");
}

/** What was answered to requests that have ids of their own, as it is kept for whoever asks again. */

export function publicationText({ waiters, runIds }: Publication): string {
  return `${waiters}:${runIds.join(",")}`;
}

export function readPublication(report: string): Publication {
  const [waiters, runIds = ""] = report.split(":");
  return {
    waiters: integer(waiters),
    runIds: runIds === "" ? [] : runIds.split(",").map((runId) => integer(runId)),
  };
}

export function changeText({ runId, status, runNumber, leased }: Changed): string {
  return `${runId} ${status} ${runNumber} ${leased ? "1" : "0"}`;
}

export function readChange(report: string): ChangeOutcome {
  const [runId, status, runNumber, leased] = text(report).split(" ");
  return {
    kind: "changed",
    runId: integer(runId),
    status: statusOr(status),
    runNumber: integer(runNumber),
    leased: leased === "1",
  };
}

export type Changed = ChangeOutcome & { readonly kind: "changed" };

/**
 * The hash of a run, and how it stands for a row of the state machine (store/apply/run-row.ts). Beside what a row has, the
 * hash says where its instance is listed (`place`), when it ended, and how many waits and undelivered events it has.
 */
import { type BegunBody, type InstanceStatus, instanceStatuses } from "../../../model/instance.ts";
import { taskKinds } from "../../../model/task.ts";
import { lanes } from "../../../store/apply/lane.ts";
import type { RunRow } from "../../../store/apply/run-row.ts";
import { type Reply, unreadable } from "../server/script-values.ts";
import { placeTime, serialOf } from "./place.ts";
import { parse } from "./record-text.ts";

/** What every commit asks for stands first: the server looks for a field from the beginning. */
export const fields = {
  token: "count",
  lane: "text",
  status: "text",
  due: "count",
  commit: "count",
  recorded: "text",
  /** Of earlier versions: the newest time of a step, where `updatedAt` did not follow it. */
  stepAt: "time",
  begun: "text",
  crashes: "count",
  open: "count",
  seq: "count",
  workflow: "text",
  instance: "text",
  place: "text",
  number: "count",
  owner: "text",
  startedAt: "time",
  updatedAt: "time",
  waitingSince: "time",
  pausedAt: "time",
  endedAt: "time",
  keepUntil: "time",
  buffered: "count",
  dead: "text",
  retired: "text",
  kind: "text",
} as const;

export type Field = keyof typeof fields;
export const runFields = Object.keys(fields) as Field[];
const places = Object.fromEntries(runFields.map((name, n) => [name, n])) as Record<Field, number>;

/** Null: the hash has no such field. Undefined: nobody says. */
export type FieldTexts = { [Name in Field]?: string | null | undefined };

const laneNames: readonly string[] = ["resuming", "starting", "held", "heldPaused"];

export function laneName(lane: number): string {
  return laneNames[lane] as string;
}

/** As many of a row's facts as are given. */
export function fieldsOf(row: Partial<RunRow>): FieldTexts {
  const texts: FieldTexts = {};
  for (const fact in row) {
    const known = written[fact as keyof RunRow];
    if (known !== undefined) texts[known[0]] = known[1](row[fact as keyof RunRow] as never);
  }
  // In the other lanes it means nothing, and is left as it was.
  if (row.lane === lanes.resuming && row.kind !== undefined) texts.kind = row.kind;
  return texts;
}

const flag = (value: boolean): string | null => (value ? "1" : null);
const time = (value: number | null): string | null => (value === null ? null : String(value));

/** The field of each fact, and how its text is made. */
const written: {
  readonly [Fact in keyof RunRow]?: readonly [Field, (value: RunRow[Fact]) => string | null];
} = {
  token: ["token", String],
  lane: ["lane", (lane) => (lane === null ? null : laneName(lane))],
  status: ["status", String],
  dueAt: ["due", String],
  lastCommit: ["commit", String],
  recorded: ["recorded", flag],
  begun: ["begun", (begun) => ("unread" in begun ? begun.unread : begunText(begun) || null)],
  crashCount: ["crashes", String],
  eventSeq: ["seq", String],
  owner: ["owner", (owner) => owner],
  startedAt: ["startedAt", time],
  updatedAt: ["updatedAt", time],
  waitingSince: ["waitingSince", time],
  pausedAt: ["pausedAt", time],
  pruneAt: ["keepUntil", time],
  deadLetter: ["dead", flag],
  isCurrent: ["retired", (isCurrent) => flag(!isCurrent)],
};

/** `values` in the order of `runFields`. Numbers that nobody can read are 0, or not there, as scripts have it. */
export function readRow(run: number, values: readonly Reply[]): RunRow {
  const stored = (name: Field): string | null => (values[places[name]] ?? null) as string | null;
  const lane = laneNames.indexOf(stored("lane") ?? "");
  const place = stored("place") ?? "";
  const begun = stored("begun");
  return {
    run,
    instance: serialOf(place),
    workflow: stored("workflow") ?? "",
    runNumber: count(stored("number")),
    previousRun: null,
    createdAt: placeTime(place),
    isCurrent: stored("retired") === null,
    // One that nobody knows was damaged.
    status: statusOr(stored("status")),
    kind:
      lane === lanes.starting
        ? "run"
        : (lane === lanes.resuming && taskKinds.find((kind) => kind === stored("kind"))) || "resume",
    lane: lane === -1 ? null : lane,
    dueAt: count(stored("due")),
    owner: stored("owner"),
    token: count(stored("token")),
    lastCommit: count(stored("commit")),
    eventSeq: count(stored("seq")),
    // Lines are numbered by their places in a list.
    logSeq: 0,
    crashCount: count(stored("crashes")),
    recorded: stored("recorded") !== null,
    deadLetter: stored("dead") !== null,
    startedAt: timeOf(stored("startedAt")),
    waitingSince: timeOf(stored("waitingSince")),
    pausedAt: timeOf(stored("pausedAt")),
    updatedAt: Math.max(count(stored("updatedAt")), count(stored("stepAt"))),
    pruneAt: timeOf(stored("keepUntil")),
    begun: begun === null ? [] : { unread: begun },
  };
}

export function statusOr(text: Reply | undefined): InstanceStatus {
  return instanceStatuses.find((status) => status === text) ?? "active";
}

export function count(text: Reply | undefined): number {
  return timeOf(text) ?? 0;
}

export function timeOf(text: Reply | undefined): number | null {
  return typeof text !== "string" || text === "" || Number.isNaN(Number(text)) ? null : Number(text);
}

/** Bodies in flight, short enough to lie among the hot fields of a run. */

const none: readonly BegunBody[] = [];

/** Nothing in flight is the common case and costs no text. */
export function begunText(begun: readonly BegunBody[]): string {
  if (begun.length === 0) return "";
  return JSON.stringify(begun.map(({ key, name, start, at }) => [key, name, start, at]));
}

export function readBegun(text: string | null): readonly BegunBody[] {
  if (text === null) return none;
  const list = parse(text);
  if (!Array.isArray(list)) throw unreadable("bodies in flight", text);
  return list.map((body: unknown) => {
    if (!Array.isArray(body)) throw unreadable("a body in flight", text);
    const [key, name, start, at] = body;
    if (typeof key !== "string" || typeof start !== "number" || typeof at !== "number") {
      throw unreadable("a body in flight", text);
    }
    return { key, name, start, at };
  });
}

/** Undefined when it is damaged. */
export function readBegunIfSound(text: string | null): readonly BegunBody[] | undefined {
  try {
    return readBegun(text);
  } catch {
    return undefined;
  }
}

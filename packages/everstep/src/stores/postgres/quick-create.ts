/**
 * Creations. A name that is taken is left alone, and only what was made gets a run. Mostly the first runs of a batch are
 * all in the same state, which is then said once; what differs is the instance's own.
 */

import type { RunRow } from "../../store/apply/run-row.ts";
import type { WorkingRun } from "../../store/apply/working-run.ts";
import type { WorkingSet } from "../../store/apply/working-set.ts";
import { instanceColumns, instanceValues } from "../sql/rows/instance-row.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import { runColumns, runValues } from "../sql/rows/run-row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import { type Column, column, columnsAt, sameKey, tableText } from "./parameter-table.ts";

export interface CreateShape {
  readonly isMany: boolean;
  /** All first runs are in the same state, whenever they are due, and no instance has a parent. */
  readonly isAlike: boolean;
}

export interface NewInstance {
  readonly row: RunRow;
  readonly values: readonly SqlValue[];
}

/** By name, as everybody takes them. */
export function newInstances({ runs }: WorkingSet): readonly NewInstance[] {
  const made = [...runs.values()].flatMap(newInstance);
  return made.length === 1 ? made : made.sort(byName);
}

function newInstance({ row, instance: { id, request } }: WorkingRun): readonly NewInstance[] {
  return request === null ? [] : [{ row, values: instanceValues(id, row.run, request) }];
}

const workflowAt = instanceColumns.indexOf("workflow");
const nameAt = instanceColumns.indexOf("instance_id");
const parentAt = instanceColumns.indexOf("parent_workflow");

function byName(a: NewInstance, b: NewInstance): number {
  return compare(a.values[workflowAt], b.values[workflowAt]) || compare(a.values[nameAt], b.values[nameAt]);
}

function compare(a: SqlValue | undefined, b: SqlValue | undefined): number {
  return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0;
}

export function createShape(instances: readonly NewInstance[]): CreateShape {
  const [first] = instances;
  return {
    isMany: instances.length > 1,
    isAlike: instances.every(
      ({ row, values }) => values[parentAt] === null && isAlike(row, (first as NewInstance).row),
    ),
  };
}

function isAlike(a: RunRow, b: RunRow): boolean {
  return (
    a.owner === b.owner &&
    a.lane === b.lane &&
    a.kind === b.kind &&
    a.startedAt === b.startedAt &&
    a.recorded === b.recorded
  );
}

/** What is said once for all runs that are alike, in this order. */
const common: readonly Column<RunRow>[] = [
  column("owner", ({ owner }) => owner),
  column("lane", ({ lane }) => lane),
  column("kind", ({ kind }) => kind),
  column("started_at", ({ startedAt }) => startedAt),
  column("recorded", ({ recorded }) => (recorded ? 1 : 0)),
  column("updated_at", ({ updatedAt }) => updatedAt),
];

export function commonValues([first]: readonly NewInstance[]): readonly unknown[] {
  return first === undefined ? [] : common.map(({ of }) => of(first.row));
}

const instanceParameters: readonly Column<NewInstance>[] = columnsAt(instanceColumns, "instance").map(
  (each) => ({
    ...each,
    of: ({ values }) => each.of(values),
  }),
);

const runParameters: readonly Column<NewInstance>[] = columnsAt(runColumns, "run").map((each) => ({
  ...each,
  name: `run_${each.name}`,
  of: ({ row }) => each.of(runValues(row)),
}));

/** Of runs that are alike nearly all is said in the instances' columns and the common ones. */
export function createColumns({ isAlike }: CreateShape): readonly Column<NewInstance>[] {
  return isAlike ? alikeParameters : eachParameters;
}

const derived: ReadonlySet<string> = new Set(["run", "parent_workflow", "parent_instance"]);
const alikeParameters: readonly Column<NewInstance>[] = [
  ...instanceParameters.filter(({ name }) => !derived.has(name)),
  column("due_at", ({ row }) => row.dueAt),
  column("token", ({ row }) => row.token),
];
const eachParameters: readonly Column<NewInstance>[] = [...instanceParameters, ...runParameters];

/** What every first run has. */
const firstRun = {
  run_number: "1",
  is_current: "1",
  status: "'active'",
  last_commit: "0",
  event_seq: "0",
  log_seq: "0",
  crash_count: "0",
  dead_letter: "0",
};

/** The expressions, by name; `first` is the number of the first parameter: common values first, then the columns. */
export function createTexts(
  names: TableNames,
  shape: CreateShape,
  first: number,
): readonly (readonly [string, string])[] {
  const { isAlike, isMany } = shape;
  const offset = first + (isAlike ? common.length : 0);
  const given = (...only: readonly string[]): string =>
    tableText("v", createColumns(shape), isMany, offset, only);
  const columns = instanceColumns.filter((name) => !isAlike || !derived.has(name));
  return [
    [
      "made",
      `INSERT INTO ${names.instance} (${isAlike ? "run, " : ""}${columns.join(", ")})
        SELECT ${isAlike ? "v.id, " : ""}${columns.map((name) => `v.${name}`).join(", ")} FROM ${given(...columns)}
        ON CONFLICT (workflow, instance_id) DO NOTHING RETURNING id`,
    ],
    [
      "begun_runs",
      `${isAlike ? alikeText(names, given, first) : eachText(names, given)} WHERE ${isMade} IS TRUE`,
    ],
    // Only for names that were taken; the statement sees everything as it was before.
    [
      "known",
      `SELECT v.id, r.id AS run, r.run_number, r.status FROM ${given("id", "workflow", "instance_id")}
        JOIN ${names.instance} i ON ${sameKey("i.workflow", "v.workflow", isMany)} AND i.instance_id = v.instance_id
        JOIN ${names.run} r ON ${sameKey("r.id", "i.run", isMany)} WHERE ${isMade} IS NOT TRUE`,
    ],
  ];
}

const isMade = "(v.id IN (SELECT m.id FROM made m))";

type Given = (...only: readonly string[]) => string;

function alikeText(names: TableNames, given: Given, first: number): string {
  const own = ["workflow", "created_at", "due_at", "token"];
  const said = common.map(
    ({ name, isText }, n) => [name, `$${first + n}::${isText ? "text" : "bigint"}`] as const,
  );
  const facts = [...Object.entries(firstRun), ...said];
  return `INSERT INTO ${names.run} (id, instance, ${[...own, ...facts.map(([name]) => name)].join(", ")})
    SELECT v.id, v.id, ${[...own.map((name) => `v.${name}`), ...facts.map(([, value]) => value)].join(", ")}
    FROM ${given("id", ...own)}`;
}

function eachText(names: TableNames, given: Given): string {
  const own = runColumns.map((name) => `run_${name}`);
  return `INSERT INTO ${names.run} (${runColumns.join(", ")})
    SELECT ${own.map((name) => `v.${name}`).join(", ")} FROM ${given("id", ...own)}`;
}

/** Instances, with the facts of their current run or of another. */
import {
  type InstanceRecord,
  type InstanceRef,
  type InstanceStatus,
  instanceStatuses,
} from "../../../model/instance.ts";
import { claimableLanes } from "../../../store/apply/lane.ts";
import type { ValueTerms } from "../../../store/store.ts";
import { refValues } from "../part.ts";
import {
  briefInstanceSelection,
  instanceSelection,
  markColumns,
  readInstance,
  readMark,
} from "../rows/instance-row.ts";
import { integer, integerOrNull, type SqlRow, selectedNames, text } from "../rows/row.ts";
import type { ReadDialect } from "./dialect.ts";
import { eachKey, eachRow } from "./each.ts";
import type { Query } from "./query.ts";

export interface Instances {
  get(ref: InstanceRef, runNumber?: number): Query<InstanceRecord | undefined>;
  /** In the order asked for, as are statuses. */
  getAll(refs: readonly InstanceRef[]): Query<readonly (InstanceRecord | undefined)[]>;
  statuses(refs: readonly InstanceRef[]): Query<readonly (InstanceStatus | undefined)[]>;
  marks(refs: readonly InstanceRef[]): Query<readonly (string | undefined)[]>;
  runs(ref: InstanceRef, limit: number, terms?: ValueTerms): Query<readonly InstanceRecord[]>;
  countByStatus(workflowName?: string): Query<Readonly<Record<InstanceStatus, number>>>;
  nextDueAt(workflows: readonly string[]): Query<number | null>;
}

export function instances(dialect: ReadDialect): Instances {
  const { names, limit } = dialect;
  const withEnding = `LEFT JOIN ${names.ending} e ON e.run = r.id`;
  const named = "i.workflow = ? AND i.instance_id = ?";
  const one = { columns: selectedNames(instanceSelection), isOne: true };
  const ofOne = `SELECT ${instanceSelection.join(", ")} FROM ${names.instance} i JOIN ${names.run} r`;
  const current = `${ofOne} ON r.id = i.run ${withEnding} WHERE ${named}`;
  // The first run has the instance's own id.
  const first = `${ofOne} ON r.id = i.id ${withEnding} WHERE ${named}`;
  const later = `${ofOne} ON r.instance = i.id AND r.run_number = ? AND r.run_number > 1 ${withEnding} WHERE ${named}`;
  const runs = (selection: readonly string[]): string =>
    `SELECT ${selection.join(", ")} FROM (` +
    `SELECT l.id FROM (SELECT r.id FROM ${names.instance} i JOIN ${names.run} r ON r.instance = i.id AND r.run_number > 1 ` +
    `WHERE ${named} ORDER BY r.run_number DESC ${limit}) l ` +
    `UNION ALL SELECT i.id FROM ${names.instance} i WHERE ${named}) w ` +
    `JOIN ${names.run} r ON r.id = w.id JOIN ${names.instance} i ON i.id = r.instance ${withEnding} ` +
    `ORDER BY r.run_number DESC ${limit}`;
  const wholeRuns = runs(instanceSelection);
  const briefRuns = runs(briefInstanceSelection);
  const counted = `SELECT r.status, count(*) AS counted FROM ${names.run} r WHERE r.is_current = 1`;
  const countAll = `${counted} GROUP BY r.workflow, r.status`;
  const countOne = `${counted} AND r.workflow = ? GROUP BY r.status`;

  const all = byName(dialect, instanceSelection, withEnding);
  const statuses = byName(dialect, ["r.status"]);
  const marks = byName(dialect, markColumns);
  const nextDue = nextDueAt(dialect);

  return {
    get({ workflowName, instanceId }, runNumber) {
      const name = [workflowName, instanceId];
      const statement =
        runNumber === undefined
          ? { sql: current, values: name, isPlannedOnce: true, ...one }
          : runNumber === 1
            ? { sql: first, values: name, ...one }
            : { sql: later, values: [runNumber, ...name], ...one };
      return { statements: [statement], read: firstInstance };
    },
    getAll: (refs) => all(refs, readInstance),
    statuses(refs) {
      const query = statuses(refs, readStatusAsIs);
      return refs.length === 1 && !dialect.oneByOne ? seeking(query) : query;
    },
    marks: (refs) => marks(refs, readMark),
    runs({ workflowName, instanceId }, limit, { brief } = {}) {
      const name = [workflowName, instanceId];
      const sql = brief ? briefRuns : wholeRuns;
      return {
        statements: [{ sql, values: [...name, limit, ...name, limit] }],
        read: ([rows = []]) => rows.map(readInstance),
      };
    },
    countByStatus(workflowName) {
      const statement =
        workflowName === undefined
          ? { sql: countAll, values: [] }
          : { sql: countOne, values: [workflowName] };
      return { statements: [statement], read: ([rows = []]) => countsOf(rows) };
    },
    nextDueAt: nextDue,
  };
}

function firstInstance([rows]: readonly (readonly SqlRow[])[]): InstanceRecord | undefined {
  const row = rows?.[0];
  return row === undefined ? undefined : readInstance(row);
}

function readStatusAsIs(row: SqlRow): InstanceStatus {
  return text(row, "status") as InstanceStatus;
}

/** Of current runs, in the order in which they are asked for. */
function byName(dialect: ReadDialect, selection: readonly string[], withMore = "") {
  const { names, oneByOne } = dialect;
  // Where many rows come at once they are told apart by these.
  const named = oneByOne ? selection : [...selection, "i.workflow AS of_workflow", "i.instance_id AS of_id"];
  const look = eachKey(
    dialect,
    ["workflow", "instance_id"],
    ({ from, value }) =>
      `SELECT ${named.join(", ")} FROM ${from} ${names.instance} i JOIN ${names.run} r ON r.id = i.run ${withMore} ` +
      `WHERE i.workflow = ${value("workflow")} AND i.instance_id = ${value("instance_id")}`,
    selectedNames(named),
  );
  return <Item>(
    refs: readonly InstanceRef[],
    item: (row: SqlRow) => Item,
  ): Query<readonly (Item | undefined)[]> => ({
    statements: look(refs.map(refValues)),
    read(results) {
      const read = (row: SqlRow | undefined): Item | undefined => (row === undefined ? undefined : item(row));
      if (oneByOne) return results.map((rows) => read(rows[0]));
      const found = new Map(results[0]?.map((row) => [rowKey(row), row]));
      return refs.map((ref) => read(found.get(nameKey(ref))));
    },
  });
}

/** For those who look often. */
function seeking<Result>({ statements, read }: Query<Result>): Query<Result> {
  return { statements: statements.map((each) => ({ ...each, isPlannedOnce: true })), read };
}

function countsOf(rows: readonly SqlRow[]): Readonly<Record<InstanceStatus, number>> {
  const counts = Object.fromEntries(instanceStatuses.map((each) => [each, 0])) as Record<
    InstanceStatus,
    number
  >;
  for (const row of rows) {
    const of = row.status as InstanceStatus;
    if (of in counts) counts[of] += integer(row, "counted");
  }
  return counts;
}

/** One seek per workflow and lane. Nothing is locked and nothing skipped: what is due is seen, whoever is at it. */
function nextDueAt(dialect: ReadDialect): Instances["nextDueAt"] {
  const columns = claimableLanes.map((lane) => `lane_${lane}`);
  const firsts = claimableLanes.map(
    (lane) =>
      `(SELECT r.due_at FROM ${dialect.names.run} r WHERE r.workflow = v.workflow AND r.lane = ${lane} ` +
      `ORDER BY r.due_at LIMIT 1) AS lane_${lane}`,
  );
  const given = dialect.parameters("v", ["workflow"]);
  const select = `SELECT ${firsts.join(", ")} FROM `;
  const one = select + given([[""]]).sql;
  const look = eachRow(dialect, (workflows) => {
    const { sql, values } = given(workflows);
    return { sql: workflows.length === 1 ? one : select + sql, values, isPlannedOnce: true, columns };
  });
  return (workflows) => ({
    statements: look(workflows.map((workflow) => [workflow])),
    read(results) {
      const dueTimes = results.flat().flatMap((row) => columns.map((column) => integerOrNull(row, column)));
      const known = dueTimes.filter((dueAt) => dueAt !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
  });
}

function nameKey({ workflowName, instanceId }: InstanceRef): string {
  return `${workflowName.length} ${workflowName}${instanceId}`;
}

function rowKey(row: SqlRow): string {
  return nameKey({ workflowName: text(row, "of_workflow"), instanceId: text(row, "of_id") });
}

/** Instances, with the facts of their current run or of another. */
import {
  type InstanceRecord,
  type InstanceRef,
  type InstanceStatus,
  instanceStatuses,
} from "../../model/instance.ts";
import { nameKey } from "../../store/apply/keys.ts";
import { claimableLanes, isLeased } from "../../store/apply/lane.ts";
import type { InstanceQuery, Page, ValueTerms } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { instanceSelection, markColumns, readInstance, readMark, selectionOf } from "./instance-row.ts";
import { isAscending, listPage, type Place, rangeOf } from "./list-range.ts";
import { integer, integerOrNull, type SqlRow, text } from "./row.ts";
import type { Database } from "./session.ts";

export interface Instances {
  get(ref: InstanceRef, runNumber?: number): Promise<InstanceRecord | undefined>;
  /** In the order asked for, as are statuses. */
  getAll(refs: readonly InstanceRef[]): Promise<readonly (InstanceRecord | undefined)[]>;
  statuses(refs: readonly InstanceRef[]): Promise<readonly (InstanceStatus | undefined)[]>;
  marks(refs: readonly InstanceRef[]): Promise<readonly (string | undefined)[]>;
  runs(ref: InstanceRef, limit: number, terms?: ValueTerms): Promise<readonly InstanceRecord[]>;
  list(query: InstanceQuery): Promise<Page<InstanceRecord>>;
  countByStatus(workflowName?: string): Promise<Readonly<Record<InstanceStatus, number>>>;
  nextDueAt(workflows: readonly string[]): Promise<number | null>;
}

export function instances(database: Database, dialect: Dialect): Instances {
  const { names } = dialect;
  const withEnding = `LEFT JOIN ${names.ending} e ON e.run = r.id`;
  const named = "i.workflow = ? AND i.instance_id = ?";
  const current =
    `SELECT ${instanceSelection} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run ${withEnding} ` +
    `WHERE ${named}`;
  // The first run has the instance's own id.
  const later =
    `SELECT ${instanceSelection} FROM ${names.instance} i JOIN ${names.run} r ` +
    `ON r.instance = i.id AND r.run_number = ? AND r.run_number > 1 ${withEnding} WHERE ${named}`;
  const first = `SELECT ${instanceSelection} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.id ${withEnding} WHERE ${named}`;
  const runs = (terms: ValueTerms): string =>
    `SELECT ${selectionOf(terms)} FROM (` +
    `(SELECT r.id FROM ${names.instance} i JOIN ${names.run} r ON r.instance = i.id AND r.run_number > 1 ` +
    `WHERE ${named} ORDER BY r.run_number DESC LIMIT ?) ` +
    `UNION ALL (SELECT i.id FROM ${names.instance} i WHERE ${named})) w ` +
    `JOIN ${names.run} r ON r.id = w.id JOIN ${names.instance} i ON i.id = r.instance ${withEnding} ` +
    "ORDER BY r.run_number DESC LIMIT ?";
  const asked = dialect.parameters("v", ["workflow", "instance_id"]);
  const counted = `SELECT r.status, count(*) AS counted FROM ${names.run} r WHERE r.is_current = 1`;
  const nextDue = nextDueText(dialect);

  const read = async (sql: string, values: readonly unknown[]): Promise<readonly SqlRow[]> => {
    const [result] = await database.run([{ sql, values }]);
    return result?.rows ?? [];
  };
  /** For those who look often, and by key. */
  const seek = async (sql: string, values: readonly unknown[]): Promise<readonly SqlRow[]> => {
    const [result] = await database.run([{ sql, values, isPlannedOnce: true }]);
    return result?.rows ?? [];
  };

  return {
    async get({ workflowName, instanceId }, runNumber) {
      const name = [workflowName, instanceId];
      const rows =
        runNumber === undefined
          ? await seek(current, name)
          : runNumber === 1
            ? await read(first, name)
            : await read(later, [runNumber, ...name]);
      return rows[0] === undefined ? undefined : toInstance(rows[0]);
    },

    async getAll(refs) {
      if (refs.length === 0) return [];
      const { sql, values } = asked(refs.map(({ workflowName, instanceId }) => [workflowName, instanceId]));
      const rows = await read(
        `SELECT ${instanceSelection} FROM ${sql} ` +
          `JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id ` +
          `JOIN ${names.run} r ON r.id = i.run ${withEnding}`,
        values,
      );
      const found = new Map(rows.map(toInstance).map((record) => [nameKey(record), record]));
      return refs.map((ref) => found.get(nameKey(ref)));
    },

    async statuses(refs) {
      if (refs.length === 0) return [];
      const { sql, values } = asked(refs.map(({ workflowName, instanceId }) => [workflowName, instanceId]));
      const rows = await (refs.length === 1 ? seek : read)(
        `SELECT i.workflow, i.instance_id, r.status FROM ${sql} ` +
          `JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id ` +
          `JOIN ${names.run} r ON r.id = i.run`,
        values,
      );
      const found = new Map(rows.map((row) => [rowKey(row), text(row, "status") as InstanceStatus]));
      return refs.map((ref) => found.get(nameKey(ref)));
    },

    async marks(refs) {
      if (refs.length === 0) return [];
      const { sql, values } = asked(refs.map(({ workflowName, instanceId }) => [workflowName, instanceId]));
      const rows = await read(
        `SELECT i.workflow, i.instance_id, ${markColumns.join(", ")} FROM ${sql} ` +
          `JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id ` +
          `JOIN ${names.run} r ON r.id = i.run`,
        values,
      );
      const found = new Map(rows.map((row) => [rowKey(row), readMark(row)]));
      return refs.map((ref) => found.get(nameKey(ref)));
    },

    async runs({ workflowName, instanceId }, limit, terms = {}) {
      const name = [workflowName, instanceId];
      return (await read(runs(terms), [...name, limit, ...name, limit])).map(toInstance);
    },

    async list(query) {
      const { rows, lookedTo } = await dialect.listInstances(database, {
        workflowName: query.workflowName,
        statuses: statusesOf(query),
        deadLetter: query.deadLetter,
        idPrefix: query.idPrefix,
        ascending: isAscending(query),
        ...rangeOf(query),
        limit: query.limit + 1,
        ...(query.brief ? { brief: true } : {}),
      });
      return listPage(rows, query.limit, toInstance, placeOf, lookedTo);
    },

    async countByStatus(workflowName) {
      const rows =
        workflowName === undefined
          ? await read(`${counted} GROUP BY r.status`, [])
          : await read(`${counted} AND r.workflow = ? GROUP BY r.status`, [workflowName]);
      const counts = Object.fromEntries(instanceStatuses.map((each) => [each, 0])) as Record<
        InstanceStatus,
        number
      >;
      for (const row of rows) {
        const of = row.status as InstanceStatus;
        if (of in counts) counts[of] += integer(row, "counted");
      }
      return counts;
    },

    async nextDueAt(workflows) {
      if (workflows.length === 0) return null;
      const { sql, values } = nextDue(workflows);
      const rows = await seek(sql, values);
      const dueTimes = rows.flatMap((row) =>
        claimableLanes.map((lane) => integerOrNull(row, `lane_${lane}`)),
      );
      const known = dueTimes.filter((dueAt) => dueAt !== null);
      return known.length === 0 ? null : Math.min(...known);
    },
  };
}

/** One seek per workflow and lane. Nothing is locked and nothing skipped: what is due is seen, whoever is at it. */
function nextDueText(dialect: Dialect) {
  const given = dialect.parameters("v", ["workflow"]);
  const firsts = claimableLanes.map(
    (lane) =>
      `(SELECT r.due_at FROM ${dialect.names.run} r WHERE r.workflow = v.workflow AND r.lane = ${lane} ` +
      `ORDER BY r.due_at LIMIT 1) AS lane_${lane}`,
  );
  return (workflows: readonly string[]) => {
    const { sql, values } = given(workflows.map((workflow) => [workflow]));
    return { sql: `SELECT ${firsts.join(", ")} FROM ${sql}`, values };
  };
}

/** Only errored runs can be dead letters. */
function statusesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly InstanceStatus[] {
  return deadLetter === true ? statuses.filter((status) => status === "errored") : statuses;
}

export function placeOf(row: SqlRow): Place {
  return { createdAt: integer(row, "created_at"), instance: integer(row, "instance") };
}

function rowKey(row: SqlRow): string {
  return nameKey({ workflowName: text(row, "workflow"), instanceId: text(row, "instance_id") });
}

function toInstance(row: SqlRow): InstanceRecord {
  return readInstance(row, isLeased);
}

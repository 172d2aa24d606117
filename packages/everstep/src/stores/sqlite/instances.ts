/** Instances, with the facts of their current run or of another. */

import type { InstanceRef } from "../../model/instance.ts";
import { type InstanceRecord, type InstanceStatus, instanceStatuses } from "../../model/instance.ts";
import { claimableLanes, isLeased } from "../../store/apply/lane.ts";
import type { ValueTerms } from "../../store/store.ts";
import { instanceSelection, markColumns, readInstance, readMark, selectionOf } from "../sql/instance-row.ts";
import { integer, type SqlRow } from "../sql/row.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";

export interface Instances {
  get(ref: InstanceRef, runNumber?: number): InstanceRecord | undefined;
  getAll(refs: readonly InstanceRef[]): readonly (InstanceRecord | undefined)[];
  statuses(refs: readonly InstanceRef[]): readonly (InstanceStatus | undefined)[];
  marks(refs: readonly InstanceRef[]): readonly (string | undefined)[];
  runs(ref: InstanceRef, limit: number, terms?: ValueTerms): readonly InstanceRecord[];
  countByStatus(workflowName?: string): Readonly<Record<InstanceStatus, number>>;
  nextDueAt(workflows: readonly string[]): number | null;
}

export function instances(connection: Connection): Instances {
  const { db, names } = connection;
  const named = `FROM ${names.instance} i`;
  const withEnding = `LEFT JOIN ${names.ending} e ON e.run = r.id`;
  const current = db.prepare(
    `SELECT ${instanceSelection} ${named} JOIN ${names.run} r ON r.id = i.run ${withEnding}
     WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  // The first run has the instance's own id.
  const numbered = db.prepare(
    `SELECT ${instanceSelection} ${named} JOIN ${names.run} r ON r.id = CASE WHEN ? = 1 THEN i.id ELSE (
       SELECT later.id FROM ${names.run} later
       WHERE later.instance = i.id AND later.run_number = ? AND later.run_number > 1
     ) END ${withEnding} WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  const runs = (terms: ValueTerms) =>
    db.prepare(
      `WITH RECURSIVE chain (id) AS (
         SELECT run FROM ${names.instance} WHERE workflow = ? AND instance_id = ?
         UNION ALL
         SELECT r.previous_run FROM chain JOIN ${names.run} r ON r.id = chain.id WHERE r.previous_run IS NOT NULL
         ${limited}
       )
       SELECT ${selectionOf(terms)} FROM chain JOIN ${names.run} r ON r.id = chain.id
       JOIN ${names.instance} i ON i.id = r.instance ${withEnding} ORDER BY r.run_number DESC`,
    );
  const wholeRuns = runs({});
  const briefRuns = runs({ brief: true });
  const count = db.prepare(
    `SELECT status, count(*) AS count FROM ${names.run} WHERE is_current = 1 GROUP BY workflow, status`,
  );
  const countOne = db.prepare(
    `SELECT status, count(*) AS count FROM ${names.run} WHERE is_current = 1 AND workflow = ? GROUP BY status`,
  );
  const status = db.prepareTuples(
    `SELECT r.status ${named} JOIN ${names.run} r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  const mark = db.prepare(
    `SELECT ${markColumns.join(", ")} ${named} JOIN ${names.run} r ON r.id = i.run WHERE i.workflow = ? AND i.instance_id = ?`,
  );
  const first = db.prepareTuples(`SELECT min(due_at) FROM ${names.run} WHERE workflow = ? AND lane = ?`);

  const get: Instances["get"] = ({ workflowName, instanceId }, runNumber) => {
    const row =
      runNumber === undefined
        ? current.get(workflowName, instanceId)
        : numbered.get(runNumber, runNumber, workflowName, instanceId);
    return row === undefined ? undefined : toInstance(row);
  };

  return {
    get,

    getAll: (refs) => connection.snapshot(() => refs.map((ref) => get(ref))),

    statuses: (refs) =>
      connection.snapshot(() =>
        refs.map(
          ({ workflowName, instanceId }) =>
            status.get(workflowName, instanceId)?.[0] as InstanceStatus | undefined,
        ),
      ),

    marks: (refs) =>
      connection.snapshot(() =>
        refs.map(({ workflowName, instanceId }) => {
          const row = mark.get(workflowName, instanceId);
          return row === undefined ? undefined : readMark(row);
        }),
      ),

    runs: ({ workflowName, instanceId }, limit, { brief } = {}) =>
      (brief ? briefRuns : wholeRuns).all(workflowName, instanceId, limit).map(toInstance),

    countByStatus(workflowName) {
      const counts = Object.fromEntries(instanceStatuses.map((status) => [status, 0])) as Record<
        InstanceStatus,
        number
      >;
      for (const row of workflowName === undefined ? count.all() : countOne.all(workflowName)) {
        const status = row.status as InstanceStatus;
        if (status in counts) counts[status] += integer(row, "count");
      }
      return counts;
    },

    nextDueAt(workflows) {
      const dueTimes = connection.snapshot(() =>
        workflows.flatMap((workflow) => claimableLanes.map((lane) => first.get(workflow, lane)?.[0])),
      );
      const known = dueTimes.filter((dueAt) => typeof dueAt === "number");
      return known.length === 0 ? null : Math.min(...known);
    },
  };
}

export function toInstance(row: SqlRow): InstanceRecord {
  return readInstance(row, isLeased);
}

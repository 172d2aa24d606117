/**
 * The hot rows of many commits in one UPDATE, which is the fence: it changes a row only while the commit's token is the
 * newest, its number the next, the run held and not paused, and no newer event is there for one that wants to suspend.
 */

import { lanes } from "../../store/apply/lane.ts";
import type { Part } from "../sql/dialect.ts";
import { around, joined } from "../sql/part.ts";
import { begunText } from "../sql/rows/json-column.ts";
import type { SqlValue } from "../sql/rows/row.ts";
import type { TableNames } from "../sql/schema/table.ts";
import type { Statement } from "../sql/session.ts";
import type { QuickCommit } from "../sql/write/quick-write.ts";
import { perRun } from "./per-run.ts";
import { byKey } from "./rows.ts";

export interface Fence {
  /**
   * Changes the rows of all these runs; of fewer, when not all of them pass. Its result has a `mark` when one of them has
   * got events that its turn has not seen.
   */
  pass(commits: readonly QuickCommit[], now: number): Statement;
  /** Directly behind it, where no step is put there: fails unless all have passed. */
  requireAll(count: number): Statement;
  /** `id` and `event_seq` of these runs. */
  newestEvents(runs: readonly number[]): Statement;
}

type Of = (commit: QuickCommit) => SqlValue;

const earliest = -8_640_000_000_000_000;

export function fences(names: TableNames): Fence {
  const run = `${names.run} r ${byKey}`;
  const retention = `(SELECT i.retention_ms FROM ${names.instance} i WHERE i.id = r.instance)`;
  // What stands for a value must not be two rows: a condition that fails a statement, without a procedure to raise it.
  const required = "SELECT (SELECT 1 FROM (SELECT 1 UNION ALL SELECT 2) two WHERE ROW_COUNT() <> ?)";
  const newest = `SELECT r.id, r.event_seq FROM ${run} WHERE r.id IN (?)`;

  return {
    pass(given, now) {
      const commits = given.toSorted((a, b) => a.run - b.run);
      const runs = commits.map((commit) => commit.run);
      const texts = (of: Of): Part => perRun(runs, commits.map(of), "text");
      const integers = (of: Of): Part => perRun(runs, commits.map(of), "integer");
      const at: Part = { sql: "?", values: [now] };

      // Assignments are made one after the other: those that follow see the new status and lane.
      const set: Part[] = [
        around("r.last_commit = r.last_commit + 1, r.crash_count = 0, r.updated_at = ", at),
        // Reaching LAST_INSERT_ID leaves a mark in the answer; otherwise it is 1 as well. It is given something of the row,
        // since what is the same for all rows may be worked out beforehand.
        around(
          "r.recorded = IF(r.event_seq = ",
          integers(({ request }) => request.boundary.eventSeqSeen),
          ", 1, LAST_INSERT_ID(r.id) > 0)",
        ),
        around(
          "r.begun = ",
          texts(({ request }) => begunText(request.boundary.begun)),
        ),
      ];
      if (commits.some(({ request }) => request.boundary.logs.length > 0)) {
        set.push(
          around(
            "r.log_seq = r.log_seq + ",
            integers(({ request }) => request.boundary.logs.length),
          ),
        );
      }
      if (commits.some(({ lane }) => lane !== lanes.held)) {
        set.push(
          around(
            "r.status = ",
            texts(({ status }) => status),
          ),
          around(
            "r.kind = COALESCE(",
            texts(({ kind }) => kind),
            ", r.kind)",
          ),
          around(
            "r.lane = ",
            integers(({ lane }) => lane),
          ),
          around("r.waiting_since = IF(r.status = 'waiting', ", at, ", NULL)"),
        );
      }
      if (commits.some(({ lane }) => lane === null)) {
        set.push(
          around("r.dead_letter = ", integers(isDeadLetter)),
          around("r.prune_at = IF(r.lane IS NULL, ", at, ` + ${retention}, NULL)`),
        );
      }
      // Most commits leave the end of their lease as it is, and the index for claims is spared.
      if (commits.some(({ lane, dueAt }) => lane !== null && (lane !== lanes.held || dueAt > 0))) {
        const least = `IF(r.lane = ${lanes.held}, r.due_at, ${earliest})`;
        const due = integers(({ lane, dueAt }) => (lane === null ? null : dueAt));
        set.push(around(`r.due_at = GREATEST(${least}, COALESCE(`, due, ", r.due_at))"));
      }

      const passes: Part[] = [
        { sql: `r.id IN (?) AND r.lane = ${lanes.held}`, values: [runs] },
        around(
          "r.token = ",
          integers(({ request }) => request.lease.token),
        ),
        around(
          "r.last_commit = ",
          integers(({ request }) => request.boundary.number - 1),
        ),
      ];
      if (commits.some(({ eventSeqSeen }) => eventSeqSeen !== null)) {
        const seen = integers(({ eventSeqSeen }) => eventSeqSeen);
        passes.push(around("r.event_seq <= COALESCE(", seen, ", r.event_seq)"));
      }
      return joined(
        [around(`UPDATE ${run} SET `, joined(set, ", ")), around(" WHERE ", joined(passes, " AND "))],
        "",
      );
    },

    requireAll: (count) => ({ sql: required, values: [count] }),

    newestEvents: (runs) => ({ sql: newest, values: [runs] }),
  };
}

function isDeadLetter({ ending }: QuickCommit): number {
  return ending?.kind === "error" && ending.deadLetter ? 1 : 0;
}

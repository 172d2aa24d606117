/** Removes whole instances. Each slice is a transaction of its own, so that writers get their turn in between. */
import type { InstanceStatus } from "../../../model/instance.ts";
import { type DeletableInstance, decideDelete } from "../../../store/apply/apply-delete.ts";
import type { DeleteOutcome, DeleteRequest } from "../../../store/store.ts";
import type { Dialect } from "../dialect.ts";
import { flag, integer, type SqlRow, text } from "../rows/row.ts";
import type { Statement } from "../session.ts";
import { lookAgain } from "../write/look-again.ts";
import type { ReadDialect } from "./dialect.ts";
import { eachKey, eachRow } from "./each.ts";
import { ask, type Changing, type Query, type Reading } from "./query.ts";

export interface Removal {
  /** Whether anything is past its retention. */
  isAnyOver(before: number): Query<boolean>;
  /** The longest out of retention first; at most `limit`. Gives how many were removed. */
  slice(before: number, limit: number): Changing<number>;
  remove(request: DeleteRequest): Changing<DeleteOutcome>;
  forgetPublications(before: number): Changing<void>;
}

export function removal(dialect: ReadDialect & Pick<Dialect, "remove" | "lock">): Removal {
  const { names, limit } = dialect;
  const past = `SELECT r.instance FROM ${names.run} r WHERE r.prune_at <= ? ORDER BY r.prune_at, r.instance ${limit}`;
  // Whoever writes to one of them right now is not waited for: there is always a next time to prune.
  const over = `${past} ${dialect.lock("r", "skip")}`;
  const named =
    `SELECT i.id AS instance, r.id AS run, r.run_number, r.status, r.is_current FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run ` +
    `WHERE i.workflow = ? AND i.instance_id = ? ${dialect.lock("r")}`;
  const forgotten = `DELETE FROM ${names.publication} WHERE created_at < ?`;
  const removing = removals(dialect);

  return {
    isAnyOver: (before) => ({
      statements: [{ sql: past, values: [before, 1] }],
      read: ([rows = []]) => rows.length > 0,
    }),
    *slice(before, limit) {
      const found = yield* ask({
        statements: [{ sql: over, values: [before, limit] }],
        read: ([rows = []]) => rows.map((row) => integer(row, "instance")),
      });
      return { result: found.length, statements: yield* removing(found) };
    },
    *remove(request) {
      const row = yield* ask({
        statements: [{ sql: named, values: [request.workflowName, request.instanceId] }],
        read: ([rows]) => rows?.[0],
      });
      // Restarted while this waited for the lock: the run that is current now is not the one that was locked.
      if (row !== undefined && !flag(row, "is_current")) throw lookAgain();
      const result = decideDelete(row && deletable(row), request);
      if (row === undefined || result.kind !== "deleted") return { result, statements: [] };
      return { result, statements: yield* removing([integer(row, "instance")]) };
    },
    // biome-ignore lint/correctness/useYield: it need not read anything
    *forgetPublications(before) {
      return { result: undefined, statements: [{ sql: forgotten, values: [before] }] };
    },
  };
}

function deletable(row: SqlRow): DeletableInstance {
  return {
    // The first run has the instance's own id.
    firstRun: integer(row, "instance"),
    run: integer(row, "run"),
    runNumber: integer(row, "run_number"),
    status: text(row, "status") as InstanceStatus,
  };
}

/** The current runs are locked: nobody adds another run, step or event meanwhile. */
function removals(
  dialect: ReadDialect & Pick<Dialect, "remove">,
): (instances: readonly number[]) => Reading<readonly Statement[]> {
  const removing = (...[table, keys]: Parameters<Dialect["remove"]>) =>
    eachRow(dialect, dialect.remove(table, keys));
  const ofRun = (["step", "event", "log", "ending"] as const).map((table) => removing(table, ["run"]));
  const ofInstance = removing("change", ["instance"]);
  const runs = removing("run", ["id"]);
  const instancesRemoved = removing("instance", ["id"]);
  const later = eachKey(
    dialect,
    ["instance"],
    ({ from, value }) =>
      `SELECT r.id AS run FROM ${from} ${dialect.names.run} r ` +
      `WHERE r.instance = ${value("instance")} AND r.run_number > 1`,
  );

  return function* (instances) {
    const keys = instances.map((instance) => [instance]);
    const laterRuns = yield* ask({
      statements: later(keys),
      read: (results) => results.flat().map((row) => [integer(row, "run")]),
    });
    // The first run has the instance's own id.
    const runKeys = [...keys, ...laterRuns];
    return [
      ...ofRun.flatMap((remove) => remove(runKeys)),
      ...ofInstance(keys),
      ...runs(runKeys),
      ...instancesRemoved(keys),
    ];
  };
}

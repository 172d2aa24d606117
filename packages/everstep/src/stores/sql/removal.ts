/** Removes whole instances. Each slice is a transaction of its own, so that writers get their turn in between. */
import type { InstanceRef } from "../../model/instance.ts";
import type { PruneRequest } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { lookAgain, repeatedly } from "./look-again.ts";
import { flag, integer } from "./row.ts";
import type { Database, Transaction } from "./session.ts";

export interface Removal {
  /** The longest out of retention first. Gives how many were removed. */
  prune(request: PruneRequest): Promise<number>;
  remove(ref: InstanceRef): Promise<boolean>;
}

const sliceMax = 200;

export function removal(database: Database, dialect: Dialect): Removal {
  const { names } = dialect;
  // Whoever writes to one of them right now is not waited for: there is always a next time to prune.
  const over =
    `SELECT r.instance FROM ${names.run} r WHERE r.prune_at <= ? ORDER BY r.prune_at, r.instance LIMIT ? ` +
    dialect.lock("r", "skip");
  const named =
    `SELECT i.id AS instance, r.is_current FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run ` +
    `WHERE i.workflow = ? AND i.instance_id = ? ${dialect.lock("r")}`;
  const removeAll = remover(dialect);

  const pruneSlice = (before: number, limit: number): Promise<number> =>
    repeatedly(() =>
      database.transact(async (tx) => {
        const [found] = await tx.run([{ sql: over, values: [before, limit] }]);
        const instances = found?.rows.map((row) => integer(row, "instance")) ?? [];
        if (instances.length > 0) await removeAll(tx, instances);
        return instances.length;
      }),
    );

  return {
    async prune({ before, limit, publicationsBefore }) {
      if (publicationsBefore !== undefined) {
        const sql = `DELETE FROM ${names.publication} WHERE created_at < ?`;
        await database.run([{ sql, values: [publicationsBefore] }]);
      }
      let removed = 0;
      while (removed < limit) {
        const wanted = Math.min(sliceMax, limit - removed);
        const slice = await pruneSlice(before, wanted);
        removed += slice;
        if (slice < wanted) break;
      }
      return removed;
    },

    remove({ workflowName, instanceId }) {
      return repeatedly(() =>
        database.transact(async (tx) => {
          const [found] = await tx.run([{ sql: named, values: [workflowName, instanceId] }]);
          const row = found?.rows[0];
          if (row === undefined) return false;
          // Restarted while this waited for the lock: the run that is current now is not the one that was locked.
          if (!flag(row, "is_current")) throw lookAgain();
          await removeAll(tx, [integer(row, "instance")]);
          return true;
        }),
      );
    },
  };
}

/** The current runs are locked: nobody adds another run, step or event meanwhile. */
function remover(dialect: Dialect): (tx: Transaction, instances: readonly number[]) => Promise<void> {
  const given = dialect.parameters("v", ["instance"]);
  const ofRun = (["step", "event", "log", "ending"] as const).map((table) => dialect.remove(table, ["run"]));
  const ofInstance = dialect.remove("change", ["instance"]);
  const runs = dialect.remove("run", ["id"]);
  const instancesRemoved = dialect.remove("instance", ["id"]);

  return async (tx, instances) => {
    const keys = instances.map((instance) => [instance]);
    const { sql, values } = given(keys);
    const later = `SELECT r.id AS run FROM ${sql} JOIN ${dialect.names.run} r ON r.instance = v.instance AND r.run_number > 1`;
    const [found] = await tx.run([{ sql: later, values }]);
    // The first run has the instance's own id.
    const runKeys = [...keys, ...(found?.rows.map((row) => [integer(row, "run")]) ?? [])];
    await tx.commit([
      ...ofRun.map((remove) => remove(runKeys)),
      ofInstance(keys),
      runs(runKeys),
      instancesRemoved(keys),
    ]);
  };
}

/** Removes whole instances. Each slice is a transaction of its own, so that writers get their turn in between. */
import type { InstanceRef } from "../../model/instance.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";

export interface Removal {
  /** The longest out of retention first; at most `limit`. Gives how many were removed. */
  pruneSlice(before: number, limit: number): number;
  remove(ref: InstanceRef): boolean;
  forgetPublications(before: number): void;
}

/** Instances per transaction. */
export const pruneSliceMax = 50;

export function removal(connection: Connection): Removal {
  const { db, names } = connection;
  const over = db.prepareTuples(
    `SELECT instance FROM ${names.run} WHERE prune_at <= ? ORDER BY prune_at, instance ${limited}`,
  );
  const named = db.prepareTuples(`SELECT id FROM ${names.instance} WHERE workflow = ? AND instance_id = ?`);
  const later = db.prepareTuples(`SELECT id FROM ${names.run} WHERE instance = ? AND run_number > 1`);
  const removals = [
    `DELETE FROM ${names.step} WHERE run = ?`,
    `DELETE FROM ${names.event} WHERE run = ?`,
    `DELETE FROM ${names.log} WHERE run = ?`,
    `DELETE FROM ${names.ending} WHERE run = ?`,
    `DELETE FROM ${names.run} WHERE id = ?`,
  ].map((sql) => db.prepare(sql));
  const instanceRemovals = [
    `DELETE FROM ${names.change} WHERE instance = ?`,
    `DELETE FROM ${names.instance} WHERE id = ?`,
  ].map((sql) => db.prepare(sql));

  const removeAll = (instance: number): void => {
    // The first run has the instance's own id.
    const runs = [instance, ...later.all(instance).map((row) => row[0] as number)];
    for (const run of runs) for (const removal of removals) removal.run(run);
    for (const removal of instanceRemovals) removal.run(instance);
  };

  const forget = db.prepare(`DELETE FROM ${names.publication} WHERE created_at < ?`);

  return {
    forgetPublications: (before) => connection.transact(() => void forget.run(before)),

    pruneSlice(before, limit) {
      if (limit <= 0 || over.get(before, 1) === undefined) return 0;
      return connection.transact(() => {
        const found = over.all(before, Math.min(limit, pruneSliceMax)).map((row) => row[0] as number);
        for (const instance of found) removeAll(instance);
        return found.length;
      });
    },

    remove({ workflowName, instanceId }) {
      return connection.transact(() => {
        const instance = named.get(workflowName, instanceId)?.[0] as number | undefined;
        if (instance !== undefined) removeAll(instance);
        return instance !== undefined;
      });
    },
  };
}

/** Leases that are kept alive or given back. Only the token decides whether a lease is still held. */
import type { Lease, ReturnedLease } from "../../model/lease.ts";
import { lanes } from "../../store/apply/lane.ts";
import type { RenewAnswer, Renewal } from "../../store/store.ts";
import { begunText } from "../sql/json-column.ts";
import type { Connection } from "./connection.ts";
import { type HotRow, hasLease, hotRows } from "./hot-row.ts";

export interface Leases {
  renew(renewals: readonly Renewal[], until: number, now: number): readonly RenewAnswer[];
  release(leases: readonly ReturnedLease[], now: number): void;
}

export type RowRelease = (row: HotRow, retryAt: number | undefined, now: number) => void;

/** Takes the lease from a run that has one. */
export function rowRelease({ db, names }: Connection): RowRelease {
  const release = db.prepare(
    `UPDATE ${names.run} SET lane = ${lanes.resuming}, kind = ?, due_at = ?, updated_at = ? WHERE id = ?`,
  );
  const releasePaused = db.prepare(`UPDATE ${names.run} SET lane = NULL WHERE id = ?`);
  return (row, retryAt, now) => {
    if (row.lane === lanes.heldPaused) releasePaused.run(row.run);
    else release.run(retryAt === undefined ? "resume" : "retry", retryAt ?? now, now, row.run);
  };
}

export function leases(connection: Connection): Leases {
  const { db, names } = connection;
  const hot = hotRows(connection);
  const renew = db.prepare(`UPDATE ${names.run} SET due_at = max(due_at, ?), begun = ? WHERE id = ?`);
  const extend = db.prepare(`UPDATE ${names.run} SET due_at = max(due_at, ?) WHERE id = ?`);
  const release = rowRelease(connection);

  const held = ({ runId, token }: Lease): HotRow | undefined => {
    const row = hot.byRun(runId);
    return row !== undefined && row.token === token && hasLease(row) ? row : undefined;
  };

  return {
    renew(renewals, until) {
      if (renewals.length === 0) return [];
      return connection.transactLeases(() =>
        renewals.map(({ lease, begun, commit, applied = 0 }): RenewAnswer => {
          const row = held(lease);
          if (row === undefined || row.lastCommit < applied) return { kind: "lost" };
          if (commit === undefined || commit === row.lastCommit) renew.run(until, begunText(begun), row.run);
          else extend.run(until, row.run);
          return { kind: "renewed", eventSeq: row.eventSeq, paused: row.status === "paused" };
        }),
      );
    },

    release(given, now) {
      if (given.length === 0) return;
      connection.transactLeases(() => {
        for (const lease of given) {
          const row = held(lease);
          if (row !== undefined) release(row, lease.retryAt, now);
        }
      });
    },
  };
}

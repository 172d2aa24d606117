/** Leases that are kept alive or given back. */
import type { ReturnedLease } from "../../model/lease.ts";
import { released, renewed } from "../../store/apply/apply-lease.ts";
import type { RunRow } from "../../store/apply/run-row.ts";
import type { RenewAnswer, Renewal } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import { type LoadedRun, runRows } from "./run-rows.ts";

export interface Leases {
  renew(renewals: readonly Renewal[], until: number, now: number): readonly RenewAnswer[];
  release(leases: readonly ReturnedLease[], now: number): void;
}

export function leases(connection: Connection): Leases {
  const rows = runRows(connection);
  const change = (run: LoadedRun | undefined, move: Partial<RunRow> | null): void => {
    if (run !== undefined && move !== null) rows.update({ ...run.row, ...move }, run.before);
  };

  return {
    renew(renewals, until) {
      if (renewals.length === 0) return [];
      return connection.transactLeases(() =>
        renewals.map((renewal): RenewAnswer => {
          const run = rows.byRun(renewal.lease.runId);
          const { move, answer } = renewed(run?.row, renewal, until);
          change(run, move);
          return answer;
        }),
      );
    },

    release(given, now) {
      if (given.length === 0) return;
      connection.transactLeases(() => {
        for (const lease of given) {
          const run = rows.byRun(lease.runId);
          change(run, released(run?.row, lease, now));
        }
      });
    },
  };
}

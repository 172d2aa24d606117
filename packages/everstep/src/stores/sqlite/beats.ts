/** Who runs, and how much gets done. A beat waits for no disk: when the machine fails, the runner is gone too. */
import type { Beat, MinuteTally, RunnerRecord, TallyQuery } from "../../store/store.ts";
import { tallySpan } from "../../store/tally-span.ts";
import {
  forgottenMax,
  readMinute,
  readRunner,
  runnerColumns,
  runnerRow,
  selectTallies,
  tallyCounts,
  tallyKeys,
  tallyRows,
} from "../sql/beat-row.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";

export interface Beats {
  keep(beat: Beat): void;
  runners(limit: number): readonly RunnerRecord[];
  tallies(query: TallyQuery): readonly MinuteTally[];
}

export function beats(connection: Connection): Beats {
  const { db, names } = connection;
  const put = db.prepare(
    `INSERT OR REPLACE INTO ${names.runner} (${runnerColumns.join(", ")}) VALUES (${marks(runnerColumns)})`,
  );
  const columns = [...tallyKeys, ...tallyCounts];
  const added = tallyCounts.map((column) => `${column} = ${column} + excluded.${column}`);
  const add = db.prepare(
    `INSERT INTO ${names.tally} (${columns.join(", ")}) VALUES (${marks(columns)})
      ON CONFLICT (minute, workflow) DO UPDATE SET ${added.join(", ")}`,
  );
  const forgetRunners = db.prepare(
    `DELETE FROM ${names.runner} WHERE owner IN
      (SELECT owner FROM ${names.runner} WHERE seen_at < ? ORDER BY seen_at LIMIT ${forgottenMax})`,
  );
  const forgetTallies = db.prepare(
    `DELETE FROM ${names.tally} WHERE (minute, workflow) IN
      (SELECT minute, workflow FROM ${names.tally} WHERE minute < ? ORDER BY minute LIMIT ${forgottenMax})`,
  );
  const runners = db.prepare(
    `SELECT ${runnerColumns.join(", ")} FROM ${names.runner} ORDER BY seen_at DESC, owner ${limited}`,
  );
  const [ofAll, ofOne] = [false, true].map((one) =>
    db.prepare(selectTallies(names.tally, (column) => column, one)),
  ) as [ReturnType<typeof db.prepare>, ReturnType<typeof db.prepare>];

  return {
    keep({ runner, tallies, forgetBefore }) {
      connection.transactLeases(() => {
        forgetRunners.run(forgetBefore);
        forgetTallies.run(forgetBefore);
        put.run(...runnerRow(runner));
        for (const row of tallyRows(tallies)) add.run(...row);
      });
    },
    runners: (limit) => runners.all(limit).map(readRunner),
    tallies(query) {
      const { from, to } = tallySpan(query);
      const { workflowName } = query;
      const rows = workflowName === undefined ? ofAll.all(from, to) : ofOne.all(from, to, workflowName);
      return rows.map(readMinute);
    },
  };
}

function marks(columns: readonly string[]): string {
  return columns.map(() => "?").join(", ");
}

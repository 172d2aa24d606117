/**
 * Who runs, and how much gets done. A beat is one round trip and no transaction: each part may be lost alone. What was
 * done comes last, so that a beat that failed can be told again without counting twice.
 */
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
} from "./beat-row.ts";
import type { Dialect } from "./dialect.ts";
import type { Database } from "./session.ts";

export interface Beats {
  keep(beat: Beat): Promise<void>;
  runners(limit: number): Promise<readonly RunnerRecord[]>;
  tallies(query: TallyQuery): Promise<readonly MinuteTally[]>;
}

export function beats(database: Database, dialect: Dialect): Beats {
  const { names, quoted } = dialect;
  const put = dialect.put("runner", ["owner"], runnerColumns.slice(1), "replace");
  const add = dialect.put("tally", tallyKeys, tallyCounts, "add");
  const forgetRunners = dialect.forget("runner", "seen_at", ["owner"], forgottenMax);
  const forgetTallies = dialect.forget("tally", "minute", tallyKeys, forgottenMax);
  const listed =
    `SELECT ${runnerColumns.map((column) => `r.${column}`).join(", ")} FROM ${names.runner} r ` +
    "ORDER BY r.seen_at DESC, r.owner LIMIT ?";
  const ofAll = selectTallies(names.tally, quoted, false);
  const ofOne = selectTallies(names.tally, quoted, true);

  return {
    async keep({ runner, tallies, forgetBefore }) {
      await database.run([
        { sql: forgetRunners, values: [forgetBefore] },
        { sql: forgetTallies, values: [forgetBefore] },
        put([runnerRow(runner)]),
        ...(tallies.length > 0 ? [add(tallyRows(tallies))] : []),
      ]);
    },
    async runners(limit) {
      const [read] = await database.run([{ sql: listed, values: [limit] }]);
      return read?.rows.map(readRunner) ?? [];
    },
    async tallies(query) {
      const { from, to } = tallySpan(query);
      const { workflowName } = query;
      const statement =
        workflowName === undefined
          ? { sql: ofAll, values: [from, to] }
          : { sql: ofOne, values: [from, to, workflowName] };
      const [read] = await database.run([statement]);
      return read?.rows.map(readMinute) ?? [];
    },
  };
}

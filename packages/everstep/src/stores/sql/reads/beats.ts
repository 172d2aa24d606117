/** Who runs, and how much gets done. */
import type { Beat, MinuteTally, RunnerRecord, TallyQuery } from "../../../store/store.ts";
import { tallySpan } from "../../../store/tally-span.ts";
import type { Dialect } from "../dialect.ts";
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
} from "../rows/beat-row.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect } from "./dialect.ts";
import { eachRow } from "./each.ts";
import type { Query } from "./query.ts";

export interface Beats {
  /**
   * Each may be lost alone. What was done comes last, so that a beat that failed can be told again without counting
   * twice.
   */
  keep(beat: Beat): readonly Statement[];
  runners(limit: number): Query<readonly RunnerRecord[]>;
  tallies(query: TallyQuery): Query<readonly MinuteTally[]>;
}

export function beats(dialect: ReadDialect & Pick<Dialect, "put" | "forget">): Beats {
  const { names, quoted, limit } = dialect;
  const put = dialect.put("runner", ["owner"], runnerColumns.slice(1), "replace");
  const add = eachRow(dialect, dialect.put("tally", tallyKeys, tallyCounts, "add"));
  const forgetRunners = dialect.forget("runner", "seen_at", ["owner"], forgottenMax);
  const forgetTallies = dialect.forget("tally", "minute", tallyKeys, forgottenMax);
  const listed =
    `SELECT ${runnerColumns.map((column) => `r.${column}`).join(", ")} FROM ${names.runner} r ` +
    `ORDER BY r.seen_at DESC, r.owner ${limit}`;
  const ofAll = selectTallies(names.tally, quoted, false);
  const ofOne = selectTallies(names.tally, quoted, true);

  return {
    keep: ({ runner, tallies, forgetBefore }) => [
      { sql: forgetRunners, values: [forgetBefore] },
      { sql: forgetTallies, values: [forgetBefore] },
      put([runnerRow(runner)]),
      ...add(tallyRows(tallies)),
    ],
    runners: (limit) => ({
      statements: [{ sql: listed, values: [limit] }],
      read: ([rows = []]) => rows.map(readRunner),
    }),
    tallies(query) {
      const { from, to } = tallySpan(query);
      const { workflowName } = query;
      const statement =
        workflowName === undefined
          ? { sql: ofAll, values: [from, to] }
          : { sql: ofOne, values: [from, to, workflowName] };
      return { statements: [statement], read: ([rows = []]) => rows.map(readMinute) };
    },
  };
}

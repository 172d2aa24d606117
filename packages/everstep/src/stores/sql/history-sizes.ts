import { recordBytes } from "../../model/bytes.ts";
import type { RunRead } from "../../store/store.ts";
import type { Dialect, Part } from "./dialect.ts";
import { integer } from "./row.ts";
import { runKey } from "./run-key.ts";
import type { Database, Statement } from "./session.ts";

/**
 * How many bytes the history of each run takes in memory, as `historyBytes` counts them: thousands of steps that returned
 * nothing take much too. Lengths are known without reading what is long.
 */
export function historySizes(
  database: Database,
  dialect: Dialect,
): (requests: readonly RunRead[]) => Promise<ReadonlyMap<number, number>> {
  const { names } = dialect;
  const runs = dialect.parameters("v", ["run"]);
  const after = dialect.parameters("v", ["run", "seq"]);
  const bytes = (alias: string, columns: readonly string[]): string =>
    `SUM(${recordBytes} + ${columns.map((column) => `COALESCE(OCTET_LENGTH(${alias}.${column}), 0)`).join(" + ")}) AS bytes`;
  const ofSteps = bytes("s", ["key", "errors", "error", "result", "result_marks"]);
  const ofEvents = bytes("e", ["payload", "payload_marks"]);
  const stepsOf = ({ sql, values }: Part): Statement => ({
    sql: `SELECT v.run AS run, ${ofSteps} FROM ${sql} JOIN ${names.step} s ON s.run = v.run GROUP BY v.run`,
    values,
  });
  return async (requests) => {
    const withSteps = requests.filter((request) => request.steps);
    const events = after(requests.map(({ runId, eventsAfter }) => [runKey(runId), eventsAfter]));
    const answers = await database.run([
      {
        sql:
          `SELECT v.run AS run, ${ofEvents} FROM ${events.sql} JOIN ${names.event} e ON e.run = v.run AND e.seq > v.seq ` +
          "WHERE e.delivered_at IS NULL GROUP BY v.run",
        values: events.values,
      },
      ...(withSteps.length === 0 ? [] : [stepsOf(runs(withSteps.map(({ runId }) => [runKey(runId)])))]),
    ]);
    const sizes = new Map<number, number>();
    for (const { rows } of answers) {
      for (const row of rows) {
        const run = integer(row, "run");
        sizes.set(run, (sizes.get(run) ?? 0) + integer(row, "bytes"));
      }
    }
    return sizes;
  };
}

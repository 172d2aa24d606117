import { text } from "../sql/row.ts";
import type { Database } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";

/** The names of all workflows that have instances: one index seek per name, however many runs. */
export async function knownWorkflows(database: Database, names: TableNames): Promise<readonly string[]> {
  const sql = `SELECT DISTINCT r.workflow FROM ${names.run} r FORCE INDEX (\`list\`)`;
  const [result] = await database.run([{ sql, values: [] }]);
  return (result?.rows ?? []).map((row) => text(row, "workflow"));
}

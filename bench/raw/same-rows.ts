/** Compares what the engine left of a run with what was written by hand, so that the raw limit stays an honest one. */
import { type Place, type Row, runTables } from "../grounds/ground.ts";

/** One sentence per difference. */
export async function differences(engine: Place, raw: Place): Promise<readonly string[]> {
  if (engine.readRows === null || raw.readRows === null) return [];
  const found: string[] = [];
  for (const table of runTables) {
    const byEngine = await engine.readRows(table);
    const byHand = await raw.readRows(table);
    if (byEngine.length !== byHand.length) {
      found.push(`${table}: ${byEngine.length} rows by the engine, ${byHand.length} by hand`);
      continue;
    }
    for (const [n, row] of byEngine.entries()) found.push(...differingColumns(table, row, byHand[n] ?? {}));
  }
  return [...new Set(found)];
}

function differingColumns(table: string, engine: Row, raw: Row): readonly string[] {
  const found: string[] = [];
  for (const [column, value] of Object.entries(engine)) {
    const [byEngine, byHand] = [comparable(column, value), comparable(column, raw[column])];
    if (byEngine !== byHand) found.push(`${table}.${column}: ${byEngine} by the engine, ${byHand} by hand`);
  }
  return found;
}

/** Times and names differ from run to run; that they are there must not. How many commits it took is measured elsewhere. */
function comparable(column: string, value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  const text = Buffer.isBuffer(value) ? value.toString("utf8") : String(value);
  if (column === "last_commit" || column === "token") return "a number";
  if (["run", "instance", "id"].includes(column) && /^\d+$/.test(text)) return "a run";
  if (column.endsWith("_at") || column === "waiting_since") return "a time";
  if (["owner", "instance_id", "id"].includes(column)) return "a name";
  return text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time").replace(/"at":\d+/g, '"at":a time');
}

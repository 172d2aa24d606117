/** Compares what the engine left of a run with what was written by hand, so that the raw limit stays an honest one. */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

type Row = Record<string, SQLOutputValue>;

const keyOf = { instance: "id", run: "id", ending: "run", step: "run", event: "run", log: "run" } as const;

/** One sentence per difference. */
export function differences(engineFile: string, rawFile: string, run: number): readonly string[] {
  const found: string[] = [];
  for (const [table, key] of Object.entries(keyOf)) {
    const engine = readRows(engineFile, table, key, run);
    const raw = readRows(rawFile, table, key, run);
    if (engine.length !== raw.length) {
      found.push(`${table}: ${engine.length} rows by the engine, ${raw.length} by hand`);
      continue;
    }
    for (const [n, row] of engine.entries()) found.push(...differingColumns(table, row, raw[n] ?? {}));
  }
  return [...new Set(found)];
}

function readRows(file: string, table: string, key: string, run: number): Row[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db.prepare(`SELECT * FROM everstep_${table} WHERE ${key} = ? ORDER BY 1, 2`).all(run);
  } finally {
    db.close();
  }
}

function differingColumns(table: string, engine: Row, raw: Row): readonly string[] {
  const found: string[] = [];
  for (const [column, value] of Object.entries(engine)) {
    const [byEngine, byHand] = [comparable(column, value), comparable(column, raw[column] ?? null)];
    if (byEngine !== byHand) found.push(`${table}.${column}: ${byEngine} by the engine, ${byHand} by hand`);
  }
  return found;
}

/** Times and names differ from run to run; that they are there must not. How many commits it took is measured elsewhere. */
function comparable(column: string, value: SQLOutputValue): string {
  if (value === null) return "nothing";
  if (column === "last_commit") return "a number";
  if (column.endsWith("_at") || column === "waiting_since") return "a time";
  if (column === "owner" || column === "instance_id" || (column === "id" && typeof value === "string"))
    return "a name";
  return String(value)
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "a time")
    .replace(/"at":\d+/g, '"at":a time');
}

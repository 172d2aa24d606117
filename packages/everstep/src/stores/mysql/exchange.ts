/** Statements out, results back. */
import type { SqlRow } from "../sql/rows/row.ts";
import { unescapeText } from "../sql/rows/text-escape.ts";
import type { SqlResult, Statement } from "../sql/session.ts";
import type { Render } from "./literal.ts";
import { layOut } from "./packets.ts";
import type { ServerFacts } from "./session-settings.ts";

/** One round trip, unless the statements are too large for one packet. Throws the driver's own error. */
export async function exchange(
  connection: { readonly facts: Pick<ServerFacts, "maxPacketBytes">; send(sql: string): Promise<unknown> },
  render: Render,
  statements: readonly Statement[],
): Promise<readonly SqlResult[]> {
  const { packets, collect } = layOut(statements, render, connection.facts.maxPacketBytes);
  const results: SqlResult[] = [];
  for (const { sql, count } of packets) {
    const answer = await connection.send(sql);
    const answers = count === 1 ? [answer] : (answer as readonly unknown[]);
    results.push(...answers.map(toResult));
  }
  return collect(results);
}

function toResult(answer: unknown): SqlResult {
  if (Array.isArray(answer)) return { rows: withTexts(answer as Record<string, unknown>[]), changes: 0 };
  const { affectedRows: changes, insertId } = answer as Counts;
  const result: SqlResult = { rows: noRows, changes };
  if (insertId) marked.add(result);
  return result;
}

interface Counts {
  readonly affectedRows: number;
  readonly insertId?: number;
}

const noRows: readonly SqlRow[] = [];
const marked = new WeakSet<SqlResult>();

/** The statement called LAST_INSERT_ID, which nothing else does here: no table numbers its rows by itself. */
export function isMarked(result: SqlResult | undefined): boolean {
  return result !== undefined && marked.has(result);
}

/** What lies in columns of bytes is text all the same. */
function withTexts(rows: readonly Record<string, unknown>[]): readonly SqlRow[] {
  for (const row of rows) {
    for (const column in row) {
      const value = row[column];
      if (typeof value === "string") row[column] = unescapeText(value);
      else if (value instanceof Buffer) row[column] = unescapeText(value.toString());
    }
  }
  return rows;
}

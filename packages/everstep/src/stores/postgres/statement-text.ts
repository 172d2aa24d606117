/**
 * The shared statements in the words of the driver: numbered parameters, a name for the server to remember the plan of
 * those by that are planned once, lists as array literals, and texts without what PostgreSQL cannot keep.
 */

import type { SqlRow } from "../sql/rows/row.ts";
import { escapeText, unescapeText } from "../sql/rows/text-escape.ts";
import type { Statement } from "../sql/session.ts";
import type { DriverQuery } from "./driver.ts";

export type Render = (statement: Statement) => DriverQuery;

/** Texts are few and fixed; a bound all the same, so that a mistake costs speed and not memory. */
const textsMax = 1000;

export function rendering(prepares: boolean): Render {
  const texts = new Map<string, { readonly text: string; readonly name: string }>();
  return ({ sql, values, isPlannedOnce = false }) => {
    let known = texts.get(sql);
    if (known === undefined) {
      known = { text: numbered(sql), name: `everstep_${texts.size + 1}` };
      if (texts.size < textsMax) texts.set(sql, known);
    }
    const query = { text: known.text, values: values.map(literal), types };
    return prepares && isPlannedOnce && texts.has(sql) ? { ...query, name: known.name } : query;
  };
}

/** The driver's own parsers may have been replaced by the application. 16 is a boolean, 21 and 23 small integers. */
const types = {
  getTypeParser: (type: number) => (value: string) =>
    type === 16 ? value === "t" : type === 21 || type === 23 ? Number(value) : unescapeText(value),
};

function numbered(sql: string): string {
  let count = 0;
  return sql.replaceAll("?", () => {
    count += 1;
    return `$${count}`;
  });
}

function literal(value: unknown): unknown {
  if (typeof value === "string") return escapeText(value);
  return Array.isArray(value) ? `{${value.map(element).join(",")}}` : value;
}

function element(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  return `"${escapeText(value).replace(/["\\]/g, "\\$&")}"`;
}

/** Rows as they were written, of a client that reads them in its own way. */
export function readRows(rows: readonly SqlRow[]): readonly SqlRow[] {
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [
        column,
        typeof value === "string" ? unescapeText(value) : value,
      ]),
    ),
  );
}

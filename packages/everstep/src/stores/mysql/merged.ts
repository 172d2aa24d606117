import type { Statement } from "../sql/session.ts";

/** The first rows of several queries, each of which is in this order and has no more of them than are wanted. */
export function merged(queries: readonly Statement[], order: string, limit: number): Statement {
  const [only, ...others] = queries;
  // One is in order by itself, and not every version takes an order around it.
  if (only !== undefined && others.length === 0) return only;
  return {
    sql: `${queries.map(({ sql }) => `(${sql})`).join(" UNION ALL ")} ORDER BY ${order} LIMIT ?`,
    values: [...queries.flatMap(({ values }) => values), limit],
  };
}

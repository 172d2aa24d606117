/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import type { InstanceListing } from "../sql/dialect.ts";
import { instanceSelection } from "../sql/instance-row.ts";
import { type SqlRow, text } from "../sql/row.ts";
import type { Database, Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";

export type ListInstances = (database: Database, list: InstanceListing) => Promise<readonly SqlRow[]>;

export function instanceList(names: TableNames): ListInstances {
  const workflows: Statement = {
    sql: `SELECT DISTINCT r.workflow FROM ${names.run} r FORCE INDEX (\`list\`)`,
    values: [],
  };
  return async (database, list) => {
    const { workflowName } = list;
    const known =
      workflowName === undefined ? (await database.run([workflows]))[0]?.rows : [{ workflow: workflowName }];
    const strands = (known ?? []).flatMap((row) =>
      list.statuses.map((status) => strand(names, list, text(row, "workflow"), status)),
    );
    if (strands.length === 0) return [];
    const [result] = await database.run([merged(names, list, strands)]);
    return result?.rows ?? [];
  };
}

/** A pair compared as a pair would find no place in an index, so it is compared in parts. */
function strand(names: TableNames, list: InstanceListing, workflow: string, status: string): Statement {
  const { deadLetter, ascending, from, limit } = list;
  const [beyond, order] = ascending ? [">", "ASC"] : ["<", "DESC"];
  const only = deadLetter === undefined ? "" : ` AND r.dead_letter = ${deadLetter ? 1 : 0}`;
  return {
    sql: `SELECT r.created_at, r.instance FROM ${names.run} r FORCE INDEX (\`${deadLetter === true ? "dead_letter" : "list"}\`)
      WHERE r.is_current = 1 AND r.workflow = ? AND r.status = ?${only}
        AND r.created_at ${beyond}= ? AND (r.created_at ${beyond} ? OR r.instance ${beyond} ?)
      ORDER BY r.created_at ${order}, r.instance ${order} LIMIT ?`,
    values: [workflow, status, from.createdAt, from.createdAt, from.instance, limit],
  };
}

function merged(
  names: TableNames,
  { ascending, limit }: InstanceListing,
  strands: readonly Statement[],
): Statement {
  const order = ascending ? "ASC" : "DESC";
  const [only, ...others] = strands;
  // One strand is in order by itself, and not every version takes an order around it.
  const places =
    only !== undefined && others.length === 0
      ? only
      : {
          sql: `${strands.map(({ sql }) => `(${sql})`).join(" UNION ALL ")}
            ORDER BY created_at ${order}, instance ${order} LIMIT ?`,
          values: [...strands.flatMap(({ values }) => values), limit],
        };
  return {
    sql: `SELECT ${instanceSelection}
      FROM (${places.sql}) p
      STRAIGHT_JOIN ${names.instance} i ON i.id = p.instance
      STRAIGHT_JOIN ${names.run} r ON r.id = i.run
      LEFT JOIN ${names.ending} e ON e.run = r.id
      ORDER BY p.created_at ${order}, p.instance ${order}`,
    values: places.values,
  };
}

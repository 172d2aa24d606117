/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import type { Dialect, InstanceListing } from "../sql/dialect.ts";
import { instanceSelection } from "../sql/instance-row.ts";
import type { TableNames } from "../sql/table.ts";
import { withWorkflows } from "../sql/workflows.ts";

export function instanceListing(names: TableNames): Dialect["listInstances"] {
  return async (database, list) => {
    const { workflowName, statuses, from, limit } = list;
    const values = [
      ...(workflowName === undefined ? [] : [workflowName]),
      statuses,
      from.createdAt,
      from.instance,
      limit,
      limit,
    ];
    const [result] = await database.run([{ sql: listText(names, list), values }]);
    return result?.rows ?? [];
  };
}

function listText(names: TableNames, { workflowName, deadLetter, ascending }: InstanceListing): string {
  const workflows =
    workflowName === undefined ? withWorkflows(names) : "WITH known AS (SELECT ?::text AS workflow)";
  const direction = ascending ? "ASC" : "DESC";
  const only = deadLetter === undefined ? "" : ` AND r.dead_letter = ${deadLetter ? 1 : 0}`;
  return `${workflows},
    found AS MATERIALIZED (
      SELECT c.id, c.created_at, c.instance FROM known CROSS JOIN unnest(?::text[]) AS s (status)
      CROSS JOIN LATERAL (
        SELECT r.id, r.created_at, r.instance FROM ${names.run} r
        WHERE r.is_current = 1 AND r.workflow = known.workflow AND r.status = s.status${only}
          AND (r.created_at, r.instance) ${ascending ? ">" : "<"} (?::bigint, ?::bigint)
        ORDER BY r.created_at ${direction}, r.instance ${direction} LIMIT ?
      ) c
      ORDER BY c.created_at ${direction}, c.instance ${direction} LIMIT ?
    )
    SELECT ${instanceSelection} FROM found f JOIN ${names.run} r ON r.id = f.id
    JOIN ${names.instance} i ON i.id = r.instance LEFT JOIN ${names.ending} e ON e.run = r.id
    ORDER BY f.created_at ${direction}, f.instance ${direction}`;
}

/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import type { Dialect, InstanceListing } from "../sql/dialect.ts";
import { selectionOf } from "../sql/instance-row.ts";
import { placeOf } from "../sql/instances.ts";
import { lookMax, type Place } from "../sql/list-range.ts";
import type { Database } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { withWorkflows } from "../sql/workflows.ts";

export function instanceListing(names: TableNames): Dialect["listInstances"] {
  return async (database, list) => {
    const lookedTo = list.idPrefix === undefined ? undefined : await lookAhead(database, names, list);
    const within = lookedTo === undefined ? list : { ...list, to: lookedTo };
    const { idPrefix, limit } = within;
    const values = [
      ...strandValues(within),
      ...(idPrefix === undefined ? [] : [idPrefix]),
      ...[limit, limit],
    ];
    const [result] = await database.run([{ sql: listText(names, within), values }]);
    return { rows: result?.rows ?? [], lookedTo };
  };
}

/** How far one call may look: as far as the first strand of which it has seen its share. Undefined: to the end. */
async function lookAhead(
  database: Database,
  names: TableNames,
  list: InstanceListing,
): Promise<Place | undefined> {
  const direction = list.ascending ? "ASC" : "DESC";
  const sql = `${known(names, list)},
    share AS (
      SELECT greatest(1, ${lookMax} / greatest(1, count(k.workflow) * ${list.statuses.length})) AS size FROM known k
    )
    SELECT c.created_at, c.instance FROM known CROSS JOIN unnest(?::text[]) AS s (status)
    CROSS JOIN LATERAL (
      SELECT r.created_at, r.instance ${strand(names, list)} LIMIT 1 OFFSET (SELECT size - 1 FROM share)
    ) c
    ORDER BY c.created_at ${direction}, c.instance ${direction} LIMIT 1`;
  const [result] = await database.run([{ sql, values: strandValues(list) }]);
  const row = result?.rows[0];
  return row === undefined ? undefined : placeOf(row);
}

function listText(names: TableNames, list: InstanceListing): string {
  const direction = list.ascending ? "ASC" : "DESC";
  // By key for each, whatever the planner thinks of the tables.
  const named =
    list.idPrefix === undefined
      ? ""
      : `AND starts_with((SELECT n.instance_id FROM ${names.instance} n WHERE n.id = r.instance), ?::text)`;
  return `${known(names, list)},
    found AS MATERIALIZED (
      SELECT c.id, c.created_at, c.instance FROM known CROSS JOIN unnest(?::text[]) AS s (status)
      CROSS JOIN LATERAL (
        SELECT r.id, r.created_at, r.instance ${strand(names, list, named)} LIMIT ?
      ) c
      ORDER BY c.created_at ${direction}, c.instance ${direction} LIMIT ?
    )
    SELECT ${selectionOf(list)} FROM found f JOIN ${names.run} r ON r.id = f.id
    JOIN ${names.instance} i ON i.id = r.instance LEFT JOIN ${names.ending} e ON e.run = r.id
    ORDER BY f.created_at ${direction}, f.instance ${direction}`;
}

function known(names: TableNames, { workflowName }: InstanceListing): string {
  return workflowName === undefined ? withWorkflows(names) : "WITH known AS (SELECT ?::text AS workflow)";
}

function strand(names: TableNames, { deadLetter, ascending }: InstanceListing, named = ""): string {
  const [beyond, upTo, direction] = ascending ? [">", "<=", "ASC"] : ["<", ">=", "DESC"];
  const only = deadLetter === undefined ? "" : ` AND r.dead_letter = ${deadLetter ? 1 : 0}`;
  return `FROM ${names.run} r
        WHERE r.is_current = 1 AND r.workflow = known.workflow AND r.status = s.status${only}
          AND (r.created_at, r.instance) ${beyond} (?::bigint, ?::bigint)
          AND (r.created_at, r.instance) ${upTo} (?::bigint, ?::bigint) ${named}
        ORDER BY r.created_at ${direction}, r.instance ${direction}`;
}

function strandValues({ workflowName, statuses, from, to }: InstanceListing): readonly unknown[] {
  const named = workflowName === undefined ? [] : [workflowName];
  return [...named, statuses, from.createdAt, from.instance, to.createdAt, to.instance];
}

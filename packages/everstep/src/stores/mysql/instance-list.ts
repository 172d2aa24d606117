/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import type { Dialect, InstanceListing } from "../sql/dialect.ts";
import { selectionOf } from "../sql/instance-row.ts";
import { placeOf } from "../sql/instances.ts";
import { type Place, shareOf } from "../sql/list-range.ts";
import type { Database, Statement } from "../sql/session.ts";
import type { TableNames } from "../sql/table.ts";
import { merged } from "./merged.ts";
import { knownWorkflows } from "./workflows.ts";

type Strand = readonly [workflow: string, status: string];

export function instanceList(names: TableNames): Dialect["listInstances"] {
  return async (database, list) => {
    const { workflowName, idPrefix } = list;
    const workflows = workflowName === undefined ? await knownWorkflows(database, names) : [workflowName];
    const strands = workflows.flatMap((workflow) =>
      list.statuses.map((status): Strand => [workflow, status]),
    );
    if (strands.length === 0) return { rows: [] };
    const lookedTo = idPrefix === undefined ? undefined : await lookAhead(database, names, list, strands);
    const within = lookedTo === undefined ? list : { ...list, to: lookedTo };
    const [result] = await database.run([listed(names, within, strands)]);
    return { rows: result?.rows ?? [], lookedTo };
  };
}

/** How far one call may look: as far as the first strand of which it has seen its share. Undefined: to the end. */
async function lookAhead(
  database: Database,
  names: TableNames,
  list: InstanceListing,
  strands: readonly Strand[],
): Promise<Place | undefined> {
  const [none, share] = [{ sql: "", values: [] }, shareOf(strands.length)];
  const last = { sql: "LIMIT ? OFFSET ?", values: [1, share - 1] };
  const ends = strands.map((each) => strandOf(names, list, each, none, last));
  const [result] = await database.run([merged(ends, orderOf(list), 1)]);
  const row = result?.rows[0];
  return row === undefined ? undefined : placeOf(row);
}

function listed(names: TableNames, list: InstanceListing, strands: readonly Strand[]): Statement {
  const { ascending, limit, idPrefix } = list;
  const order = ascending ? "ASC" : "DESC";
  const named =
    idPrefix === undefined
      ? { sql: "", values: [] }
      : {
          sql: `AND LEFT((SELECT n.instance_id FROM ${names.instance} n WHERE n.id = r.instance), LENGTH(?)) = ?`,
          values: [idPrefix, idPrefix],
        };
  const first = { sql: "LIMIT ?", values: [limit] };
  const places = merged(
    strands.map((each) => strandOf(names, list, each, named, first)),
    orderOf(list),
    limit,
  );
  return {
    sql: `SELECT ${selectionOf(list)}
      FROM (${places.sql}) p
      STRAIGHT_JOIN ${names.instance} i ON i.id = p.instance
      STRAIGHT_JOIN ${names.run} r ON r.id = i.run
      LEFT JOIN ${names.ending} e ON e.run = r.id
      ORDER BY p.created_at ${order}, p.instance ${order}`,
    values: places.values,
  };
}

/** A pair compared as a pair would find no place in an index, so it is compared in parts. */
function strandOf(
  names: TableNames,
  { deadLetter, ascending, from, to }: InstanceListing,
  strand: Strand,
  named: Statement,
  limited: Statement,
): Statement {
  const [beyond, before, order] = ascending ? [">", "<", "ASC"] : ["<", ">", "DESC"];
  const only = deadLetter === undefined ? "" : ` AND r.dead_letter = ${deadLetter ? 1 : 0}`;
  return {
    sql: `SELECT r.created_at, r.instance FROM ${names.run} r FORCE INDEX (\`${deadLetter === true ? "dead_letter" : "list"}\`)
      WHERE r.is_current = 1 AND r.workflow = ? AND r.status = ?${only}
        AND r.created_at ${beyond}= ? AND (r.created_at ${beyond} ? OR r.instance ${beyond} ?)
        AND r.created_at ${before}= ? AND (r.created_at ${before} ? OR r.instance ${before}= ?) ${named.sql}
      ORDER BY r.created_at ${order}, r.instance ${order} ${limited.sql}`,
    values: [
      ...strand,
      ...[from.createdAt, from.createdAt, from.instance],
      ...[to.createdAt, to.createdAt, to.instance],
      ...named.values,
      ...limited.values,
    ],
  };
}

function orderOf({ ascending }: InstanceListing): string {
  const order = ascending ? "ASC" : "DESC";
  return `created_at ${order}, instance ${order}`;
}

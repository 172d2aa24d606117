/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import { type InstanceRecord, type InstanceStatus, instanceStatuses } from "../../model/instance.ts";
import type { InstanceQuery, Page } from "../../store/store.ts";
import { instanceSelection } from "../sql/instance-row.ts";
import { page, position, readPosition } from "../sql/position.ts";
import type { Connection } from "./connection.ts";
import { toInstance } from "./instances.ts";
import { limited } from "./limit.ts";
import { withWorkflows } from "./workflows.ts";

export type ListInstances = (query: InstanceQuery) => Page<InstanceRecord>;

/** Where an instance stands in the list. */
interface Place {
  readonly createdAt: number;
  readonly instance: number;
}

export function instanceList(connection: Connection): ListInstances {
  const { db, names } = connection;
  const strand = strands(connection);
  const workflows = db.prepareTuples(
    `${withWorkflows(names)} SELECT workflow FROM known WHERE workflow IS NOT NULL`,
  );
  const read = db.prepare(
    `SELECT ${instanceSelection} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run
     LEFT JOIN ${names.ending} e ON e.run = r.id WHERE i.id = ?`,
  );

  const find = (query: InstanceQuery): readonly Place[] => {
    const { workflowName } = query;
    const statuses = statusesOf(query);
    const from = startOf(query);
    const named =
      workflowName === undefined ? workflows.all().map((row) => row[0] as string) : [workflowName];
    const found = named.flatMap((workflow) =>
      statuses.flatMap((status) => strand(workflow, status, query, from)),
    );
    const sign = isAscending(query) ? 1 : -1;
    return found.sort((a, b) => sign * (a.createdAt - b.createdAt || a.instance - b.instance));
  };

  return (query) =>
    connection.snapshot(() => {
      const placed = page(find(query), query.limit, ({ instance }) => instance, placeText);
      const items = placed.items.flatMap((instance) => {
        const row = read.get(instance);
        return row === undefined ? [] : [toInstance(row)];
      });
      return { ...placed, items };
    });
}

/** Only errored runs can be dead letters. */
function statusesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly InstanceStatus[] {
  return deadLetter === true ? statuses.filter((status) => status === "errored") : statuses;
}

/** The next places of one workflow and status, one more than a page has. */
type Strand = (
  workflow: string,
  status: InstanceStatus,
  query: InstanceQuery,
  from: Place,
) => readonly Place[];

function strands({ db, names }: Connection): Strand {
  const select = (ascending: boolean, only: string, index: string) => {
    const direction = ascending ? "ASC" : "DESC";
    return db.prepareTuples(
      `SELECT created_at, instance FROM ${names.run} INDEXED BY ${index}
       WHERE is_current = 1 AND workflow = ? AND status = ? ${only}
         AND (created_at, instance) ${ascending ? ">" : "<"} (?, ?)
       ORDER BY created_at ${direction}, instance ${direction} ${limited}`,
    );
  };
  const bothWays = (only: string, index = `${names.run}_list`) => ({
    asc: select(true, only, index),
    desc: select(false, only, index),
  });
  const all = bothWays("");
  const dead = bothWays("AND dead_letter = 1", `${names.run}_dead_letter`);
  const others = bothWays("AND dead_letter = 0");

  return (workflow, status, query, from) => {
    const { deadLetter, limit } = query;
    const statements = deadLetter === undefined ? all : deadLetter ? dead : others;
    const statement = isAscending(query) ? statements.asc : statements.desc;
    return statement
      .all(workflow, status, from.createdAt, from.instance, limit + 1)
      .map((row) => ({ createdAt: row[0] as number, instance: row[1] as number }));
  };
}

function isAscending({ order }: InstanceQuery): boolean {
  return order === "asc";
}

function startOf(query: InstanceQuery): Place {
  if (query.after === undefined) {
    const edge = isAscending(query) ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
    return { createdAt: edge, instance: edge };
  }
  const [createdAt = 0, instance = 0] = readPosition(query.after, 2);
  return { createdAt, instance };
}

function placeText({ createdAt, instance }: Place): string {
  return position(createdAt, instance);
}

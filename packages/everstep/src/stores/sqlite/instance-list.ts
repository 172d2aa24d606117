/**
 * Lists instances by creation. Every workflow and status is a strand of its own in the index, already in order; the
 * strands are merged, so that a page costs the same however many instances there are.
 */
import { type InstanceRecord, type InstanceStatus, instanceStatuses } from "../../model/instance.ts";
import type { InstanceQuery, Page, ValueTerms } from "../../store/store.ts";
import { selectionOf } from "../sql/instance-row.ts";
import { inOrder, isAscending, listPage, nearest, type Place, rangeOf, shareOf } from "../sql/list-range.ts";
import type { Connection } from "./connection.ts";
import { toInstance } from "./instances.ts";
import { limited } from "./limit.ts";
import { withWorkflows } from "./workflows.ts";

export type ListInstances = (query: InstanceQuery) => Page<InstanceRecord>;

/** Places found, and where it stopped looking for more, if it did before the end. */
interface Found {
  readonly places: readonly Place[];
  readonly lookedTo: Place | undefined;
}

export function instanceList(connection: Connection): ListInstances {
  const { db, names } = connection;
  const strand = strands(connection);
  const hasPrefix = prefixes(connection);
  const workflows = db.prepareTuples(
    `${withWorkflows(names)} SELECT workflow FROM known WHERE workflow IS NOT NULL`,
  );
  const reading = (terms: ValueTerms) =>
    db.prepare(
      `SELECT ${selectionOf(terms)} FROM ${names.instance} i JOIN ${names.run} r ON r.id = i.run
       LEFT JOIN ${names.ending} e ON e.run = r.id WHERE i.id = ?`,
    );
  const whole = reading({});
  const brief = reading({ brief: true });

  const find = (query: InstanceQuery): Found => {
    const { workflowName, idPrefix, limit } = query;
    const ascending = isAscending(query);
    const named =
      workflowName === undefined ? workflows.all().map((row) => row[0] as string) : [workflowName];
    const wanted = named.flatMap((workflow) =>
      statusesOf(query).map((status) => [workflow, status] as const),
    );
    const share = idPrefix === undefined ? limit + 1 : shareOf(wanted.length);
    const found = wanted.map(([workflow, status]) => strand(workflow, status, query, share));
    const places = found.flat().sort(inOrder(ascending));
    if (idPrefix === undefined) return { places, lookedTo: undefined };
    const ends = found.flatMap((each) => each[share - 1] ?? []);
    const lookedTo = nearest(ends, ascending);
    const isLookedAt = (place: Place): boolean =>
      lookedTo === undefined || inOrder(ascending)(place, lookedTo) <= 0;
    return { places: hasPrefix(places.filter(isLookedAt), idPrefix, limit + 1), lookedTo };
  };

  return (query) =>
    connection.snapshot(() => {
      const { places, lookedTo } = find(query);
      const placed = listPage(
        places,
        query.limit,
        ({ instance }) => instance,
        (place) => place,
        lookedTo,
      );
      const items = placed.items.flatMap((instance) => {
        const row = (query.brief ? brief : whole).get(instance);
        return row === undefined ? [] : [toInstance(row)];
      });
      return { ...placed, items };
    });
}

/** Only errored runs can be dead letters. */
function statusesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly InstanceStatus[] {
  return deadLetter === true ? statuses.filter((status) => status === "errored") : statuses;
}

/** The next places of one workflow and status, at most `limit`. */
type Strand = (
  workflow: string,
  status: InstanceStatus,
  query: InstanceQuery,
  limit: number,
) => readonly Place[];

function strands({ db, names }: Connection): Strand {
  const select = (ascending: boolean, only: string, index: string) => {
    const [beyond, upTo, direction] = ascending ? [">", "<=", "ASC"] : ["<", ">=", "DESC"];
    return db.prepareTuples(
      `SELECT created_at, instance FROM ${names.run} INDEXED BY ${index}
       WHERE is_current = 1 AND workflow = ? AND status = ? ${only}
         AND (created_at, instance) ${beyond} (?, ?) AND (created_at, instance) ${upTo} (?, ?)
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

  return (workflow, status, query, limit) => {
    const { deadLetter } = query;
    const { from, to } = rangeOf(query);
    const statements = deadLetter === undefined ? all : deadLetter ? dead : others;
    const statement = isAscending(query) ? statements.asc : statements.desc;
    return statement
      .all(workflow, status, from.createdAt, from.instance, to.createdAt, to.instance, limit)
      .map((row) => ({ createdAt: row[0] as number, instance: row[1] as number }));
  };
}

/** The first of these places whose ids begin so. As bytes: text functions stop at a NUL; of no bytes substr makes NULL. */
function prefixes({ db, names }: Connection) {
  const matches = db.prepareTuples(
    `SELECT 1 FROM ${names.instance} WHERE id = ? AND ifnull(substr(CAST(instance_id AS BLOB), 1, ?), x'') = CAST(? AS BLOB)`,
  );
  return (places: readonly Place[], prefix: string, limit: number): readonly Place[] => {
    const bytes = new TextEncoder().encode(prefix).length;
    const found: Place[] = [];
    for (const place of places) {
      if (matches.get(place.instance, bytes, prefix) !== undefined) found.push(place);
      if (found.length === limit) break;
    }
    return found;
  };
}

/** Instances by creation, over one workflow or all, in some statuses or all. */
import { type InstanceRecord, type InstanceStatus, instanceStatuses } from "../../../model/instance.ts";
import type { InstanceQuery, Page } from "../../../store/store.ts";
import type { Part } from "../dialect.ts";
import { joined } from "../part.ts";
import { briefInstanceSelection, instanceSelection, readInstance } from "../rows/instance-row.ts";
import { integer, type SqlRow } from "../rows/row.ts";
import type { ReadDialect } from "./dialect.ts";
import { isAscending, listPage, type Place, rangeOf, shareOf } from "./list-range.ts";
import { ask, type Reading } from "./query.ts";
import { knownWorkflows, placesOf, runsOf, type Strands, workflowsOf } from "./strands.ts";

export type ListInstances = (query: InstanceQuery) => Reading<Page<InstanceRecord>>;

const key = ["created_at", "instance"] as const;

export function instanceList(dialect: ReadDialect): ListInstances {
  const { names } = dialect;
  const ending = `LEFT JOIN ${names.ending} e ON e.run = r.id`;
  const whole = runsOf(dialect, "instance", instanceSelection, ending);
  const brief = runsOf(dialect, "instance", briefInstanceSelection, ending);

  return function* (query) {
    const { workflowName, idPrefix, limit, deadLetter } = query;
    const statuses = statusesOf(query);
    // Shares are counted out, so whoever looks for an id must know how many workflows there are.
    const workflows = yield* idPrefix === undefined || workflowName !== undefined
      ? workflowsOf(dialect, workflowName)
      : ask(knownWorkflows(dialect));
    if (statuses.length === 0 || workflows?.length === 0) return { items: [] };

    const range = rangeOf(query);
    const ascending = isAscending(query);
    const [beyond, upTo] = ascending ? ([">", "<="] as const) : (["<", ">="] as const);
    const only = deadLetter === undefined ? "" : ` AND r.dead_letter = ${deadLetter ? 1 : 0}`;
    const current = { sql: `AND r.is_current = 1${only}`, values: [] };
    const strandsTo = (to: Place, ...more: readonly Part[]): Strands => ({
      index: deadLetter === true ? "dead_letter" : "list",
      workflows,
      among: { column: "status", values: statuses },
      key,
      ascending,
      where: joined(
        [current, compared(dialect, beyond, range.from), compared(dialect, upTo, to), ...more],
        " ",
      ),
      limit: limit + 1,
    });

    if (idPrefix === undefined) {
      const rows = yield* (query.brief ? brief : whole)(strandsTo(range.to));
      return listPage(rows, limit, readInstance, placeOf, undefined);
    }
    // As far as the first strand of which it has seen its share, else to the end.
    const share = shareOf((workflows?.length ?? 1) * statuses.length);
    const [end] = yield* ask(placesOf(dialect, { ...strandsTo(range.to), limit: 1, offset: share - 1 }));
    const lookedTo =
      end === undefined
        ? undefined
        : { createdAt: integer(end, "placed_at"), instance: integer(end, "place") };
    // By key for each, whatever the planner thinks of the tables.
    const id = `(SELECT n.instance_id FROM ${names.instance} n WHERE n.id = r.instance)`;
    const named = dialect.startsWith(id, idPrefix);
    const wanted = strandsTo(lookedTo ?? range.to, { sql: `AND ${named.sql}`, values: named.values });
    const rows = yield* (query.brief ? brief : whole)(wanted);
    return listPage(rows, limit, readInstance, placeOf, lookedTo);
  };
}

/** Only errored runs can be dead letters. */
function statusesOf({ statuses = instanceStatuses, deadLetter }: InstanceQuery): readonly InstanceStatus[] {
  return deadLetter === true ? statuses.filter((status) => status === "errored") : statuses;
}

function compared({ splitsPairs }: ReadDialect, by: ">" | "<" | ">=" | "<=", place: Place): Part {
  const [at, next] = key.map((column) => `r.${column}`);
  const { createdAt, instance } = place;
  if (!splitsPairs) return { sql: `AND (${at}, ${next}) ${by} (?, ?)`, values: [createdAt, instance] };
  const beyond = by[0];
  return {
    sql: `AND ${at} ${beyond}= ? AND (${at} ${beyond} ? OR ${next} ${by} ?)`,
    values: [createdAt, createdAt, instance],
  };
}

function placeOf(row: SqlRow): Place {
  return { createdAt: integer(row, "created_at"), instance: integer(row, "instance") };
}

/**
 * Stretches of an index of runs, one for each workflow and status or lane, each already in order. What a list shows are
 * their beginnings, merged, so that a page costs the same however many runs there are.
 */
import type { Part } from "../dialect.ts";
import { joined } from "../part.ts";
import { integer, type SqlRow, type SqlValue, selectedNames, text } from "../rows/row.ts";
import type { TableNames } from "../schema/table.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect } from "./dialect.ts";
import { eachKey } from "./each.ts";
import { ask, type Query, type Reading, type Rows } from "./query.ts";

export interface Strands {
  readonly index: "list" | "dead_letter" | "claim";
  /** Undefined for all of them, where the dialect merges those. */
  readonly workflows: readonly string[] | undefined;
  readonly among: { readonly column: "status" | "lane"; readonly values: readonly SqlValue[] };
  /** What orders a strand: when, and which: the columns of the run `r`, or with its instance's id for the current run. */
  readonly key: readonly ["created_at", "instance"] | readonly ["due_at", "id"];
  readonly ascending: boolean;
  /** Conditions on the run `r`, each begun with AND. */
  readonly where: Part;
  /** Of each strand and of all together. */
  readonly limit: number;
  /** So many of each strand are left out. */
  readonly offset?: number;
}

/** The names of all workflows, in a statement of its own. */
export function knownWorkflows({ workflows }: ReadDialect): Query<readonly string[]> {
  return {
    statements: [{ sql: workflows, values: [] }],
    read: ([rows = []]) => rows.map((row) => text(row, "workflow")),
  };
}

/** Whom the list is about: one workflow, or all, which are named only where the dialect wants them named. */
export function* workflowsOf(
  dialect: ReadDialect,
  workflowName: string | undefined,
): Reading<readonly string[] | undefined> {
  if (workflowName !== undefined) return [workflowName];
  return dialect.merged === undefined ? yield* ask(knownWorkflows(dialect)) : undefined;
}

/** The first of all strands, in order: `placed_at` and `place`. */
export function placesOf(dialect: ReadDialect, strands: Strands): Query<Rows> {
  if (strands.workflows?.length === 0) return nothing;
  if (!dialect.oneByOne) return { statements: [mergedPlaces(dialect, strands)], read: ([rows = []]) => rows };
  const inOrder = byPlace(strands.ascending);
  return {
    statements: eachStrand(dialect, strands),
    read: (results) => results.flat().sort(inOrder).slice(0, strands.limit),
  };
}

/** The same with what is selected of each run `r`, its instance `i` and what else is joined to them. */
export function runsOf(
  dialect: ReadDialect,
  by: "instance" | "run",
  selection: readonly string[],
  withMore = "",
): (strands: Strands) => Reading<Rows> {
  const { names, inOrder } = dialect;
  const select = `${inOrder?.select ?? "SELECT"} ${selection.join(", ")} FROM`;
  const [joined, id] =
    by === "run"
      ? [`${names.run} r JOIN ${names.instance} i ON i.id = r.instance ${withMore}`, "r.id"]
      : [`${names.instance} i JOIN ${names.run} r ON r.id = i.run ${withMore}`, "i.id"];
  const byKey = eachKey(
    dialect,
    ["place"],
    ({ from, value }) => `${select} ${from} ${joined} WHERE ${id} = ${value("place")}`,
    selectedNames(selection),
  );
  return function* (strands) {
    if (strands.workflows?.length === 0) return [];
    if (dialect.oneByOne) {
      const places = yield* ask(placesOf(dialect, strands));
      const statements = byKey(places.map((place) => [integer(place, "place")]));
      return yield* ask({ statements, read: (results) => results.flat() });
    }
    const { sql, values } = mergedPlaces(dialect, strands);
    const rows = `${select} (${sql}) f CROSS JOIN ${joined} WHERE ${id} = f.place`;
    const statement = { sql: `${rows} ORDER BY ${orderOf(strands, "f.")}`, values };
    return yield* ask({ statements: [statement], read: ([found = []]) => found });
  };
}

/** One strand, of a workflow and a status or lane given as expressions. */
export function strandText(
  dialect: ReadDialect,
  strands: Strands,
  workflow: string,
  among: string,
): { readonly sql: string; readonly values: readonly unknown[] } {
  const { index, key, where, ascending, limit, offset } = strands;
  const [at, place] = key;
  const direction = ascending ? "ASC" : "DESC";
  return {
    sql:
      `SELECT r.${at} AS placed_at, r.${place} AS place ` +
      `FROM ${dialect.names.run} r ${dialect.through?.("run", index) ?? ""} ` +
      `WHERE r.workflow = ${workflow} AND r.${strands.among.column} = ${among} ${where.sql} ` +
      `ORDER BY r.${at} ${direction}, r.${place} ${direction} ${dialect.limit}${offset === undefined ? "" : " OFFSET ?"}`,
    values: [...where.values, limit, ...(offset === undefined ? [] : [offset])],
  };
}

/** `ORDER BY` this puts places in order. */
export function orderOf({ ascending }: Strands, alias = ""): string {
  const direction = ascending ? "ASC" : "DESC";
  return `${alias}placed_at ${direction}, ${alias}place ${direction}`;
}

function mergedPlaces(dialect: ReadDialect, strands: Strands): Part {
  if (dialect.merged !== undefined) return dialect.merged(strands);
  const each = eachStrand(dialect, strands).map(({ sql, values }, n) => ({
    sql: `SELECT s${n}.* FROM (${sql}) s${n}`,
    values,
  }));
  const all = joined(each, " UNION ALL ");
  return {
    sql: `${all.sql} ORDER BY ${orderOf(strands)} ${dialect.limit}`,
    values: [...all.values, strands.limit],
  };
}

function eachStrand(dialect: ReadDialect, strands: Strands): readonly Statement[] {
  const { workflows = [], among } = strands;
  const { sql, values } = strandText(dialect, strands, "?", "?");
  return workflows.flatMap((workflow) =>
    among.values.map((value) => ({ sql, values: [workflow, value, ...values], columns: placeColumns })),
  );
}

const placeColumns = ["placed_at", "place"] as const;

function byPlace(ascending: boolean): (a: SqlRow, b: SqlRow) => number {
  const sign = ascending ? 1 : -1;
  return (a, b) =>
    sign * (integer(a, "placed_at") - integer(b, "placed_at") || integer(a, "place") - integer(b, "place"));
}

const nothing: Query<Rows> = { statements: [], read: () => [] };

/** The names of all workflows that have instances, as the table `known`: one index seek per name, however many runs. */
export function withWorkflows(names: TableNames): string {
  return `WITH RECURSIVE known (workflow) AS (
    SELECT min(r.workflow) FROM ${names.run} r WHERE r.is_current = 1
    UNION ALL
    SELECT (SELECT min(r.workflow) FROM ${names.run} r WHERE r.is_current = 1 AND r.workflow > known.workflow)
    FROM known WHERE known.workflow IS NOT NULL
  )`;
}

/** Only their names. */
export function selectWorkflows(names: TableNames): string {
  return `${withWorkflows(names)} SELECT known.workflow FROM known WHERE known.workflow IS NOT NULL`;
}

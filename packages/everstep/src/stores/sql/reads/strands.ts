/**
 * Stretches of an index of runs, one for each workflow and status or lane, each already in order. What a list shows are
 * their beginnings, merged, so that a page costs the same however many runs there are.
 */
import type { Part } from "../dialect.ts";
import { joined } from "../part.ts";
import { integer, type SqlRow, type SqlValue, text } from "../row.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect } from "./dialect.ts";
import { aboutEach } from "./each.ts";
import { ask, type Query, type Reading, type Rows } from "./query.ts";

export interface Strands {
  readonly index: "list" | "dead_letter" | "claim";
  /** Undefined for all of them, where the dialect merges those. */
  readonly workflows: readonly string[] | undefined;
  readonly among: { readonly column: "status" | "lane"; readonly values: readonly SqlValue[] };
  /** What orders a strand: columns of the run `r`. */
  readonly key: readonly [string, string];
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

/** The first of all strands, in order: `run`, `placed_at` and `place`. */
export function placesOf(dialect: ReadDialect, strands: Strands): Query<Rows> {
  if (strands.workflows?.length === 0) return nothing;
  if (!dialect.oneByOne) return { statements: [mergedPlaces(dialect, strands)], read: ([rows = []]) => rows };
  const inOrder = byPlace(strands.ascending);
  return {
    statements: eachStrand(dialect, strands),
    read: (results) => results.flat().sort(inOrder).slice(0, strands.limit),
  };
}

/** The same with what is selected of each run `r`, its instance `i` and what else is joined to it. */
export function runsOf(
  dialect: ReadDialect,
  selection: string,
  withMore = "",
): (strands: Strands) => Reading<Rows> {
  const { names, inOrder } = dialect;
  const select = `${inOrder?.select ?? "SELECT"} ${selection} FROM`;
  const instances = `JOIN ${names.instance} i ON i.id = r.instance ${withMore}`;
  const byKey = aboutEach(
    dialect,
    ["run"],
    (given) => `${select} ${given} JOIN ${names.run} r ON r.id = v.run ${instances}`,
  );
  return function* (strands) {
    if (strands.workflows?.length === 0) return [];
    if (dialect.oneByOne) {
      const places = yield* ask(placesOf(dialect, strands));
      const statements = byKey(places.map((place) => [integer(place, "run")]));
      return yield* ask({ statements, read: (results) => results.flat() });
    }
    const { sql, values } = mergedPlaces(dialect, strands);
    const rows = `${select} (${sql}) f JOIN ${names.run} r ON r.id = f.run ${instances}`;
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
      `SELECT r.id AS run, r.${at} AS placed_at, r.${place} AS place ` +
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

const placeColumns = ["run", "placed_at", "place"] as const;

function byPlace(ascending: boolean): (a: SqlRow, b: SqlRow) => number {
  const sign = ascending ? 1 : -1;
  return (a, b) =>
    sign * (integer(a, "placed_at") - integer(b, "placed_at") || integer(a, "place") - integer(b, "place"));
}

const nothing: Query<Rows> = { statements: [], read: () => [] };

/** What differs between SQL databases for whoever reads. */
import type { Part, RowsPart } from "../dialect.ts";
import type { Table, TableNames } from "../schema/table.ts";
import type { Statement } from "../session.ts";
import type { Strands } from "./strands.ts";

export interface ReadDialect {
  readonly names: TableNames;

  /**
   * Rows of values as a table to read from: `FROM ${part.sql}`, its columns reached as `alias.column`. The type of a
   * column follows from its name (`columnType`); `id` is a text here.
   */
  parameters(alias: string, columns: readonly string[]): RowsPart;

  /** A name of a column where no alias of a table can stand before it. */
  quoted(column: string): string;

  /** A statement costs microseconds: what is asked about many keys is asked about one after the other, with one text. */
  readonly oneByOne?: true;

  /** Ends a SELECT of so many rows at most; has one `?`. */
  readonly limit: string;

  /** Stands behind the alias of a table that is to be read through this index, where the database must be told. */
  through?(table: Table, index: string): string;

  /** Two columns compared as a pair find no place in an index: they are compared one by one. */
  readonly splitsPairs?: true;

  /** Whether what the expression gives begins with a text. */
  startsWith(expression: string, prefix: string): Part;

  /** A column of the log, whose texts may hold anything. */
  logColumn?(column: string): string;

  /** Selects `workflow`: the names of all workflows that have instances, one index seek for each. */
  readonly workflows: string;

  /**
   * The first of all strands as one query, of all workflows where none is named: `placed_at` and `place`. Where it is
   * left out they are joined by UNION ALL, and workflows are named.
   */
  merged?(strands: Strands): Part;

  /**
   * Topics beyond the given one, in order, each with `waiters`: how many waits on it are open. For databases whose index of
   * topics has those too on which nobody waits any more.
   */
  allTopics?(list: TopicListing): Statement;

  /** How a SELECT begins that reads its tables in the order in which they are written, where the database must be told. */
  readonly inOrder?: { readonly select: string };
}

export interface TopicListing {
  readonly from: string | undefined;
  readonly ascending: boolean;
  readonly limit: number;
}

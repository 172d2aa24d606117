/** A keyset-paged SELECT, in both directions, prepared once. */
import type { Page, PageQuery } from "../../store/store.ts";
import { page, position, readPosition } from "../sql/position.ts";
import type { SqlRow, SqlValue } from "../sql/row.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";

export interface PagedList<Item> {
  /** Pages through the rows that the given values select. */
  read(values: readonly SqlValue[], query: PageQuery): Page<Item>;
}

export function pagedList<Item>(
  { db }: Connection,
  list: {
    readonly select: string;
    /** With one `?` per value, before the place in the list is added. */
    readonly where: string;
    /** Columns that order the list, and their names in the row. */
    readonly key: readonly { readonly column: string; readonly name: string }[];
    readonly item: (row: SqlRow) => Item;
  },
): PagedList<Item> {
  const columns = list.key.map(({ column }) => column);
  const statement = (direction: "asc" | "desc", from: boolean) => {
    const beyond = `(${columns.join(", ")}) ${direction === "asc" ? ">" : "<"} (${columns.map(() => "?").join(", ")})`;
    const order = columns.map((column) => `${column} ${direction}`).join(", ");
    return db.prepare(
      `${list.select} WHERE ${list.where} ${from ? `AND ${beyond}` : ""} ORDER BY ${order} ${limited}`,
    );
  };
  const statements = {
    asc: { first: statement("asc", false), next: statement("asc", true) },
    desc: { first: statement("desc", false), next: statement("desc", true) },
  };
  const place = (row: SqlRow): string => position(...list.key.map(({ name }) => row[name] as number));

  return {
    read(values, { limit, after, order = "asc" }) {
      const { first, next } = statements[order];
      const rows =
        after === undefined
          ? first.all(...values, limit + 1)
          : next.all(...values, ...readPosition(after, columns.length), limit + 1);
      return page(rows, limit, list.item, place);
    },
  };
}

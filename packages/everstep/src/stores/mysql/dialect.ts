import type { Dialect } from "../sql/dialect.ts";
import type { TableNames } from "../sql/table.ts";
import { claims } from "./claim.ts";
import { instanceList } from "./instance-list.ts";
import { byKey, insertRows, parameterRows, putStepRows, removeRows, updateRows } from "./rows.ts";

export function mysqlDialect(names: TableNames): Dialect {
  return {
    names,
    parameters: parameterRows,
    insert: (table, columns) => insertRows(names, table, columns),
    update: (table, keys, columns, where) => updateRows(names, table, keys, columns, where),
    putSteps: (columns) => putStepRows(names, columns),
    remove: (table, keys) => removeRows(names, table, keys),
    // MariaDB cannot name the table to lock.
    lock: (_alias, busy = "wait") => (busy === "skip" ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE"),
    // With a limit the server cannot merge the query into the one around it and forget its order.
    inOrder: {
      select: "SELECT STRAIGHT_JOIN",
      byKey,
      sorted: (query, column) => `${query} ORDER BY ${column} LIMIT 18446744073709551615`,
    },
    claim: claims(names),
    listInstances: instanceList(names),
  };
}

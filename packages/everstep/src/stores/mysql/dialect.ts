import { createHash } from "node:crypto";
import type { Dialect } from "../sql/dialect.ts";
import type { TableNames } from "../sql/schema/table.ts";
import { runIdGapMax } from "../sql/write/run-ids.ts";
import { type Claims, claims } from "./claim.ts";
import { quickSends, quickWrites } from "./quick-write.ts";
import {
  byKey,
  forgetRows,
  insertRows,
  parameterRows,
  putRows,
  putStepRows,
  quoted,
  removeRows,
  updateRows,
} from "./statements.ts";

export function mysqlDialect(names: TableNames, { claim }: Claims = claims(names)): Dialect {
  return {
    names,
    parameters: parameterRows,
    insert: (table, columns) => insertRows(names, table, columns),
    update: (table, keys, columns, where, compared) =>
      updateRows(names, table, keys, columns, where, compared),
    putSteps: (columns) => putStepRows(names, columns),
    put: (table, keys, columns, how) => putRows(names, table, keys, columns, how),
    forget: (table, column, _keys, limit) => forgetRows(names, table, column, limit),
    quoted,
    remove: (table, keys) => removeRows(names, table, keys),
    // MariaDB cannot name the table to lock.
    lock: (_alias, busy = "wait") => (busy === "skip" ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE"),
    // With a limit the server cannot merge the query into the one around it and forget its order.
    inOrder: {
      select: "SELECT STRAIGHT_JOIN",
      byKey,
      sorted: (query, column) => `${query} ORDER BY ${column} LIMIT 18446744073709551615`,
    },
    claim,
    // Bytes of an index are few, and topics may be long.
    scopeOfTopic: (topic) => createHash("sha256").update(topic).digest("base64url"),
    // Anything but the time may differ where statements are sent to replicas as they are.
    anyGap: `MICROSECOND(NOW(6)) * ${(runIdGapMax + 1) / 2 ** 20}`,
    applyQuickly: quickWrites(names),
    sendQuickly: quickSends(names),
    limit: "LIMIT ?",
    through: (_table, index) => forced(index),
    splitsPairs: true,
    startsWith: (expression, prefix) => ({
      sql: `LEFT(${expression}, LENGTH(?)) = ?`,
      values: [prefix, prefix],
    }),
    workflows: `SELECT DISTINCT r.workflow FROM ${names.run} r ${forced("list")}`,
    allTopics: topicsOf(names),
  };
}

/** One seek finds the next topic, and those that wait now stand together behind it. */
function topicsOf({ step }: TableNames): NonNullable<Dialect["allTopics"]> {
  const topics = forced("topic");
  return ({ from, ascending, limit }) => {
    const order = ascending ? "ASC" : "DESC";
    return {
      sql: `SELECT t.topic, (
          SELECT count(*) FROM ${step} o ${topics} WHERE o.topic = t.topic AND o.is_open = 1
        ) AS waiters
        FROM (
          SELECT s.topic FROM ${step} s ${topics}
          WHERE s.topic ${from === undefined ? ">=" : ascending ? ">" : "<"} ? GROUP BY s.topic ORDER BY s.topic ${order} LIMIT ?
        ) t
        ORDER BY t.topic ${order}`,
      values: [from ?? "", limit],
    };
  };
}

function forced(index: string): string {
  return `FORCE INDEX (\`${index}\`)`;
}

import { createHash } from "node:crypto";
import type { Dialect } from "../sql/dialect.ts";
import { runIdGapMax } from "../sql/run-ids.ts";
import type { TableNames } from "../sql/table.ts";
import { type Claims, claims } from "./claim.ts";
import { dueList } from "./due-list.ts";
import { instanceList } from "./instance-list.ts";
import { quickSends } from "./quick-send.ts";
import { quickWrites } from "./quick-write.ts";
import {
  byKey,
  forgetRows,
  insertRows,
  parameterRows,
  putRows,
  quoted,
  removeRows,
  updateRows,
} from "./rows.ts";
import { putStepRows } from "./step-rows.ts";
import { topicList } from "./topic-list.ts";

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
    listInstances: instanceList(names),
    listDue: dueList(names),
    listTopics: topicList(names),
    listsClosedTopics: true,
  };
}

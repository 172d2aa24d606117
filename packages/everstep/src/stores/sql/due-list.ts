import type { DueQuery, DueRun } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { readDue } from "./due-row.ts";
import type { Database } from "./session.ts";

export type ListDue = (query: DueQuery) => Promise<readonly DueRun[]>;

export function dueList(database: Database, dialect: Dialect): ListDue {
  return async (query) => (await dialect.listDue(database, query)).map(readDue);
}

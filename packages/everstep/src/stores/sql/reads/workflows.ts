import type { TableNames } from "../schema/table.ts";

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

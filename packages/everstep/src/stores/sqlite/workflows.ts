import type { TableNames } from "./schema.ts";

/** The names of all workflows that have instances, as the table `known`: one index seek per name, however many runs. */
export function withWorkflows(names: TableNames): string {
  return `WITH RECURSIVE known (workflow) AS (
    SELECT min(workflow) FROM ${names.run} WHERE is_current = 1
    UNION ALL
    SELECT (SELECT min(workflow) FROM ${names.run} WHERE is_current = 1 AND workflow > known.workflow)
    FROM known WHERE known.workflow IS NOT NULL
  )`;
}

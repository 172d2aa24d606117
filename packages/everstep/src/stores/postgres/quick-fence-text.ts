/**
 * The UPDATE of the hot rows is the fence: what it returns has passed, and everything else is written only for that. A
 * row of it carries the first step and the ending of its commit, so that nothing has to be joined to it again.
 */

import { lanes } from "../../store/apply/lane.ts";
import { endingColumns } from "../sql/rows/ending-row.ts";
import { logColumns } from "../sql/rows/log-row.ts";
import { stepColumns } from "../sql/rows/step-row.ts";
import { columnType, type TableNames } from "../sql/schema/table.ts";
import { sameKey, tableText } from "./parameter-table.ts";
import { type FenceShape, fenceColumns, stepParameters } from "./quick-fence.ts";

/** The expressions, by name; `now` is the number of its parameter, `first` that of the first column. */
export function fenceTexts(
  names: TableNames,
  shape: FenceShape,
  now: string,
  first: number,
): readonly (readonly [string, string])[] {
  const { isMany, steps, ends, logs } = shape;
  const given = tableText("v", fenceColumns(shape), isMany, first);
  return [
    ["fenced", updateText(names, shape, now, given)],
    ...(steps === "none" ? [] : [["put", putText(names, steps)] as const]),
    ...(ends ? [["ended", endedText(names, now)] as const] : []),
    ...(logs ? [["logged", loggedText(names)] as const] : []),
  ];
}

function updateText(
  names: TableNames,
  { isMany, steps, ends, parks, logs }: FenceShape,
  now: string,
  given: string,
): string {
  const moved = ends || parks;
  const lane = moved ? "v.lane" : `${lanes.held}`;
  const set = [
    "last_commit = v.last_commit",
    "recorded = 1",
    "crash_count = 0",
    "begun = v.begun",
    `updated_at = ${now}::bigint`,
    `status = ${moved ? "v.status" : "'active'"}`,
    `lane = ${lane}`,
    moved
      ? `due_at = CASE v.lane WHEN ${lanes.held} THEN greatest(r.due_at, v.due_at) ELSE coalesce(v.due_at, r.due_at) END`
      : "due_at = greatest(r.due_at, v.due_at)",
    `waiting_since = ${parks ? `CASE v.status WHEN 'waiting' THEN ${now}::bigint END` : "NULL"}`,
    ...(parks ? ["kind = coalesce(v.kind, r.kind)"] : []),
    `dead_letter = ${ends ? "v.dead_letter" : "0"}`,
    ends
      ? `prune_at = CASE WHEN v.lane IS NULL THEN ${now}::bigint + ` +
        `(SELECT i.retention_ms FROM ${names.instance} i WHERE i.id = r.instance) END`
      : "prune_at = NULL",
    ...(logs ? ["log_seq = r.log_seq + v.log_seq"] : []),
  ];
  const carried = [
    ...(ends ? ["v.lane", ...endingColumns.slice(2).map((name) => `v.ending_${name}`)] : []),
    ...(logs ? ["r.log_seq - v.log_seq AS logged_before", "v.logs"] : []),
    ...stepParameters(steps).map(({ name }) => `v.${name}`),
  ];
  // A lane that could be told from this text would be one more way to look for the row, and a worse one.
  return `UPDATE ${names.run} AS r SET ${set.join(", ")} FROM ${given}
    WHERE ${sameKey("r.id", "v.run", isMany)} AND r.token = v.token AND r.last_commit = v.last_commit - 1
      AND coalesce(r.lane, -1) = ${lanes.held}${parks ? " AND (v.event_seq IS NULL OR r.event_seq <= v.event_seq)" : ""}
    RETURNING ${["r.id", "r.event_seq", ...carried].join(", ")}`;
}

/** What never differs between plain steps. */
const plainFacts = {
  name: "f.key",
  count: "1",
  type: "'do'",
  status: "'completed'",
  is_open: "0",
  depth: "0",
};

function putText(names: TableNames, steps: "plain" | "any"): string {
  const facts: readonly (readonly [string, string])[] =
    steps === "plain"
      ? [
          ...stepParameters(steps).map(({ name }) => [name, `f.${name}`] as const),
          ...Object.entries({ ...plainFacts, attempts: "1", starts: "1" }),
        ]
      : stepColumns
          .slice(1)
          .map((name) => [name, name === "status" ? "f.step_status" : `f.${name}`] as const);
  return `INSERT INTO ${names.step} AS t (run, ${facts.map(([name]) => name).join(", ")})
    SELECT f.id, ${facts.map(([, value]) => value).join(", ")} FROM fenced f WHERE f.step_index IS NOT NULL
    ${replacing}`;
}

/** What has settled never changes. */
export const replacing: string =
  `ON CONFLICT (run, step_index) DO UPDATE SET ` +
  `${stepColumns
    .slice(2)
    .map((name) => `${name} = excluded.${name}`)
    .join(", ")} WHERE t.status = 'waiting'`;

function endedText(names: TableNames, now: string): string {
  const kept = endingColumns.slice(2);
  return `INSERT INTO ${names.ending} (run, completed_at, ${kept.join(", ")})
    SELECT f.id, ${now}::bigint, ${kept.map((name) => `f.ending_${name}`).join(", ")} FROM fenced f WHERE f.lane IS NULL`;
}

function loggedText(names: TableNames): string {
  const kept = logColumns.slice(2);
  const types = kept.map((name) => `${name} ${columnType(name) === "integer" ? "bigint" : "text"}`);
  return `INSERT INTO ${names.log} (run, seq, ${kept.join(", ")})
    SELECT f.id, f.logged_before + l.seq, ${kept.map((name) => `l.${name}`).join(", ")}
    FROM fenced f CROSS JOIN LATERAL json_to_recordset(f.logs::json) AS l (seq bigint, ${types.join(", ")})`;
}

/** The tables of the server databases and what their columns hold. */

export type Table =
  | "meta"
  | "instance"
  | "run"
  | "ending"
  | "step"
  | "event"
  | "log"
  | "publication"
  | "change"
  | "runner"
  | "tally";

export const tables: readonly Table[] = [
  "meta",
  "instance",
  "run",
  "ending",
  "step",
  "event",
  "log",
  "publication",
  "change",
  "runner",
  "tally",
];

/** Names as they are written in statements: qualified, and quoted where that is needed. */
export type TableNames = Readonly<Record<Table, string>>;

/**
 * Everything is a 64-bit integer or a text. Times are epoch milliseconds, flags are 0 and 1, texts compare byte by byte.
 * A column has the same type in every table, so its name is enough to know it.
 */
export type ColumnType = "integer" | "text";

const integers: ReadonlySet<string> = new Set([
  // run
  ...["instance", "run", "run_number", "previous_run", "is_current", "lane", "due_at", "token"],
  ...["last_commit", "event_seq", "log_seq", "crash_count", "recorded", "dead_letter", "created_at"],
  ...["started_at", "waiting_since", "paused_at", "updated_at", "prune_at"],
  // instance and ending
  ...["deadline_at", "retention_ms", "completed_at"],
  // step
  ...["step_index", "count", "is_open", "depth", "attempts", "starts", "max_attempts", "timeout_ms"],
  ...["wake_at", "settled_index", "settled_at"],
  // event, log and publication
  ...["seq", "is_system", "delivered_at", "attempt", "is_replay", "waiters"],
  // runner and tally
  ...["pid", "seen_at", "stopped_at", "concurrency", "turns"],
  ...["minute", "complete", "errored", "terminated", "steps", "failed_attempts"],
  // only in tables of parameters
  ...["buffer_max", "until", "place"],
]);

/** `id` is a number in the tables `instance` and `run`, a text in the others. */
export function columnType(column: string, table?: Table): ColumnType {
  if (column === "id") return table === "instance" || table === "run" ? "integer" : "text";
  if (column === "value") return table === "meta" ? "integer" : "text";
  return integers.has(column) ? "integer" : "text";
}

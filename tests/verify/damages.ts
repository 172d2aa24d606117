/** Damage that the engine never does, one kind each, and what an audit says of it. */
import type { RunId } from "everstep/store";
import type { shapes } from "./shapes.ts";
import type { Damage, RedisKeys } from "./sites.ts";

export interface PlantedDamage extends Damage {
  /** What the instance did before. */
  readonly does: (typeof shapes)[number];
  /** Events it got. */
  readonly events?: number;
  readonly found: string;
}

export const damages: Record<string, PlantedDamage> = {
  "nothing-makes-it-due": {
    does: "sleeps",
    sql: "UPDATE <run> SET lane = NULL WHERE id = ?",
    redis: ({ call }, run) => call("HDEL", `run:${run}`, "lane"),
    found: "INV-37",
  },
  "due-after-its-wait": {
    does: "sleeps",
    sql: "UPDATE <run> SET due_at = 4000000000000 WHERE id = ?",
    redis: ({ call }, run) => call("HSET", `run:${run}`, "due", "4000000000000"),
    found: "INV-31",
  },
  "ended-but-due": {
    does: "runs-through",
    sql: "UPDATE <run> SET lane = 0, due_at = 4000000000000 WHERE id = ?",
    redis: ({ call }, run) => call("HSET", `run:${run}`, "lane", "resuming"),
    found: "INV-37",
  },
  "complete-without-output": {
    does: "runs-through",
    sql: "UPDATE <ending> SET output = NULL WHERE run = ?",
    redis: ({ call }, run) => call("DEL", `ending:${run}`),
    found: "INV-37",
  },
  "complete-dead-letter": {
    does: "runs-through",
    sql: "UPDATE <run> SET dead_letter = 1 WHERE id = ?",
    redis: ({ call }, run) => call("HSET", `run:${run}`, "dead", "1"),
    found: "INV-37",
  },
  "its-wait-was-taken-away": {
    does: "sleeps",
    sql: "DELETE FROM <step> WHERE run = ?",
    redis: ({ call }, run) => call("DEL", `steps:${run}`),
    found: "INV-37",
  },
  "taker-of-an-event-is-gone": {
    does: "waits",
    events: 2,
    sql: "DELETE FROM <step> WHERE run = ? AND step_index = 0",
    redis: ({ call }, run) => call("HDEL", `steps:${run}`, "0"),
    found: "INV-22",
  },
  "one-wait-took-two-events": {
    does: "waits",
    events: 2,
    sql: "UPDATE <event> SET consumed_by = 'first' WHERE run = ? AND seq = 2",
    redis: ({ copy }, run) => copy(`event-states:${run}`, "1", "2"),
    found: "INV-24",
  },
  "an-event-after-the-deadline": {
    does: "waits",
    events: 2,
    sql: "UPDATE <step> SET wake_at = created_at - 1 WHERE run = ? AND step_index = 0",
    redis: field(0, 16, 1),
    found: "INV-26",
  },
  "one-key-twice": {
    does: "runs-through",
    sql: "UPDATE <step> SET key = 'a' WHERE run = ? AND step_index = 1",
    redis: field(1, 1, "a"),
    found: "INV-7",
  },
  "handed-over-at-once": {
    does: "runs-through",
    sql: "UPDATE <step> SET settled_index = 1 WHERE run = ? AND step_index = 0",
    redis: field(0, 17, 1),
    found: "INV-17",
  },
  "at-the-wrong-depth": {
    does: "runs-through",
    sql: "UPDATE <step> SET depth = 3 WHERE run = ? AND step_index = 0",
    redis: field(0, 7, 3),
    found: "INV-15",
  },
  "too-many-attempts": {
    does: "gives-up",
    sql: "UPDATE <step> SET max_attempts = 1 WHERE run = ? AND step_index = 0",
    redis: field(0, 11, 1),
    found: "INV-10",
  },
  "timed-out-early": {
    does: "times-out",
    sql: "UPDATE <step> SET settled_at = wake_at - 1 WHERE run = ? AND step_index = 0",
    redis: field(0, 18, 1),
    found: "INV-28",
  },
  "torn-params": {
    does: "runs-through",
    sql: "UPDATE <instance> SET params = '{\"a\":' WHERE instance_id = 'torn-params'",
    redis: ({ call }) => call("HSET", "instance:6:shapes:torn-params", "params", '{"a":'),
    found: "INV-45",
  },
  "torn-result": {
    does: "runs-through",
    sql: "UPDATE <step> SET result = '{\"a\":' WHERE run = ? AND step_index = 0",
    redis: ({ edit }, run) =>
      edit(`steps:${run}`, "0", (text) => `${text.slice(0, text.indexOf("\n"))}\n{"a":`),
    found: "INV-45",
  },
  "a-step-of-no-known-status": {
    does: "runs-through",
    sql: "UPDATE <step> SET status = 'foggy' WHERE run = ? AND step_index = 0",
    redis: field(0, 5, "foggy"),
    found: "unreadable",
  },
};

/** One field in the header of a step's record. */
function field(step: number, place: number, value: unknown) {
  return ({ edit }: RedisKeys, run: RunId): Promise<unknown> =>
    edit(`steps:${run}`, String(step), (text) => {
      const [header = "", ...rest] = text.split("\n");
      const fields: unknown[] = JSON.parse(header);
      fields[place] = value;
      return [JSON.stringify(fields), ...rest].join("\n");
    });
}

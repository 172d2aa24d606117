/** Steps that the requests of a batch may have to know: waits that an event may end, and what is there to be replaced. */

import type { WorkingSet } from "../../../store/apply/working-set.ts";
import type { Dialect, Part } from "../dialect.ts";
import { around, joined, refValues, unique } from "../part.ts";
import { integer, type SqlRow, text, textOrNull } from "../rows/row.ts";
import type { Reader } from "./load.ts";

export function readSteps(dialect: Dialect): Reader {
  const { names } = dialect;
  const named = dialect.parameters("v", ["workflow", "instance_id"]);
  const seen = dialect.parameters("v", ["run", "seq"]);
  const indexed = dialect.parameters("v", ["run", "step_index"]);
  const topics = dialect.parameters("v", ["topic"]);
  const select = "SELECT s.run, s.step_index, s.status, s.key, s.event_type, s.topic, s.wake_at FROM ";
  const ofName =
    ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id` +
    ` JOIN ${names.step} s ON s.run = i.run`;

  return (needs) => {
    const parts: Part[] = [];
    const open = new Map([...needs.sends, ...needs.shifts]);
    if (open.size > 0) {
      parts.push(around(select, named([...open.values()].map(refValues)), `${ofName} WHERE s.is_open = 1`));
    }
    if (needs.looks.size > 0) {
      // Mostly no event is newer than what the turn has seen, and then its waits do not matter.
      const newer =
        ` JOIN ${names.run} r ON r.id = v.run AND r.event_seq > v.seq` +
        ` JOIN ${names.step} s ON s.run = v.run WHERE s.is_open = 1`;
      parts.push(around(select, seen([...needs.looks]), newer));
    }
    if (needs.steps.length > 0) {
      const rows = needs.steps.map(({ run, index }) => [run, index]);
      const at = ` JOIN ${names.step} s ON s.run = v.run AND s.step_index = v.step_index`;
      parts.push(around(select, indexed(rows), at));
    }
    if (needs.publishes.length > 0) {
      const rows = unique(needs.publishes.map(({ topic }) => topic)).map((topic) => [topic]);
      parts.push(
        around(select, topics(rows), ` JOIN ${names.step} s ON s.topic = v.topic WHERE s.is_open = 1`),
      );
    }
    if (needs.retries.length > 0) {
      const rows = needs.retries.map(({ ref }) => refValues(ref));
      parts.push(around(select, named(rows), `${ofName} WHERE s.status = 'waiting'`));
    }
    if (parts.length === 0) return undefined;
    return { statement: joined(parts, " UNION ALL "), take: takeSteps };
  };
}

function takeSteps(set: WorkingSet, rows: readonly SqlRow[]): void {
  for (const row of rows) {
    const run = set.runs.get(integer(row, "run"));
    if (run === undefined) continue;
    const index = integer(row, "step_index");
    if (row.status !== "waiting") {
      run.settled.add(index);
    } else {
      run.waits.set(index, {
        key: text(row, "key"),
        eventType: textOrNull(row, "event_type"),
        topic: textOrNull(row, "topic"),
        wakeAt: integer(row, "wake_at"),
      });
    }
  }
}

/** Events that the requests of a batch may have to know: what was not delivered yet, and which ids are taken. */
import { eventKey, sent } from "../../../store/apply/keys.ts";
import type { WorkingSet } from "../../../store/apply/working-set.ts";
import type { Dialect, Part } from "../dialect.ts";
import { around, joined, refValues, unique } from "../part.ts";
import { idOf, isKey, publishedKeyText, sentKeyText } from "../rows/event-row.ts";
import { flag, integer, type SqlRow, text, textOrNull } from "../rows/row.ts";
import type { Reader } from "./load.ts";

export function readEvents(dialect: Dialect): Reader {
  const { names } = dialect;
  const seen = dialect.parameters("v", ["run", "seq"]);
  const buffers = dialect.parameters("v", ["workflow", "instance_id", "buffer_max"]);
  const topics = dialect.parameters("v", ["topic"]);
  const takers = dialect.parameters("v", ["workflow", "instance_id", "key"]);
  const select = "SELECT e.run, e.seq, e.type, e.for_step, e.is_system, e.created_at, e.consumed_by FROM ";
  const ofName = ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id`;

  return (needs) => {
    const parts: Part[] = [];
    const looks = new Map(needs.looks);
    // A wait that this very batch registers may have its event already.
    if (needs.publishes.length > 0) for (const run of needs.topicRuns) looks.set(run, 0);
    if (looks.size > 0) {
      const newer = ` JOIN ${names.event} e ON e.run = v.run AND e.seq > v.seq WHERE e.delivered_at IS NULL`;
      parts.push(around(select, seen([...looks]), newer));
    }
    const limited = [...needs.sends.values()].map(({ workflowName, instanceId, bufferMax, count }) => {
      // Counting is left out as long as the run cannot have got that many events at all.
      const least = needs.publishes.length > 0 ? 0 : Math.max(0, bufferMax - count);
      return [workflowName, instanceId, least];
    });
    if (limited.length > 0) {
      const buffered =
        `${ofName} JOIN ${names.run} r ON r.id = i.run AND r.event_seq >= v.buffer_max` +
        ` JOIN ${names.event} e ON e.run = r.id WHERE e.delivered_at IS NULL`;
      parts.push(around(select, buffers(limited), buffered));
    }
    if (needs.publishes.length > 0) {
      const rows = unique(needs.publishes.map(({ topic }) => topic)).map((topic) => [topic]);
      const addressed =
        ` JOIN ${names.step} s ON s.topic = v.topic AND s.is_open = 1` +
        ` JOIN ${names.event} e ON e.run = s.run AND e.for_step = s.key WHERE e.delivered_at IS NULL`;
      parts.push(around(select, topics(rows), addressed));
    }
    const released = needs.retries.flatMap(({ ref, stepKeys }) =>
      stepKeys.map((key) => [...refValues(ref), key]),
    );
    if (released.length > 0) {
      const taken = `${ofName} JOIN ${names.event} e ON e.run = i.run AND e.consumed_by = v.key`;
      parts.push(around(select, takers(released), taken));
    }
    if (parts.length === 0) return undefined;
    return { statement: joined(parts, " UNION ALL "), take: takeEvents };
  };
}

function takeEvents(set: WorkingSet, rows: readonly SqlRow[]): void {
  for (const row of rows) {
    const run = set.runs.get(integer(row, "run"));
    if (run === undefined) continue;
    const seq = integer(row, "seq");
    const consumedBy = textOrNull(row, "consumed_by");
    const event = {
      seq,
      type: textOrNull(row, "type"),
      forStep: textOrNull(row, "for_step"),
      system: flag(row, "is_system"),
      createdAt: integer(row, "created_at"),
    };
    if (consumedBy === null) run.undelivered.set(seq, event);
    else run.taken.set(seq, { ...event, consumedBy });
  }
}

export function readHeardEvents(dialect: Dialect): Reader {
  const heard = dialect.parameters("v", ["run", "seq"]);
  const there = ` JOIN ${dialect.names.event} e ON e.run = v.run AND e.seq = v.seq`;
  return (needs) => {
    if (needs.heard.length === 0) return undefined;
    return {
      statement: around(
        "SELECT e.run, e.seq, e.id FROM ",
        heard(needs.heard.map(({ run, seq }) => [run, seq])),
        there,
      ),
      take(set, rows) {
        for (const row of rows)
          set.runs.get(integer(row, "run"))?.heard.set(integer(row, "seq"), idOf(text(row, "id")));
      },
    };
  };
}

export function readEventIds(dialect: Dialect): Reader {
  const { names } = dialect;
  const ids = dialect.parameters("v", ["workflow", "instance_id", "id"]);
  const published = dialect.parameters("v", ["id", "topic"]);
  const select = "SELECT e.id, e.run, r.instance FROM ";
  const known = ` JOIN ${names.run} r ON r.id = e.run`;
  return ({ eventIds, publishes }) => {
    const parts: Part[] = [];
    if (eventIds.length > 0) {
      const named = ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id`;
      const rows = eventIds.map(({ ref, id }) => [...refValues(ref), id]);
      const sent = ` JOIN ${names.event} e ON e.id = ${sentKeyText("i.id", "v.id")}${known}`;
      const older = ` JOIN ${names.event} e ON e.id = v.id${known} AND r.instance = i.id`;
      parts.push(around(select, ids(rows), named + sent));
      const plain = rows.filter(([, , id]) => !isKey(id as string));
      if (plain.length > 0) parts.push(around(select, ids(plain), named + older));
    }
    if (publishes.length > 0) {
      const rows = publishes.map(({ id, topic }) => [id, topic]);
      const made =
        ` JOIN ${names.step} s ON s.topic = v.topic AND s.is_open = 1` +
        ` JOIN ${names.event} e ON e.id = ${publishedKeyText("v.id", "s.run", "s.step_index")}${known}`;
      parts.push(around(select, published(rows), made));
    }
    if (parts.length === 0) return undefined;
    return {
      statement: joined(parts, " UNION ALL "),
      take(set, rows) {
        for (const row of rows) {
          const [key, instance] = [text(row, "id"), integer(row, "instance")];
          set.eventIds.set(isKey(key) ? key.slice(1) : eventKey(instance, sent(key)), integer(row, "run"));
        }
      },
    };
  };
}

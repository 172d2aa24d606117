/**
 * Reads what a batch needs, in one round trip. The first statement locks the rows of all runs concerned, in the order of
 * their ids, so that two writers never wait for each other in a circle. The others come behind it and so see what is
 * true under the lock.
 */
import type { InstanceStatus } from "../../model/instance.ts";
import type { ChangeOutcome } from "../../store/store.ts";
import { type Dialect, type Part, type RowValues, selectInOrder, sorted } from "./dialect.ts";
import { readRunList } from "./json-column.ts";
import { lanes } from "./lane.ts";
import { lookAgain } from "./look-again.ts";
import type { Needs } from "./needs.ts";
import { flag, integer, integerOrNull, type SqlRow, text, textOrNull } from "./row.ts";
import { readRun, runSelection } from "./run-row.ts";
import type { SqlResult, Statement } from "./session.ts";
import { withWorkflows } from "./workflows.ts";
import { changeKey, nameKey, type WorkingInstance, type WorkingSet } from "./working-set.ts";

export interface Loading {
  readonly statements: readonly Statement[];
  /** Throws when what was read does not fit together, because something moved while it waited for a lock. */
  fill(set: WorkingSet, results: readonly SqlResult[]): void;
}

export type Load = (needs: Needs) => Loading;

interface Read {
  readonly statement: Statement;
  readonly take: (set: WorkingSet, rows: readonly SqlRow[]) => void;
}

export function loads(dialect: Dialect): Load {
  const readers = [
    lockRuns(dialect),
    readExisting(dialect),
    readSteps(dialect),
    readEvents(dialect),
    readEventIds(dialect),
    readPublications(dialect),
    readChanges(dialect),
  ];
  return (needs) => {
    const reads = readers.flatMap((reader) => reader(needs) ?? []);
    return {
      statements: reads.map(({ statement }) => statement),
      fill(set, results) {
        for (const [n, { take }] of reads.entries()) take(set, results[n]?.rows ?? []);
        refuseHalfSeen(set, needs);
      },
    };
  };
}

/** An instance that was created between two of the reads would be there for one request and not for the next. */
function refuseHalfSeen(set: WorkingSet, { names }: Needs): void {
  for (const [key, ref] of names) {
    if (set.existing.has(key) && set.find(ref) === undefined) throw lookAgain();
  }
}

type Reader = (needs: Needs) => Read | undefined;

function lockRuns(dialect: Dialect): Reader {
  const { names } = dialect;
  const runs = dialect.parameters("v", ["run"]);
  const named = dialect.parameters("v", ["workflow", "instance_id"]);
  const topics = dialect.parameters("v", ["topic"]);
  const leased = `r.lane IN (${lanes.held}, ${lanes.heldPaused})`;
  const unfinished = "r.is_current = 1 AND r.status IN ('active', 'waiting', 'paused')";

  const wanted = (needs: Needs): Part[] => {
    const parts: Part[] = [];
    if (needs.runs.size > 0) {
      parts.push(around("SELECT v.run FROM ", runs([...needs.runs].map((run) => [run]))));
    }
    if (needs.names.size > 0) {
      const table = named([...needs.names.values()].map(refValues));
      parts.push(
        around(
          "SELECT i.run FROM ",
          table,
          ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id`,
        ),
      );
    }
    if (needs.publishes.length > 0) {
      const table = topics(unique(needs.publishes.map(({ topic }) => topic)).map((topic) => [topic]));
      parts.push(
        around("SELECT s.run FROM ", table, ` JOIN ${names.step} s ON s.topic = v.topic WHERE s.is_open = 1`),
      );
    }
    // An owner's runs may be of any workflow. Owners die rarely, so there is no index for it.
    for (const { owner, fate } of needs.abandons) {
      const which = fate.kind === "expire" ? leased : unfinished;
      const sql = `SELECT r.id AS run FROM known JOIN ${names.run} r ON r.workflow = known.workflow WHERE ${which} AND r.owner = ?`;
      parts.push({ sql, values: [owner] });
    }
    return parts;
  };

  return (needs) => {
    const parts = wanted(needs);
    if (parts.length === 0) return undefined;
    const { sql, values } = joined(parts, " UNION ");
    const head = needs.abandons.length === 0 ? "" : `${withWorkflows(names)} `;
    return {
      statement: {
        sql:
          `${head}${selectInOrder(dialect)} ${runSelection}, i.instance_id, i.retention_ms ` +
          `FROM ${sorted(dialect, sql, "run")} w ` +
          `JOIN ${names.run} r ON r.id = w.run JOIN ${names.instance} i ON i.id = r.instance ` +
          `ORDER BY r.id ${dialect.lock("r")}`,
        values,
      },
      take(set, rows) {
        const instances = new Map<number, WorkingInstance>();
        for (const row of rows) addRun(set, instances, row);
        // A row that is no longer its instance's current one was found by a name that has moved on meanwhile.
        for (const run of set.runs.values()) {
          const isNamed = needs.names.has(nameKey(run.instance));
          if (isNamed && !run.row.isCurrent && set.find(run.instance) === undefined) throw lookAgain();
        }
      },
    };
  };
}

function addRun(set: WorkingSet, instances: Map<number, WorkingInstance>, read: SqlRow): void {
  const row = readRun(read);
  const instance: WorkingInstance = instances.get(row.instance) ?? {
    id: row.instance,
    workflowName: row.workflow,
    instanceId: text(read, "instance_id"),
    retentionMs: integerOrNull(read, "retention_ms"),
    request: null,
    isMoved: false,
  };
  instances.set(row.instance, instance);
  set.add(row, instance, false);
}

/** Not locked: an id that is taken is answered without waiting for whoever writes to that run. */
function readExisting(dialect: Dialect): Reader {
  const { names } = dialect;
  const named = dialect.parameters("v", ["workflow", "instance_id"]);
  return ({ creates }) => {
    if (creates.size === 0) return undefined;
    return {
      statement: around(
        "SELECT i.workflow, i.instance_id, r.status, r.run_number FROM ",
        named([...creates.values()].map(refValues)),
        ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id` +
          ` JOIN ${names.run} r ON r.id = i.run`,
      ),
      take(set, rows) {
        for (const row of rows) {
          const ref = { workflowName: text(row, "workflow"), instanceId: text(row, "instance_id") };
          const status = text(row, "status") as InstanceStatus;
          set.existing.set(nameKey(ref), { status, runNumber: integer(row, "run_number") });
        }
      },
    };
  };
}

function readSteps(dialect: Dialect): Reader {
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

function readEvents(dialect: Dialect): Reader {
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

function readEventIds(dialect: Dialect): Reader {
  const { names } = dialect;
  const ids = dialect.parameters("v", ["id"]);
  const published = dialect.parameters("v", ["id", "topic"]);
  const select = "SELECT e.id, e.run, r.instance FROM ";
  const known = ` JOIN ${names.run} r ON r.id = e.run`;
  return ({ eventIds, publishes }) => {
    const parts: Part[] = [];
    if (eventIds.size > 0) {
      const rows = [...eventIds].map((id) => [id]);
      parts.push(around(select, ids(rows), ` JOIN ${names.event} e ON e.id = v.id${known}`));
    }
    if (publishes.length > 0) {
      const rows = publishes.map(({ id, topic }) => [id, topic]);
      const made =
        ` JOIN ${names.step} s ON s.topic = v.topic AND s.is_open = 1` +
        ` JOIN ${names.event} e ON e.id = concat(v.id, ':', s.run, ':', s.step_index)${known}`;
      parts.push(around(select, published(rows), made));
    }
    if (parts.length === 0) return undefined;
    return {
      statement: joined(parts, " UNION ALL "),
      take(set, rows) {
        for (const row of rows) {
          set.eventIds.set(text(row, "id"), { run: integer(row, "run"), instance: integer(row, "instance") });
        }
      },
    };
  };
}

function readPublications(dialect: Dialect): Reader {
  const { names } = dialect;
  const ids = dialect.parameters("v", ["id"]);
  return ({ publishes }) => {
    if (publishes.length === 0) return undefined;
    const rows = unique(publishes.map(({ id }) => id)).map((id) => [id]);
    return {
      statement: around(
        "SELECT p.id, p.waiters, p.runs FROM ",
        ids(rows),
        ` JOIN ${names.publication} p ON p.id = v.id`,
      ),
      take(set, found) {
        for (const row of found) {
          const runIds = readRunList(row, "runs");
          set.publications.set(text(row, "id"), { waiters: integer(row, "waiters"), runIds });
        }
      },
    };
  };
}

function readChanges(dialect: Dialect): Reader {
  const { names } = dialect;
  const ids = dialect.parameters("v", ["workflow", "instance_id", "id"]);
  return ({ changes }) => {
    if (changes.length === 0) return undefined;
    return {
      statement: around(
        "SELECT i.workflow, i.instance_id, c.id, c.outcome FROM ",
        ids(changes.map(({ ref, id }) => [...refValues(ref), id])),
        ` JOIN ${names.instance} i ON i.workflow = v.workflow AND i.instance_id = v.instance_id` +
          ` JOIN ${names.change} c ON c.instance = i.id AND c.id = v.id`,
      ),
      take(set, rows) {
        for (const row of rows) {
          const ref = { workflowName: text(row, "workflow"), instanceId: text(row, "instance_id") };
          const outcome = JSON.parse(text(row, "outcome")) as ChangeOutcome;
          set.changes.set(changeKey(ref, text(row, "id")), outcome);
        }
      },
    };
  };
}

function refValues(ref: { readonly workflowName: string; readonly instanceId: string }): RowValues {
  return [ref.workflowName, ref.instanceId];
}

function around(before: string, part: Part, after = ""): Part {
  return { sql: `${before}${part.sql}${after}`, values: part.values };
}

function joined(parts: readonly Part[], by: string): Part {
  return { sql: parts.map(({ sql }) => sql).join(by), values: parts.flatMap(({ values }) => values) };
}

function unique<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
}

/** Locks the rows of all runs a batch is about, and looks which of its new instances are there already. */
import type { InstanceStatus } from "../../../model/instance.ts";
import { nameKey } from "../../../store/apply/keys.ts";
import { lanes } from "../../../store/apply/lane.ts";
import type { Needs } from "../../../store/apply/needs.ts";
import type { WorkingInstance, WorkingSet } from "../../../store/apply/working-set.ts";
import { byKey, type Dialect, type Part, selectInOrder, sorted } from "../dialect.ts";
import { around, joined, refValues, unique } from "../part.ts";
import { withWorkflows } from "../reads/strands.ts";
import { integer, integerOrNull, type SqlRow, text } from "../rows/row.ts";
import { readRun, runSelection } from "../rows/run-row.ts";
import { lookAgain } from "../write/look-again.ts";
import type { Reader } from "./load.ts";

export function lockRuns(dialect: Dialect): Reader {
  return readRuns(dialect, dialect.lock("r"));
}

/** The same without a lock: for a look before it matters. */
export function glimpseRuns(dialect: Dialect): Reader {
  return readRuns(dialect, "");
}

function readRuns(dialect: Dialect, lock: string): Reader {
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
      const which = fate.kind === "error" ? unfinished : leased;
      const sql = `SELECT r.id AS run FROM known JOIN ${names.run} r ON r.workflow = known.workflow WHERE ${which} AND r.owner = ?`;
      // What else it holds is at work, and need not be locked.
      if (fate.kind === "release") parts.push({ sql: `${sql} AND r.token = ?`, values: [owner, fate.token] });
      else parts.push({ sql, values: [owner] });
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
          `JOIN ${byKey(dialect, names.run, "r")} ON r.id = w.run JOIN ${byKey(dialect, names.instance, "i")} ON i.id = r.instance ` +
          `ORDER BY r.id ${lock}`,
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
export function readExisting(dialect: Dialect): Reader {
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

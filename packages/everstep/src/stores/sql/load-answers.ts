/** What was answered before: publications and changes that are sent again get the same answer. */
import type { ChangeOutcome } from "../../store/store.ts";
import type { Dialect } from "./dialect.ts";
import { readRunList } from "./json-column.ts";
import type { Reader } from "./load.ts";
import { around, refValues, unique } from "./part.ts";
import { integer, text } from "./row.ts";
import { changeKey } from "./working-set.ts";

export function readPublications(dialect: Dialect): Reader {
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

export function readChanges(dialect: Dialect): Reader {
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

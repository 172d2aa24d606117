/** What was answered before: publications and changes that are sent again get the same answer. */
import { parseJson } from "../../../model/json.ts";

import { changeKey, publicationKey } from "../../../store/apply/keys.ts";
import type { ChangeOutcome } from "../../../store/store.ts";
import type { Dialect } from "../dialect.ts";
import { around, joined, refValues, unique } from "../part.ts";
import { idOf, isKey, publicationKey as storedPublicationKey } from "../rows/event-row.ts";
import { readRunList } from "../rows/json-column.ts";
import { integer, text } from "../rows/row.ts";
import type { Reader } from "./load.ts";

export function readPublications(dialect: Dialect): Reader {
  const { names } = dialect;
  const keys = dialect.parameters("v", ["id"]);
  const olderIds = dialect.parameters("v", ["id", "topic"]);
  const select = "SELECT p.id, p.topic, p.waiters, p.runs FROM ";
  return ({ publishes }) => {
    if (publishes.length === 0) return undefined;
    const wanted = unique(publishes.map((each) => storedPublicationKey(each, dialect.scopeOfTopic)));
    const known = around(
      select,
      keys(wanted.map((key) => [key])),
      ` JOIN ${names.publication} p ON p.id = v.id`,
    );
    const plain = publishes.filter(({ id }) => !isKey(id)).map(({ id, topic }) => [id, topic]);
    const olderOnes = ` JOIN ${names.publication} p ON p.id = v.id AND p.topic = v.topic`;
    const older = plain.length === 0 ? [] : [around(select, olderIds(plain), olderOnes)];
    return {
      statement: joined([known, ...older], " UNION ALL "),
      take(set, found) {
        for (const row of found) {
          const [id, topic] = [idOf(text(row, "id")), text(row, "topic")];
          const runIds = readRunList(row, "runs");
          set.publications.set(publicationKey({ topic, id }), { waiters: integer(row, "waiters"), runIds });
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
          const outcome = parseJson(text(row, "outcome")) as ChangeOutcome;
          set.changes.set(changeKey(ref, text(row, "id")), outcome);
        }
      },
    };
  };
}

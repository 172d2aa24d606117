/**
 * Topics, with how many wait on each now. The index has those too that were waited on at some time; one seek finds the next
 * topic, and those that wait now stand together behind it.
 */
import type { Dialect } from "../sql/dialect.ts";
import type { TableNames } from "../sql/table.ts";

export function topicList(names: TableNames): Dialect["listTopics"] {
  return async (database, { from, ascending, limit }) => {
    const order = ascending ? "ASC" : "DESC";
    const beyond = from === undefined ? "s.topic >= ''" : `s.topic ${ascending ? ">" : "<"} ?`;
    const [result] = await database.run([
      {
        sql: `SELECT t.topic, (
            SELECT count(*) FROM ${names.step} o FORCE INDEX (\`topic\`) WHERE o.topic = t.topic AND o.is_open = 1
          ) AS waiters
          FROM (
            SELECT s.topic FROM ${names.step} s FORCE INDEX (\`topic\`)
            WHERE ${beyond} GROUP BY s.topic ORDER BY s.topic ${order} LIMIT ?
          ) t
          ORDER BY t.topic ${order}`,
        values: [...(from === undefined ? [] : [from]), limit],
      },
    ]);
    return result?.rows ?? [];
  };
}

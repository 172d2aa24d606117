/** Topics that are waited on now, from an index that holds nothing else. */
import type { Dialect } from "../sql/dialect.ts";
import type { TableNames } from "../sql/table.ts";

export function topicListing(names: TableNames): Dialect["listTopics"] {
  return async (database, { from, ascending, limit }) => {
    const beyond = from === undefined ? "" : `AND s.topic ${ascending ? ">" : "<"} ?`;
    const [result] = await database.run([
      {
        sql: `SELECT s.topic, count(*) AS waiters FROM ${names.step} s
          WHERE s.is_open = 1 AND s.topic IS NOT NULL ${beyond}
          GROUP BY s.topic ORDER BY s.topic ${ascending ? "ASC" : "DESC"} LIMIT ?`,
        values: [...(from === undefined ? [] : [from]), limit],
      },
    ]);
    return result?.rows ?? [];
  };
}

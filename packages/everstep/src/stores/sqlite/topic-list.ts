/** Topics that are waited on now, from an index that holds nothing else. */
import type { Page, PageQuery, TopicSummary } from "../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../store/topic-cursor.ts";
import { page } from "../sql/position.ts";
import type { Connection } from "./connection.ts";
import { limited } from "./limit.ts";

export type ListTopics = (query: PageQuery) => Page<TopicSummary>;

export function topicList({ db, names }: Connection): ListTopics {
  const select = (beyond: string, direction: string) =>
    db.prepareTuples(
      `SELECT topic, count(*) FROM ${names.step} INDEXED BY ${names.step}_topic
       WHERE is_open = 1 AND topic IS NOT NULL AND topic ${beyond} ? GROUP BY topic ORDER BY topic ${direction} ${limited}`,
    );
  const statements = {
    first: { asc: select(">=", "ASC"), desc: select(">=", "DESC") },
    next: { asc: select(">", "ASC"), desc: select("<", "DESC") },
  };

  return ({ limit, after, order = "asc" }) => {
    const [statement, from] =
      after === undefined ? [statements.first[order], ""] : [statements.next[order], readTopicCursor(after)];
    const found = statement
      .all(from, limit + 1)
      .map((row) => ({ topic: row[0] as string, waiters: row[1] as number }));
    return page(
      found,
      limit,
      (summary) => summary,
      ({ topic }) => topicCursor(topic),
    );
  };
}

/** Topics that are waited on now. */

import { page } from "../../../store/position.ts";
import type { Page, PageQuery, TopicSummary } from "../../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../../store/topic-cursor.ts";
import { integer, type SqlRow, text } from "../rows/row.ts";
import type { ReadDialect } from "./dialect.ts";
import { ask, type Query, type Read, type Reading } from "./query.ts";

export type ListTopics = (query: PageQuery) => Read<Page<TopicSummary>>;

export function topicList(dialect: ReadDialect): ListTopics {
  const { allTopics } = dialect;
  return allTopics === undefined ? openTopics(dialect) : (query) => openAmong(allTopics, query);
}

/** From an index that holds nothing else. */
function openTopics({ names, limit: limited, through }: ReadDialect): ListTopics {
  const textOf = (beyond: ">=" | ">" | "<", order: "ASC" | "DESC"): string =>
    `SELECT s.topic, count(*) AS waiters FROM ${names.step} s ${through?.("step", "topic") ?? ""} ` +
    `WHERE s.is_open = 1 AND s.topic IS NOT NULL AND s.topic ${beyond} ? ` +
    `GROUP BY s.topic ORDER BY s.topic ${order} ${limited}`;
  const first = { asc: textOf(">=", "ASC"), desc: textOf(">=", "DESC") };
  const next = { asc: textOf(">", "ASC"), desc: textOf("<", "DESC") };
  return ({ limit, after, order = "asc" }): Query<Page<TopicSummary>> => {
    const from = after === undefined ? "" : readTopicCursor(after);
    const sql = (after === undefined ? first : next)[order];
    return {
      statements: [{ sql, values: [from, limit + 1] }],
      read: ([rows = []]) => page(rows, limit, readTopic, (row) => topicCursor(text(row, "topic"))),
    };
  };
}

const looksMax = 10;
const topicsPerLook = 1000;

/**
 * Where topics stay in the index when nobody waits on them any more, several looks may be needed to fill a page; they are
 * bounded, and a page that is not full then says where to go on.
 */
function* openAmong(
  allTopics: NonNullable<ReadDialect["allTopics"]>,
  { limit, after, order }: PageQuery,
): Reading<Page<TopicSummary>> {
  const perLook = Math.max(limit + 1, topicsPerLook);
  const found: TopicSummary[] = [];
  let from = after === undefined ? undefined : readTopicCursor(after);
  let isOver = false;
  for (let look = 1; look <= looksMax && !isOver && found.length <= limit; look += 1) {
    const statement = allTopics({ from, ascending: order !== "desc", limit: perLook });
    const topics = yield* ask({ statements: [statement], read: ([rows = []]) => rows.map(readTopic) });
    found.push(...topics.filter(({ waiters }) => waiters > 0));
    isOver = topics.length < perLook;
    from = topics.at(-1)?.topic ?? from;
  }
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1)?.topic : isOver ? undefined : from;
  return last === undefined ? { items } : { items, after: topicCursor(last) };
}

function readTopic(row: SqlRow): TopicSummary {
  return { topic: text(row, "topic"), waiters: integer(row, "waiters") };
}

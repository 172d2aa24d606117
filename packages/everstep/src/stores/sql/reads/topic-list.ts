/**
 * Topics that are waited on now. Where topics stay in the index when nobody waits on them any more, several looks may be
 * needed to fill a page; they are bounded, and a page that is not full then says where to go on.
 */
import type { Page, PageQuery, TopicSummary } from "../../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../../store/topic-cursor.ts";
import { integer, type SqlRow, text } from "../row.ts";
import type { Statement } from "../session.ts";
import type { ReadDialect, TopicListing } from "./dialect.ts";
import { ask, type Reading } from "./query.ts";

const looksMax = 10;
const topicsPerLook = 1000;

export type ListTopics = (query: PageQuery) => Reading<Page<TopicSummary>>;

export function topicList(dialect: ReadDialect): ListTopics {
  const { allTopics } = dialect;
  const select = allTopics ?? openTopics(dialect);
  return function* ({ limit, after, order }) {
    const wanted = limit + 1;
    const perLook = allTopics === undefined ? wanted : Math.max(wanted, topicsPerLook);
    const found: TopicSummary[] = [];
    let from = after === undefined ? undefined : readTopicCursor(after);
    let isOver = false;
    for (let look = 1; look <= looksMax && !isOver && found.length < wanted; look += 1) {
      const statement = select({ from, ascending: order !== "desc", limit: perLook });
      const topics = yield* ask({
        statements: [statement],
        read: ([rows = []]) => rows.map(readTopic),
      });
      found.push(...topics.filter(({ waiters }) => waiters > 0));
      isOver = topics.length < perLook;
      from = topics.at(-1)?.topic ?? from;
    }
    const items = found.slice(0, limit);
    const last = found.length > limit ? items.at(-1)?.topic : isOver ? undefined : from;
    return last === undefined ? { items } : { items, after: topicCursor(last) };
  };
}

/** From an index that holds nothing else. */
function openTopics(dialect: ReadDialect): (list: TopicListing) => Statement {
  const table = `${dialect.names.step} s ${dialect.through?.("step", "topic") ?? ""}`;
  return ({ from, ascending, limit }) => ({
    sql:
      `SELECT s.topic, count(*) AS waiters FROM ${table} WHERE s.is_open = 1 AND s.topic IS NOT NULL ` +
      `AND s.topic ${from === undefined ? ">=" : ascending ? ">" : "<"} ? ` +
      `GROUP BY s.topic ORDER BY s.topic ${ascending ? "ASC" : "DESC"} ${dialect.limit}`,
    values: [from ?? "", limit],
  });
}

function readTopic(row: SqlRow): TopicSummary {
  return { topic: text(row, "topic"), waiters: integer(row, "waiters") };
}

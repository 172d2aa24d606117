/**
 * Topics that are waited on now. Where topics stay in the index when nobody waits on them any more, several looks may be
 * needed to fill a page; they are bounded, and a page that is not full then says where to go on.
 */
import type { Store, TopicSummary } from "../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../store/topic-cursor.ts";
import type { Dialect } from "./dialect.ts";
import { integer, type SqlRow, text } from "./row.ts";
import type { Database } from "./session.ts";

const looksMax = 10;
const topicsPerLook = 1000;

export function topicList(database: Database, dialect: Dialect): Store["listTopics"] {
  return async ({ limit, after, order }) => {
    const wanted = limit + 1;
    const perLook = dialect.listsClosedTopics === true ? Math.max(wanted, topicsPerLook) : wanted;
    const found: TopicSummary[] = [];
    let from = after === undefined ? undefined : readTopicCursor(after);
    let isOver = false;
    for (let look = 1; look <= looksMax && !isOver && found.length < wanted; look += 1) {
      const list = { from, ascending: order !== "desc", limit: perLook };
      const topics = (await dialect.listTopics(database, list)).map(readTopic);
      found.push(...topics.filter(({ waiters }) => waiters > 0));
      isOver = topics.length < perLook;
      from = topics.at(-1)?.topic ?? from;
    }
    const items = found.slice(0, limit);
    const last = found.length > limit ? items.at(-1)?.topic : isOver ? undefined : from;
    return last === undefined ? { items } : { items, after: topicCursor(last) };
  };
}

function readTopic(row: SqlRow): TopicSummary {
  return { topic: text(row, "topic"), waiters: integer(row, "waiters") };
}

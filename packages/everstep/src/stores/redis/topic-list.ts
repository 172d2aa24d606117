/** Topics that are waited on now. */
import type { Page, PageQuery, TopicSummary } from "../../store/store.ts";
import { readTopicCursor, topicCursor } from "../../store/topic-cursor.ts";
import { Arguments } from "./arguments.ts";
import { pageOf } from "./place.ts";
import { integer, list, type Reply, text } from "./reply.ts";
import { addTopicsScript, listTopicsScript } from "./scripts/index.ts";
import type { Session } from "./session.ts";

export async function listTopics(session: Session, query: PageQuery): Promise<Page<TopicSummary>> {
  const { limit, after, order = "asc" } = query;
  const args = new Arguments()
    .add(order)
    .text(after === undefined ? undefined : readTopicCursor(after))
    .add(limit + 1);
  const read = (): Promise<Reply> => session.run(listTopicsScript, args.list, "reading");
  let reply = await read();
  if (reply === null) {
    await findTopics(session);
    reply = await read();
  }
  const page = pageOf(
    topicsOf(list(reply)),
    limit,
    (summary) => summary,
    ({ topic }) => topicCursor(topic),
  );
  // Left behind by a version that kept no list.
  return { ...page, items: page.items.filter(({ waiters }) => waiters > 0) };
}

function topicsOf(rows: readonly Reply[]): readonly TopicSummary[] {
  const topics: TopicSummary[] = [];
  for (let n = 0; n < rows.length; n += 2)
    topics.push({ topic: text(rows[n]), waiters: integer(rows[n + 1]) });
  return topics;
}

/**
 * Once, where the data is older than the list of topics: whatever begins to wait meanwhile is added by itself. All of it on
 * one connection: a node that the namespace has left in the meantime may not have shown all of its keys.
 */
async function findTopics(session: Session): Promise<void> {
  const prefix = `{${session.settings.namespace}}:topic:`;
  let asked: string;
  do {
    asked = session.sender;
    let cursor = "0";
    do {
      const [next, keys] = list(
        await session.command("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"),
      );
      await addTopics(
        session,
        list(keys).map((key) => text(key).slice(prefix.length)),
        false,
      );
      cursor = text(next);
    } while (cursor !== "0" && session.sender === asked);
  } while (session.sender !== asked);
  await addTopics(session, [], true);
}

async function addTopics(session: Session, topics: readonly string[], areAll: boolean): Promise<void> {
  const args = new Arguments().flag(areAll);
  args.each(topics, (topic) => args.add(topic));
  await session.run(addTopicsScript, args.list, "writing");
}

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

/** Once, where the data is older than the list of topics: whatever begins to wait meanwhile is added by itself. */
async function findTopics(session: Session): Promise<void> {
  const prefix = `{${session.settings.namespace}}:topic:`;
  let cursor = "0";
  do {
    const [next, keys] = list(await session.command("SCAN", cursor, "MATCH", `${prefix}*`, "COUNT", "1000"));
    cursor = text(next);
    const args = new Arguments().flag(cursor === "0");
    args.each(list(keys), (key) => args.add(text(key).slice(prefix.length)));
    await session.run(addTopicsScript, args.list, "writing");
  } while (cursor !== "0");
}

/**
 * Under which keys events and publications are kept, one space of keys for each of them: `~<scope>:<id>`. The scope of an
 * event is its instance, of an event that a publication made `p`, of a publication its topic. So the ids of one instance
 * or topic mean nothing to another, and no id that anybody gives makes a key of another scope.
 *
 * Rows of earlier versions have their ids as they were given. They are found by them, but only for what they belong to.
 */

export function sentKey(instance: number, id: string): string {
  return `~${instance}:${id}`;
}

/** The same as an expression. */
export const sentKeyText = (instance: string, id: string): string => `concat('~', ${instance}, ':', ${id})`;

export function publishedKey(publicationId: string, run: number, index: number): string {
  return `~p:${publicationId}:${run}:${index}`;
}

export const publishedKeyText = (publicationId: string, run: string, index: string): string =>
  `concat('~p:', ${publicationId}, ':', ${run}, ':', ${index})`;

/** Where a database has room for it, the topic itself. */
export function plainTopic(topic: string): string {
  return topic.replaceAll("%", "%25").replaceAll(":", "%3A");
}

export function publicationKey(
  { topic, id }: { readonly topic: string; readonly id: string },
  scopeOf: (topic: string) => string = plainTopic,
): string {
  return `~${scopeOf(topic)}:${id}`;
}

/** What it was called by whoever sent it. */
export function idOf(key: string): string {
  return isKey(key) ? key.slice(key.indexOf(":") + 1) : key;
}

export function isKey(text: string): boolean {
  return /^~[^:]*:/.test(text);
}

/** Where every view is. The state of a view is in its address, so that it can be shared. */
import type { WireRef } from "everstep/client";

export const links = {
  overview: "/",
  workflows: "/workflows",
  workflow: (name: string) => `/workflows/${encodeURIComponent(name)}`,
  instances: (query: Query = {}) => withQuery("/instances", query),
  instance: ({ workflowName, instanceId }: WireRef, query: Query = {}) =>
    withQuery(`/instances/${encodeURIComponent(workflowName)}/${encodeURIComponent(instanceId)}`, query),
  topics: (query: Query = {}) => withQuery("/topics", query),
  deadLetters: (query: Query = {}) => withQuery("/dead-letters", query),
} as const;

export type Query = Readonly<Record<string, string | number | null | undefined>>;

function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? path : `${path}?${text}`;
}

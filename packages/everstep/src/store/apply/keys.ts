/** One text for what several texts or numbers name together; different for different ones. */
import type { InstanceRef } from "../../model/instance.ts";

export function nameKey({ workflowName, instanceId }: InstanceRef): string {
  return `${workflowName.length} ${workflowName}${instanceId}`;
}

export function changeKey(ref: InstanceRef, id: string): string {
  return `${id.length} ${id}${nameKey(ref)}`;
}

/** Whether a key is one of `changeKey` for this instance. */
export function isChangeOf(key: string, ref: InstanceRef): boolean {
  const behindLength = key.indexOf(" ") + 1;
  return key.slice(behindLength + Number.parseInt(key, 10)) === nameKey(ref);
}

export interface EventName {
  /** Of the publication that made it; null when it was sent. */
  readonly topic: string | null;
  readonly id: string;
}

/** An id that somebody gave belongs to the instance: another one may have an event that is called the same. */
export function eventKey(instance: number, { topic, id }: EventName): string {
  return topic === null ? `${instance}:${id}` : `p:${id}`;
}

export function sent(id: string): EventName {
  return { topic: null, id };
}

/** What the event is called that a publication makes for a wait. */
export function publishedId(publicationId: string, run: number, index: number): string {
  return `${publicationId}:${run}:${index}`;
}

export function publicationKey({ topic, id }: { readonly topic: string; readonly id: string }): string {
  return `${topic.length} ${topic}${id}`;
}

/** Which event may end which wait. Topic events and the engine's own are addressed to a step; others go by their type. */
export interface SentEvent {
  readonly type: string | null;
  readonly forStep: string | null;
  readonly createdAt: number;
}

export interface OpenWait {
  readonly key: string;
  readonly eventType: string | null;
  readonly wakeAt: number;
}

/** An event that was created after the wait was over comes too late for it. */
export function endsWait(event: SentEvent, wait: OpenWait): boolean {
  if (event.createdAt > wait.wakeAt) return false;
  return event.forStep === null
    ? event.type !== null && event.type === wait.eventType
    : event.forStep === wait.key;
}

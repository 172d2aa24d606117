/** The events of a run, newest first, read again when the instance changed. */
import type { WireEvent } from "everstep/client";
import { useEffect, useRef, useState } from "react";
import { type Loaded, useLoaded } from "../../../api/use-loaded.ts";
import { isEnded } from "../../../words/statuses.ts";
import type { Live } from "../live.ts";

const pageSize = 50;
/** An event that no step takes changes nothing else about the instance. */
const lookMs = 3000;

export interface Events {
  readonly events: readonly WireEvent[];
  readonly hasMore: boolean;
}

export function useEvents(live: Live, run: number | null): Loaded<Events> & { more(): void } {
  const { instance, value, address } = live;
  const [pages, setPages] = useState(1);
  const version = useVersion(usePaced(value, 500));
  const runNumber = run ?? value.meta.runNumber;
  const loaded = useLoaded<Events>({
    everyMs: run === null && !isEnded(value.details.status) ? lookMs : undefined,
    name: `events ${address.workflowName}/${address.instanceId} ${runNumber} ${pages} ${run === null ? version : ""}`,
    load: async (signal) => {
      const events: WireEvent[] = [];
      let eventsCursor: string | undefined;
      for (let page = 0; page < pages; page++) {
        const at = eventsCursor === undefined ? {} : { eventsCursor };
        const answer = await instance.history({ runNumber, order: "desc", pageSize, signal, ...at });
        events.push(...answer.events);
        eventsCursor = answer.eventsCursor;
        if (!answer.eventsHasNextPage) return { events, hasMore: false };
      }
      return { events, hasMore: true };
    },
  });
  // What was there stays until the answer to the next question is here.
  const last = useRef<{ run: number; value: Events } | null>(null);
  if (loaded.value) last.current = { run: runNumber, value: loaded.value };
  const known = last.current?.run === runNumber ? last.current.value : undefined;
  return { ...loaded, value: loaded.value ?? known, more: () => setPages(pages + 1) };
}

/** Grows with every other value. */
function useVersion(value: unknown): number {
  const seen = useRef({ value, version: 0 });
  if (seen.current.value !== value) seen.current = { value, version: seen.current.version + 1 };
  return seen.current.version;
}

/** The latest of what changes often, but no more often than this. */
function usePaced<Value>(value: Value, leastMs: number): Value {
  const [shown, setShown] = useState(value);
  const shownAt = useRef(0);
  useEffect(() => {
    const show = (): void => {
      shownAt.current = Date.now();
      setShown(value);
    };
    const timer = setTimeout(show, Math.max(0, shownAt.current + leastMs - Date.now()));
    return () => clearTimeout(timer);
  }, [value, leastMs]);
  return shown;
}

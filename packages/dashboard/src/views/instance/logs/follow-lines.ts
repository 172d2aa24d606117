/** The lines that follow while somebody looks: over a stream if there is a place for one, else by asking from time to time. */
import type { WireLogLine, WireLogs } from "everstep/client";
import { whenSeen, whileSeen } from "../../../api/attention.ts";
import { changeCount } from "../../../api/changes.ts";
import { pause } from "../../../api/pause.ts";
import { isPassing, problemOf } from "../../../api/problem.ts";
import { slots } from "../../../api/stream-slots.ts";
import { isBefore } from "./log-lines.ts";

export interface Follower {
  open(signal: AbortSignal): AsyncIterable<WireLogLine>;
  /** A page of them, the newest first. */
  newest(cursor: string | undefined, signal: AbortSignal): Promise<WireLogs>;
  /** The instance has ended, so that few lines will follow. */
  isOver(): boolean;
  isWanted(line: WireLogLine): boolean;
  /** The id of the last one that is known. */
  last(): string | undefined;
  add(lines: readonly WireLogLine[]): void;
}

/** Lines that come quickly are shown together. */
const gatherMs = 100;
const askMs = { going: 2000, over: 5000 } as const;
/** Pages that are read at once to catch up. */
const pagesMax = 100;

export async function followLines(follower: Follower, leaving: AbortSignal): Promise<void> {
  while (!leaving.aborted) {
    await whenSeen(leaving);
    if (leaving.aborted) return;
    const since = changeCount();
    const seen = whileSeen(leaving);
    const streamed = follower.isOver() ? null : await slots.withSlot(() => stream(follower, seen));
    if (streamed === null) await catchUp(follower, leaving).catch(throwUnlessPassing);
    if (!seen.aborted) await pause(follower.isOver() ? askMs.over : askMs.going, since, leaving);
  }
}

/** Until the instance has ended or nobody looks. */
async function stream(follower: Follower, seen: AbortSignal): Promise<true> {
  let gathered: WireLogLine[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const show = (): void => {
    clearTimeout(timer);
    timer = undefined;
    follower.add(gathered);
    gathered = [];
  };
  try {
    for await (const line of follower.open(seen)) {
      if (!follower.isWanted(line)) continue;
      gathered.push(line);
      timer ??= setTimeout(show, gatherMs);
    }
  } catch (thrown) {
    if (!seen.aborted) throw thrown;
  } finally {
    show();
  }
  return true;
}

/** Everything after the last line that is known. */
async function catchUp(follower: Follower, leaving: AbortSignal): Promise<void> {
  const last = follower.last();
  const lines: WireLogLine[] = [];
  let cursor: string | undefined;
  for (let n = 0; n < pagesMax; n++) {
    const page = await follower.newest(cursor, leaving);
    const fresh = page.logs.filter(({ id }) => last === undefined || isBefore(last, id));
    lines.push(...fresh);
    cursor = page.cursor;
    if (fresh.length < page.logs.length || !page.hasNextPage || last === undefined) break;
  }
  if (lines.length > 0 && !leaving.aborted) follower.add(lines.toReversed());
}

/** What passes is tried again; that the service is away is said by the instance. */
function throwUnlessPassing(thrown: unknown): void {
  if (!isPassing(problemOf(thrown))) throw thrown;
}

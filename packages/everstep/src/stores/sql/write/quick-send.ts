/**
 * Events in one round trip: those for instances that are there and have not ended, whose ids are new and whose buffer
 * cannot be full. A database that can do that in one statement says which it has accepted; all others go the long way.
 */
import { StoreError } from "../../../model/error.ts";
import { afterPart } from "../../../store/after-part.ts";
import { nameKey } from "../../../store/apply/keys.ts";
import { lanes } from "../../../store/apply/lane.ts";
import type { Nudge, SendEventOutcome, SendEventRequest, StoreRequest } from "../../../store/store.ts";
import type { Database } from "../session.ts";
import type { Writes, Written } from "./write.ts";

/** Nobody holds the run, and it does not wait out a crash (`waitsOutCrash`): an event it waits for makes it due. */
export const canBeWoken: string = `r.lane IN (${lanes.resuming}, ${lanes.starting}) AND (r.status <> 'active' OR r.crash_count = 0)`;

/** One statement, committed by itself. One outcome per request, in order; null for one that it has left alone. */
export type SendQuickly = (
  database: Database,
  requests: readonly SendEventRequest[],
  now: number,
) => Promise<readonly (SendEventOutcome | null)[]>;

/**
 * Events that come together, before or behind the rest of their batch, are sent quickly. What is mixed any further is
 * applied as a whole, because nobody knows by their names which requests are about the same run.
 */
export function sendsFirst(send: SendQuickly, database: Database, write: Writes["write"]): Writes["write"] {
  const sendAll = async (requests: readonly SendEventRequest[], now: number): Promise<Written> => {
    const sent = await send(database, requests, now).catch((error: unknown) =>
      nothingIfBusy(error, requests),
    );
    const left = requests.filter((_request, n) => sent[n] === null);
    const news = { due: left.length < requests.length, changed: false, ended: false };
    if (left.length === 0) return { outcomes: sent as readonly SendEventOutcome[], news };
    if (!news.due) return write(requests, now);
    const later = await write(left, now).catch((error: unknown) => {
      throw afterPart(error);
    });
    const outcomes = later.outcomes.values();
    return {
      outcomes: sent.map((outcome) => outcome ?? (outcomes.next().value as SendEventOutcome)),
      news: either(news, later.news),
    };
  };
  const writeGroup = (group: readonly StoreRequest[], now: number): Promise<Written> =>
    areSends(group) ? sendAll(group, now) : write(group, now);

  return async (requests, now) => {
    if (!requests.some(isSend)) return write(requests, now);
    const [first, second, ...more] = grouped(requests);
    if (first === undefined || more.length > 0 || ![first, second ?? []].every(isSimple)) {
      return write(requests, now);
    }
    const before = await writeGroup(first, now);
    if (second === undefined) return before;
    const behind = await writeGroup(second, now).catch((error: unknown) => {
      throw afterPart(error);
    });
    return {
      outcomes: [...before.outcomes, ...behind.outcomes],
      news: either(before.news, behind.news),
    };
  };
}

/** Stretches of events, and of everything else. */
function grouped(requests: readonly StoreRequest[]): readonly (readonly StoreRequest[])[] {
  const groups: StoreRequest[][] = [];
  let last: StoreRequest | undefined;
  for (const request of requests) {
    if (last !== undefined && isSend(last) === isSend(request)) groups.at(-1)?.push(request);
    else groups.push([request]);
    last = request;
  }
  return groups;
}

/** Events for instances of their own under ids of their own; everything else takes care of itself. */
function isSimple(group: readonly StoreRequest[]): boolean {
  if (!areSends(group)) return true;
  const names = new Set(group.map(nameKey));
  const ids = new Set(group.map(({ id }) => id));
  return names.size === group.length && ids.size === group.length;
}

function areSends(group: readonly StoreRequest[]): group is readonly SendEventRequest[] {
  const [first] = group;
  return first !== undefined && isSend(first);
}

function isSend(request: StoreRequest): request is SendEventRequest {
  // What has something to log is a person's, and rare.
  return request.kind === "sendEvent" && request.logs === undefined;
}

/** Whoever is in somebody's way takes turns the long way. A key that is taken was free when it was looked for. */
function nothingIfBusy(error: unknown, requests: readonly SendEventRequest[]): readonly null[] {
  const isBusy =
    error instanceof StoreError && (error.failure === "conflict" || error.failure === "constraint");
  if (isBusy && error.details?.waited !== true) return requests.map(() => null);
  throw error;
}

function either(a: Nudge, b: Nudge): Nudge {
  return { due: a.due || b.due, changed: a.changed || b.changed, ended: a.ended || b.ended };
}

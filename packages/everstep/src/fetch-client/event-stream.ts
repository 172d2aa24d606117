/**
 * Events of the server, one connection after the other: when one drops, the next goes on after the last event. The first
 * is made like any other request, and fails like one. Later ones are tried for as long as somebody reads.
 */
import { EverstepError } from "../model/error.ts";
import { parseJson } from "../model/json.ts";
import { parse, problemOf } from "./answer.ts";
import type { Connection, OpenStream } from "./connection.ts";
import { Leash } from "./leash.ts";
import type { Call } from "./outgoing.ts";
import { isPassingStatus, retryDelayMs } from "./retries.ts";
import { type ServerEvent, SseParser } from "./sse-parser.ts";

export interface StreamCall extends Call {
  /** Told of each connection that dropped, before the next is made. */
  readonly onReconnect?: ((problem: EverstepError) => void) | undefined;
}

/** The server says something every 15 seconds; a connection that is silent for longer than this is dead. */
const silenceMsMax = 45_000;
const reconnectMs = 1000;
const reconnectMsMax = 30_000;

/** What `pick` makes of the events, `undefined` for those it has no use for. Ends with the event named `until`. */
export function streamOf<Item>(
  connection: Connection,
  call: StreamCall,
  pick: (event: ServerEvent) => Item | undefined,
  until?: string,
): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      const leash = new Leash(connection.runtime, call.signal);
      const items = pickFrom(readEvents(connection, call, leash), pick, until);
      const iterator: AsyncIterableIterator<Item> = {
        next: () => items.next(),
        // At once, even while somebody waits for the next event.
        return: async () => {
          leash.cut(stopped);
          leash.release();
          await items.return();
          return { done: true, value: undefined };
        },
        [Symbol.asyncIterator]: () => iterator,
      };
      return iterator;
    },
  };
}

/** The JSON of events of one type; nothing of others. */
export function readData<Item>(type: string): (event: ServerEvent) => Item | undefined {
  return (event) => {
    if (event.type !== type) return undefined;
    try {
      return parseJson(event.data) as Item;
    } catch (problem) {
      throw new EverstepError(
        "ANSWER_NOT_UNDERSTOOD",
        `The server sent an event "${type}" that is no JSON. Does something change its answers on their way?`,
        { cause: problem },
      );
    }
  };
}

/** Why a leash was cut when nobody reads any more. */
const stopped = new Error("Nobody reads the stream any more.");

async function* pickFrom<Item>(
  events: AsyncGenerator<ServerEvent, void, void>,
  pick: (event: ServerEvent) => Item | undefined,
  until: string | undefined,
): AsyncGenerator<Item, void, void> {
  for await (const event of events) {
    if (event.type === until) return;
    const item = pick(event);
    if (item !== undefined) yield item;
  }
}

async function* readEvents(
  connection: Connection,
  call: StreamCall,
  leash: Leash,
): AsyncGenerator<ServerEvent, void, void> {
  const state: StreamState = { lastEventId: "", retryMs: reconnectMs, failures: 0, hasBeenOpen: false };
  try {
    for (;;) {
      const dropped = yield* readConnection(connection, { ...call, signal: leash.signal }, state);
      if (dropped === null) return;
      call.onReconnect?.(dropped);
      if (!(await leash.pause(pauseMs(state, dropped, connection)))) throw leash.signal.reason;
    }
  } catch (problem) {
    if (leash.signal.reason !== stopped) throw problem;
  } finally {
    leash.release();
  }
}

interface StreamState {
  lastEventId: string;
  retryMs: number;
  /** Connections in a row on which nothing came. */
  failures: number;
  hasBeenOpen: boolean;
}

/** Until it drops, which it returns as the problem; null when the server says that there is nothing more. */
async function* readConnection(
  connection: Connection,
  call: StreamCall,
  state: StreamState,
): AsyncGenerator<ServerEvent, EverstepError | null, void> {
  let stream: OpenStream | null = null;
  try {
    state.failures++;
    stream = await connection.open(call, state.lastEventId, state.hasBeenOpen ? 0 : undefined);
    state.hasBeenOpen = true;
    if (!stream.body) return null;
    const problem = yield* readBody(stream.body, stream.leash, state);
    return problem ?? dropped("the server ended it");
  } catch (problem) {
    if (call.signal?.aborted) throw call.signal.reason;
    if (!state.hasBeenOpen || (problem instanceof EverstepError && !isPassing(problem))) throw problem;
    return problem instanceof EverstepError ? problem : brokenOff(problem);
  } finally {
    stream?.leash.cut(stopped);
    stream?.leash.release();
  }
}

/** Returns why the server ended it, if it said so. Whether that passes shows when the stream is opened again. */
async function* readBody(
  body: NonNullable<OpenStream["body"]>,
  leash: Leash,
  state: StreamState,
): AsyncGenerator<ServerEvent, EverstepError | null, void> {
  const parser = new SseParser({ lastEventId: state.lastEventId });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await leash.within(silenceMsMax, () => reader.read());
    if (done) return null;
    state.failures = 0;
    for (const event of parser.push(decoder.decode(value, { stream: true }))) {
      if (event.type === "problem") return problemOf(parse(event.data), {});
      state.lastEventId = event.id;
      yield event;
    }
    state.retryMs = parser.retryMs ?? state.retryMs;
  }
}

function pauseMs(
  { retryMs, failures }: StreamState,
  problem: EverstepError,
  { runtime }: Connection,
): number {
  const after = problem.details?.retryAfterMs;
  return retryDelayMs(failures + 1, typeof after === "number" ? after : null, {
    delayMs: retryMs,
    mostMs: reconnectMsMax,
    float: () => runtime.float(),
  });
}

function isPassing({ code, details }: EverstepError): boolean {
  return code === "CONNECTION_FAILED" || isPassingStatus(Number(details?.status));
}

function brokenOff(problem: unknown): EverstepError {
  return dropped(problem instanceof Error ? problem.message : String(problem), problem);
}

function dropped(why: string, cause?: unknown): EverstepError {
  return new EverstepError("CONNECTION_FAILED", `The stream broke off (${why}); it is opened again.`, {
    cause,
  });
}

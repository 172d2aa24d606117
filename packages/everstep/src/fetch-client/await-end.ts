import { parseDuration } from "../authoring/duration.ts";
import { EverstepError } from "../model/error.ts";
import { isTerminal } from "../model/instance.ts";
import type { Runtime } from "../model/runtime.ts";
import type { WireStatus } from "../wire/index.ts";
import type { CallOptions, ResultOptions } from "./call-options.ts";
import { Leash, TimeUp } from "./leash.ts";

export interface AwaitedInstance {
  look(options: CallOptions): Promise<WireStatus>;
  watch(options: CallOptions): AsyncIterable<WireStatus>;
}

/** How often is asked instead when the server has no place for one more stream. */
const pollMs = 2000;
const lastLookMs = 2000;

/** The status in which it ended, or with `timedOut` the one it had when the time was up. */
export async function awaitEnd(
  instance: AwaitedInstance,
  { timeout, signal, onReconnect }: ResultOptions,
  runtime: Runtime,
): Promise<WireStatus & { readonly timedOut: boolean }> {
  const timeoutMs = timeout === undefined ? null : parseDuration(timeout, "timeout of result");
  const leash = new Leash(runtime, signal);
  const timer = timeoutMs === null ? null : runtime.timer(() => leash.cut(timeIsUp), timeoutMs);
  let seen: WireStatus | null = null;
  try {
    for await (seen of statuses(instance, leash, onReconnect)) {
      if (isTerminal(seen.status)) return { ...seen, timedOut: false };
    }
    throw new EverstepError(
      "ANSWER_NOT_UNDERSTOOD",
      "The server ended the stream before the instance ended.",
    );
  } catch (problem) {
    if (leash.signal.reason !== timeIsUp) throw problem;
    const last = await lastLook(instance, seen, runtime, signal);
    return { ...last, timedOut: !isTerminal(last.status) };
  } finally {
    timer?.cancel();
    leash.release();
  }
}

/** Why a leash was cut when nobody wants to wait any longer. */
const timeIsUp = new Error("The time to wait for the result is up.");

/** Nobody waits long for it: whoever is out of reach was perhaps seen before. */
async function lastLook(
  instance: AwaitedInstance,
  seen: WireStatus | null,
  runtime: Runtime,
  signal: AbortSignal | undefined,
): Promise<WireStatus> {
  const leash = new Leash(runtime, signal);
  try {
    return await leash.within(lastLookMs, (each) => instance.look({ signal: each }));
  } catch (problem) {
    if (signal?.aborted || !seen) throw problem instanceof TimeUp ? noLastLook(problem) : problem;
    return seen;
  } finally {
    leash.release();
  }
}

function noLastLook(cause: TimeUp): EverstepError {
  return new EverstepError(
    "CONNECTION_FAILED",
    "The time was up, and the server did not say in time how the instance is. It goes on where it runs; ask again.",
    { cause },
  );
}

async function* statuses(
  instance: AwaitedInstance,
  leash: Leash,
  onReconnect: ResultOptions["onReconnect"],
): AsyncGenerator<WireStatus, void, void> {
  const options = { signal: leash.signal, onReconnect };
  try {
    yield* instance.watch(options);
  } catch (problem) {
    if (!(problem instanceof EverstepError) || problem.code !== "TOO_MANY_STREAMS") throw problem;
  }
  do yield await instance.look(options);
  while (await leash.pause(pollMs));
  throw leash.signal.reason;
}

import { instanceDeleted } from "../engine/instance-words.ts";
import type { InstanceResult } from "../handles/views.ts";
import { EverstepError, StoreError } from "../model/error.ts";
import { type InstanceRecord, type InstanceRef, isTerminal, type RunId } from "../model/instance.ts";
import type { Timer } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import { isRetryable } from "../runner/store-patience.ts";
import type { AppParts } from "./app-parts.ts";
import { statusView } from "./views.ts";

/** What is known of an instance because it was created here. */
export interface Creation {
  readonly runId: RunId;
  /** When that was heard. */
  readonly instant: object;
}

/** Waits for an instance to end: told at once when it ends in this process, by looking when in another. */
export function awaitEnd(
  ref: InstanceRef,
  timeoutMs: number | null,
  read: () => Promise<InstanceRecord>,
  { runtime, endings, endWatch, runner, instant }: AppParts,
  creation: Creation | null,
): Promise<InstanceResult> {
  return new Promise((resolve, reject) => {
    let timer: Timer | null = null;
    let over = false;
    const finish = (settle: () => void): void => {
      if (over) return;
      over = true;
      timer?.cancel();
      stopListening();
      stopWatching();
      settle();
    };
    /** Ends the wait if the instance has ended; a store that is out of reach is asked again with the next look. */
    const lookClosely = async (): Promise<void> => {
      try {
        const record = await read();
        if (isAnother(record, creation)) return finish(() => reject(instanceDeleted(ref)));
        if (isTerminal(record.status)) finish(() => resolve({ ...statusView(record), timedOut: false }));
      } catch (error) {
        if (!isRetryable(error)) finish(() => reject(error));
      }
    };
    /** The time is up: a last look, for which nobody waits long. */
    const giveUp = async (): Promise<void> => {
      try {
        const record = await withTimeout(runtime, lastLookMs, read());
        if (record === timedOut) throw noAnswer();
        const ended = isTerminal(record.status);
        finish(() => resolve({ ...statusView(record), timedOut: !ended }));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const stopListening = endings.listen(ref, {
      ended: (ended) => finish(() => resolve({ ...statusView(ended), timedOut: false })),
      deleted: () => finish(() => reject(instanceDeleted(ref))),
      stopped: () => finish(() => reject(stoppedWaiting(ref))),
    });
    const stopWatching = endWatch.watch({
      ref,
      isHere: () => creation !== null && runner.hasTurn(creation.runId),
      isNew: creation !== null && instant.is(creation.instant),
      seen: (status) => {
        if (status === undefined || isTerminal(status)) void lookClosely();
      },
      failed: (reason) => finish(() => reject(reason)),
    });
    if (timeoutMs !== null) timer = runtime.timer(() => void giveUp(), timeoutMs);
  });
}

/** Deleted meanwhile, and created again under the same id. */
function isAnother({ runId, runNumber }: InstanceRecord, creation: Creation | null): boolean {
  return creation !== null && runNumber === 1 && runId !== creation.runId;
}

const lastLookMs = 2000;

function noAnswer(): StoreError {
  return new StoreError(
    "unavailable",
    "STORE_UNAVAILABLE",
    "The time was up, and the store did not say in time how the instance is. It goes on where its workflow runs; ask again.",
  );
}

function stoppedWaiting(ref: InstanceRef): EverstepError {
  return new EverstepError(
    "APP_STOPPED",
    `The app was stopped while waiting for instance "${ref.instanceId}". Nothing is lost: it goes on where its workflow runs.`,
  );
}

import { EverstepError } from "../model/error.ts";
import { type InstanceRecord, type InstanceRef, isTerminal } from "../model/instance.ts";
import type { Timer } from "../model/runtime.ts";
import type { AppParts } from "./app-parts.ts";
import type { InstanceResult } from "./instance-handle.ts";
import { statusView } from "./views.ts";

/** Waits for an instance to end: told at once when it ends in this process, by looking when in another. */
export function awaitEnd(
  ref: InstanceRef,
  timeoutMs: number | null,
  read: () => Promise<InstanceRecord>,
  { runtime, endings, endWatch }: AppParts,
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
    /** Ends the wait if the instance has ended, or with `timedOut` in any case. */
    const lookClosely = async (timedOut: boolean): Promise<void> => {
      try {
        const record = await read();
        const ended = isTerminal(record.status);
        if (ended || timedOut) finish(() => resolve({ ...statusView(record), timedOut: !ended }));
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const stopListening = endings.listen(ref, {
      ended: (ended) => finish(() => resolve({ ...statusView(ended), timedOut: false })),
      stopped: () => finish(() => reject(stoppedWaiting(ref))),
    });
    const stopWatching = endWatch.watch({
      ref,
      seen: (status) => {
        if (status === undefined || isTerminal(status)) void lookClosely(false);
      },
      failed: (reason) => finish(() => reject(reason)),
    });
    if (timeoutMs !== null) timer = runtime.timer(() => void lookClosely(true), timeoutMs);
  });
}

function stoppedWaiting(ref: InstanceRef): EverstepError {
  return new EverstepError(
    "APP_STOPPED",
    `The app was stopped while waiting for instance "${ref.instanceId}". Nothing is lost: it goes on where its workflow runs.`,
  );
}

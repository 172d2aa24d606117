import { EverstepError } from "../model/error.ts";
import { type InstanceRecord, type InstanceRef, isTerminal } from "../model/instance.ts";
import type { Timer } from "../model/runtime.ts";
import type { AppParts } from "./app-parts.ts";
import type { InstanceResult } from "./instance-handle.ts";
import { statusView } from "./views.ts";

/**
 * Instances that end elsewhere are noticed by looking: often at first and then less so, and at a nudge where the store
 * gives them, so that looking is only for those that got lost.
 */
const lookMs = { first: 100, factor: 1.5, max: 1000, maxWithNudges: 10_000, afterNudge: 5 } as const;

/** Waits for an instance to end: told at once when it ends in this process, by a nudge or by looking when in another. */
export function awaitEnd(
  ref: InstanceRef,
  timeoutMs: number | null,
  read: () => Promise<InstanceRecord>,
  parts: AppParts,
): Promise<InstanceResult> {
  const { runtime, endings, nudges, reads } = parts;
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : runtime.now() + timeoutMs;
  return new Promise((resolve, reject) => {
    let timer: Timer | null = null;
    let delayMs: number = lookMs.first;
    let over = false;
    let looking = false;
    let nudged = false;
    const finish = (settle: () => void): void => {
      if (over) return;
      over = true;
      timer?.cancel();
      stopListening();
      stopHearing();
      settle();
    };
    // Many may have ended at once: those who wait for others look together, a moment later.
    const stopHearing = nudges.hear(({ ended }) => {
      if (!ended || over || nudged) return;
      nudged = true;
      if (!looking) again();
    });
    const stopListening = endings.listen(ref, {
      ended: (ended) => finish(() => resolve({ ...statusView(ended), timedOut: false })),
      stopped: () => finish(() => reject(stoppedWaiting(ref))),
    });
    const look = async (): Promise<void> => {
      looking = true;
      nudged = false;
      try {
        const status = await reads.getStatus(ref);
        const timedOut = runtime.now() >= deadline;
        if (status !== undefined && !isTerminal(status) && !timedOut) {
          if (!over) again();
          return;
        }
        const record = await read();
        const ended = isTerminal(record.status);
        if (ended || timedOut) finish(() => resolve({ ...statusView(record), timedOut: !ended }));
        else if (!over) again();
      } catch (error) {
        finish(() => reject(error));
      }
    };
    const again = (): void => {
      looking = false;
      timer?.cancel();
      const waitMs = nudged ? lookMs.afterNudge : delayMs;
      timer = runtime.timer(() => void look(), Math.max(0, Math.min(waitMs, deadline - runtime.now())));
      const maxMs = nudges.isListening ? lookMs.maxWithNudges : lookMs.max;
      if (!nudged) delayMs = Math.min(delayMs * lookMs.factor, maxMs);
    };
    void look();
  });
}

function stoppedWaiting(ref: InstanceRef): EverstepError {
  return new EverstepError(
    "APP_STOPPED",
    `The app was stopped while waiting for instance "${ref.instanceId}". Nothing is lost: it goes on where its workflow runs.`,
  );
}

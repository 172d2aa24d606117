import type { Store } from "../store/store.ts";
import type { NudgeWatch } from "./nudge-watch.ts";
import type { PollOptions } from "./poll-dispatcher.ts";

export interface PollSettings extends PollOptions {
  /** The longest interval where nobody tells what other processes do. */
  readonly maxPollMsUntold: number;
}

/**
 * Where other processes tell what they did, or where it can be seen, polling is only for what got lost. Elsewhere, or
 * while the connection that brings nudges is away, it is how their work is found, and may not become rare.
 */
export function pollOptionsOf(
  { pollMs, minPollMs, maxPollMs, maxPollMsUntold }: PollSettings,
  store: Pick<Store, "capabilities" | "changeMark">,
  nudges: Pick<NudgeWatch, "isListening">,
): PollOptions {
  const isAlone = !store.capabilities.shared.has;
  const isTold = (): boolean => isAlone || store.changeMark !== undefined || nudges.isListening;
  return {
    pollMs,
    minPollMs,
    get maxPollMs() {
      return isTold() ? maxPollMs : maxPollMsUntold;
    },
  };
}

/** What an instance waits for, in the order in which it will end. */
import type { WireStep } from "everstep/client";
import type { WaitKind } from "../../../words/common.ts";
import { timeOf } from "../../../words/time.ts";

export interface Wait {
  readonly kind: WaitKind;
  readonly step: WireStep;
  /** The event type or topic that is waited for. */
  readonly what: string | null;
  readonly until: number | null;
}

export function waitsOf(steps: readonly WireStep[]): readonly Wait[] {
  return steps
    .filter(({ status }) => status === "waiting")
    .map(waitOf)
    .sort((a, b) => (a.until ?? Number.POSITIVE_INFINITY) - (b.until ?? Number.POSITIVE_INFINITY));
}

/** The types somebody could send an event of now, each once. */
export function awaitedTypes(steps: readonly WireStep[]): readonly string[] {
  const types = waitsOf(steps).flatMap(({ kind, what }) => (kind === "event" && what !== null ? [what] : []));
  return [...new Set(types)];
}

function waitOf(step: WireStep): Wait {
  const at = step.nextRetryAt ?? step.wakeAt;
  const until = at === null ? null : timeOf(at);
  if (step.type === "sleep") return { kind: "sleep", step, what: null, until };
  if (step.type === "do") return { kind: "retry", step, what: null, until };
  if (step.topic !== null) return { kind: "topic", step, what: step.topic, until };
  return { kind: "event", step, what: step.waitEventType, until };
}

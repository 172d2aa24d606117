import { toStoredError } from "../authoring/stored-error.ts";
import type { AttemptEnd, ObservedAttempt, Observer } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import type { StepRecord } from "../model/step.ts";

interface AttemptPlace {
  readonly ref: { readonly workflowName: string; readonly instanceId: string; readonly runNumber: number };
  readonly runtime: Runtime;
  readonly observer: Observer;
}

interface AttemptBody {
  readonly call: { readonly key: string; readonly name: string };
  readonly start: number;
  readonly isTimedOut: boolean;
}

/** An attempt that somebody listens to, from its start to its end, which is told once. */
export class AttemptWatch {
  readonly #place: AttemptPlace;
  readonly #body: AttemptBody;
  readonly #attempt: ObservedAttempt;
  readonly #since: number;
  #isOver = false;

  constructor(place: AttemptPlace, body: AttemptBody) {
    const { call, start } = body;
    const { workflowName, instanceId, runNumber } = place.ref;
    this.#place = place;
    this.#body = body;
    this.#attempt = {
      ...{ workflowName, instanceId, runNumber },
      ...{ stepKey: call.key, stepName: call.name, attempt: start },
    };
    this.#since = place.runtime.monotonic();
    place.observer.onAttemptStart?.(this.#attempt);
  }

  settled(record: Pick<StepRecord, "status" | "errors">): void {
    if (record.status === "completed") return this.#end("completed", false, null);
    const outcome = this.#body.isTimedOut ? "timed-out" : "failed";
    this.#end(outcome, record.status === "waiting", record.errors.at(-1)?.error ?? null);
  }

  interrupted(reason: unknown): void {
    this.#end("interrupted", false, toStoredError(reason));
  }

  #end(outcome: AttemptEnd["outcome"], willRetry: boolean, error: AttemptEnd["error"]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { observer, runtime } = this.#place;
    const durationMs = runtime.monotonic() - this.#since;
    observer.onAttemptEnd?.(this.#attempt, { outcome, durationMs, willRetry, error });
  }
}

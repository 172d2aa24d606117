import { requestBytes } from "../model/bytes.ts";
import type { ObservedWrite } from "../model/observer.ts";
import type { StoreOutcome, StoreRequest } from "../model/request.ts";
import type { Entry, WriteSubject } from "./write-lane.ts";

/** A write as observers see it. There is one for every commit: what few of them ask for is worked out when they do. */
export class ObservedEntry implements ObservedWrite {
  readonly request: StoreRequest;
  readonly outcome: StoreOutcome | null;
  readonly error: unknown;
  readonly isUncertain: boolean;
  readonly together: number;
  readonly durationMs: number;
  readonly #of: WriteSubject | undefined;

  constructor(entry: Entry, outcome: StoreOutcome | null, error: unknown, monotonic: number) {
    this.request = entry.request;
    this.outcome = outcome;
    this.error = error;
    this.isUncertain = entry.uncertain;
    this.together = entry.together;
    this.durationMs = monotonic - entry.since;
    this.#of = entry.of ?? subjectOf(entry.request);
  }

  get workflowName(): string | null {
    return this.#of?.workflowName ?? null;
  }

  get instanceId(): string | null {
    return this.#of?.instanceId ?? null;
  }

  get runNumber(): number | null {
    const { outcome } = this;
    if (outcome?.kind === "created") return 1;
    return this.#of?.runNumber ?? (outcome && "runNumber" in outcome ? outcome.runNumber : null);
  }

  get bytes(): number {
    return requestBytes(this.request);
  }
}

function subjectOf(request: StoreRequest): WriteSubject | undefined {
  return "workflowName" in request ? request : undefined;
}

/**
 * The state machine of every store. Applies a batch of requests, in order, to the rows that a store has loaded
 * (`needsOf` says which) and gives one outcome each; the working set then says what to save. What a request changed is
 * seen by those behind it; one that is refused changes nothing. Pure: no clock, no I/O.
 */
import type { StoreOutcome, StoreRequest } from "../store.ts";
import { applyChange } from "./apply-change.ts";
import { applyCommit } from "./apply-commit.ts";
import { applyCreate } from "./apply-create.ts";
import { applyDelete } from "./apply-delete.ts";
import { applyPublish, applySendEvent } from "./apply-events.ts";
import { applyAbandon, applyWake } from "./apply-lease.ts";
import type { WorkingSet } from "./working-set.ts";

export function apply(set: WorkingSet, requests: readonly StoreRequest[], now: number): StoreOutcome[] {
  return requests.map((request) => applyOne(set, request, now));
}

/** The same for one. */
export function applyOne(set: WorkingSet, request: StoreRequest, now: number): StoreOutcome {
  switch (request.kind) {
    case "create":
      return applyCreate(set, request, now);
    case "commit":
      return applyCommit(set, request, now);
    case "sendEvent":
      return applySendEvent(set, request, now);
    case "publish":
      return applyPublish(set, request, now);
    case "change":
      return applyChange(set, request, now);
    case "delete":
      return applyDelete(set, request);
    case "wake":
      return applyWake(set, request, now);
    case "abandon":
      return applyAbandon(set, request, now);
  }
}

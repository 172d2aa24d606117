/**
 * Decides a batch: applies the requests in order to the rows that were read and gives one outcome each. What a request
 * changed is seen by those behind it; one that is refused changes nothing.
 */
import type { StoreOutcome, StoreRequest } from "../../store/store.ts";
import { planAbandon, planChange, planWake } from "./plan-change.ts";
import { planCommit } from "./plan-commit.ts";
import { planCreate } from "./plan-create.ts";
import { planPublish, planSendEvent } from "./plan-events.ts";
import type { WorkingSet } from "./working-set.ts";

export function plan(set: WorkingSet, requests: readonly StoreRequest[], now: number): StoreOutcome[] {
  return requests.map((request) => planOne(set, request, now));
}

function planOne(set: WorkingSet, request: StoreRequest, now: number): StoreOutcome {
  switch (request.kind) {
    case "create":
      return planCreate(set, request, now);
    case "commit":
      return planCommit(set, request, now);
    case "sendEvent":
      return planSendEvent(set, request, now);
    case "publish":
      return planPublish(set, request, now);
    case "change":
      return planChange(set, request, now);
    case "wake":
      return planWake(set, request, now);
    case "abandon":
      return planAbandon(set, request, now);
  }
}

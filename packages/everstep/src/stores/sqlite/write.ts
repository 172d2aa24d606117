/** One batch, one transaction, one answer per request. */
import { StoreError } from "../../model/error.ts";
import type { StoreOutcome, StoreRequest } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import { endings as createEndings } from "./endings.ts";
import { hotRows } from "./hot-row.ts";
import { MutationRefused, mutations } from "./mutations.ts";
import { runIds } from "./run-ids.ts";
import { steps as createSteps } from "./steps.ts";
import { changes } from "./write-change.ts";
import { commits } from "./write-commit.ts";
import { creates } from "./write-create.ts";
import { publishes, sendEvents } from "./write-events.ts";
import { abandons, wakes } from "./write-task.ts";

export type Write = (requests: readonly StoreRequest[], now: number) => readonly StoreOutcome[];

export function writes(connection: Connection): Write {
  const hot = hotRows(connection);
  const ids = runIds(connection);
  const steps = createSteps(connection);
  const endings = createEndings(connection, steps);
  const create = creates(connection, hot, ids, steps);
  const sendEvent = sendEvents(connection, hot, steps);
  const mutate = mutations(connection);
  const commit = commits(connection, { hot, steps, endings, create, sendEvent, mutate });
  const publish = publishes(connection, hot);
  const change = changes(connection, { hot, ids, steps, endings, create });
  const wake = wakes(connection, hot);
  const abandon = abandons(connection, hot, endings);

  // Each checks everything before it writes its first row, so a refusal leaves nothing behind.
  const apply = (request: StoreRequest, now: number): StoreOutcome => {
    switch (request.kind) {
      case "create":
        return create(request, now);
      case "commit":
        return commit(request, now);
      case "sendEvent":
        return sendEvent(request, now);
      case "publish":
        return publish(request, now);
      case "change":
        return change(request, now);
      case "wake":
        return wake(request, now);
      case "abandon":
        return abandon(request, now);
    }
  };

  return (requests, now) => {
    if (requests.length === 0) return [];
    refuseSharedMutations(requests);
    try {
      return connection.transact(() => {
        ids.reserve(countNewRuns(requests));
        return requests.map((request) => apply(request, now));
      });
    } catch (error) {
      if (error instanceof MutationRefused) return [error.outcome];
      throw error;
    }
  };
}

function countNewRuns(requests: readonly StoreRequest[]): number {
  let count = 0;
  for (const request of requests) {
    if (request.kind === "create") count += 1;
    if (request.kind === "change" && request.change.kind === "restart") count += 1;
    if (request.kind === "commit" && request.alongside.length > 0)
      for (const each of request.alongside) count += each.kind === "create" ? 1 : 0;
    if ((request.kind === "commit" || request.kind === "change") && request.announce) count += 1;
  }
  return count;
}

/** Author code that fails rolls its transaction back; nobody else's request may be in it. */
function refuseSharedMutations(requests: readonly StoreRequest[]): void {
  if (requests.length === 1) return;
  if (requests.some((request) => request.kind === "commit" && request.mutations !== null)) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations shares its write with other requests; write it alone.",
    );
  }
}

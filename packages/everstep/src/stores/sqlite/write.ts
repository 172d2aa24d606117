/**
 * One batch, one transaction, one answer per request. Each request is loaded, applied by the state machine (store/apply)
 * and saved before the next is looked at: a statement costs microseconds here, and what is plain needs no read at all.
 */
import { StoreError } from "../../model/error.ts";
import { applyOne } from "../../store/apply/apply.ts";
import { passFence } from "../../store/apply/apply-commit.ts";
import { WorkingSet } from "../../store/apply/working-set.ts";
import type { CommitRequest, CreateRequest, StoreOutcome, StoreRequest } from "../../store/store.ts";
import type { Connection } from "./connection.ts";
import { loads } from "./load.ts";
import { MutationRefused, mutations } from "./mutations.ts";
import { quickCommits } from "./quick-commit.ts";
import { quickSends } from "./quick-send.ts";
import { runIds } from "./run-ids.ts";
import { runRows } from "./run-rows.ts";
import { savers, saves } from "./save.ts";

export type Write = (requests: readonly StoreRequest[], now: number) => readonly StoreOutcome[];

export function writes(connection: Connection): Write {
  const ids = runIds(connection);
  const rows = runRows(connection);
  const parts = savers(connection);
  const load = loads(connection, rows);
  const save = saves(connection, rows, parts);
  const mutate = mutations(connection);
  const commitQuickly = quickCommits(connection, parts);
  const sendQuickly = quickSends(connection);

  /** As if its name were free; if it is not, nothing is saved. */
  const createQuickly = (request: CreateRequest, now: number): StoreOutcome | null => {
    const set = new WorkingSet(ids.take);
    const outcome = applyOne(set, request, now);
    return save(set) ? outcome : null;
  };

  /** Null when it takes a look to know. */
  const applyQuickly = (request: StoreRequest, now: number): StoreOutcome | null => {
    if (request.kind === "commit") return commitQuickly(request, now);
    if (request.kind === "sendEvent") return sendQuickly(request, now);
    return request.kind === "create" ? createQuickly(request, now) : null;
  };

  /** An author's code does not run for a commit that is lost, or was applied before. */
  const mutateFor = (set: WorkingSet, request: CommitRequest): void => {
    if (request.mutations === null || passFence(set, request).kind !== "passed") return;
    mutate(request.mutations);
  };

  const apply = (request: StoreRequest, now: number): StoreOutcome => {
    const quick = applyQuickly(request, now);
    if (quick !== null) return quick;
    const set = new WorkingSet(ids.take);
    load(set, request);
    if (request.kind === "commit") mutateFor(set, request);
    const outcome = applyOne(set, request, now);
    save(set);
    return outcome;
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

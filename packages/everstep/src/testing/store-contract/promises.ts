/**
 * Every promise of the store contract. Where its types leave a choice, the cases hold all stores to one reading:
 *
 * - A repeated commit is answered by what is true now: `paused` while paused, `timeoutsRefused` while the wait is still
 *   open, and `superseded` when it wanted to end the run but a pause dropped that end.
 * - `dueAt` of a record is null when the run has ended, or is paused and held by nobody; `executing` is the lease itself,
 *   in force or run out.
 * - `waitingSince` is over with the claim; a lease that ran out during a pause stays one, and its claim counts a crash.
 * - An event sent twice is answered before anything else is looked at; the engine's own events are never refused.
 * - Log levels and categories are matched exactly. Steps, events and log lines are listed oldest first by default.
 * - A cursor is given only when there is more; one that is not the store's own fails with INVALID_CURSOR.
 * - A commit with mutations that is not alone fails its whole write with MUTATION_INVALID. A closed store fails every call
 *   with STORE_CLOSED. Reading a run that is not there gives nothing.
 * - A change that was refused left no trace: its id may be tried again, and is judged anew.
 * - An owner that let go of its hold in an orderly way is not dead.
 */
import { alongsideCases } from "./alongside.ts";
import { batchCases } from "./batches.ts";
import { beatCases } from "./beats.ts";
import type { CaseGroup } from "./case.ts";
import { changeIdCases } from "./change-ids.ts";
import { claimCases } from "./claim.ts";
import { claimOrderCases } from "./claim-order.ts";
import { commitCases } from "./commit.ts";
import { concurrencyCases } from "./concurrency.ts";
import { crashCases } from "./crash.ts";
import { createCases } from "./create.ts";
import { deleteCases } from "./delete.ts";
import { dueCases } from "./due.ts";
import { eventIdCases } from "./event-ids.ts";
import { eventWakeCases } from "./event-wakes.ts";
import { eventCases } from "./events.ts";
import { fencingCases } from "./fencing.ts";
import { fidelityCases } from "./fidelity.ts";
import { filterCases } from "./filters.ts";
import { historyCases } from "./histories.ts";
import { leaseCases } from "./lease.ts";
import { lifecycleCases } from "./lifecycle.ts";
import { listingCases } from "./listing.ts";
import { logCases } from "./logs.ts";
import { migrateCases } from "./migrate.ts";
import { mutationCases } from "./mutations.ts";
import { nudgeCases } from "./nudges.ts";
import { ownershipCases } from "./ownership.ts";
import { pauseCases } from "./pause.ts";
import { pruneCases } from "./prune.ts";
import { referenceCases } from "./reference.ts";
import { repeatedCommitCases } from "./repeated-commits.ts";
import { restartCases } from "./restart.ts";
import { retryFailedStepCases } from "./retry-failed-step.ts";
import { topicListCases } from "./topic-list.ts";
import { topicCases } from "./topics.ts";
import { transactionCases } from "./transactions.ts";
import { undeliveredCases } from "./undelivered.ts";
import { waitTimeoutCases } from "./wait-timeouts.ts";
import { waiterListCases } from "./waiter-list.ts";

/** In the order in which a new store is best built. */
export const storePromises: readonly CaseGroup[] = [
  { title: "create", cases: createCases },
  { title: "claim", cases: claimCases },
  { title: "claim order", cases: claimOrderCases },
  { title: "concurrency", cases: concurrencyCases },
  { title: "commit", cases: commitCases },
  { title: "repeated commits", cases: repeatedCommitCases },
  { title: "alongside", cases: alongsideCases },
  { title: "batches", cases: batchCases },
  { title: "histories", cases: historyCases },
  { title: "fencing", cases: fencingCases },
  { title: "lease", cases: leaseCases },
  { title: "crash", cases: crashCases },
  { title: "events", cases: eventCases },
  { title: "event wakes", cases: eventWakeCases },
  { title: "wait timeouts", cases: waitTimeoutCases },
  { title: "event ids", cases: eventIdCases },
  { title: "undelivered events", cases: undeliveredCases },
  { title: "topics", cases: topicCases },
  { title: "waiter list", cases: waiterListCases },
  { title: "lifecycle", cases: lifecycleCases },
  { title: "pause and resume", cases: pauseCases },
  { title: "restart", cases: restartCases },
  { title: "retry failed step", cases: retryFailedStepCases },
  { title: "change ids", cases: changeIdCases },
  { title: "logs", cases: logCases },
  { title: "listing", cases: listingCases },
  { title: "filters", cases: filterCases },
  { title: "due", cases: dueCases },
  { title: "topic list", cases: topicListCases },
  { title: "prune", cases: pruneCases },
  { title: "delete", cases: deleteCases },
  { title: "fidelity", cases: fidelityCases },
  { title: "mutations", cases: mutationCases },
  { title: "transactions", cases: transactionCases },
  { title: "migrate", cases: migrateCases },
  { title: "nudges", cases: nudgeCases },
  { title: "ownership", cases: ownershipCases },
  { title: "beats", cases: beatCases },
  { title: "reference", cases: referenceCases },
];

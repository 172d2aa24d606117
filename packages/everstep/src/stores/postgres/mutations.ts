/** Runs authors' writes inside the commit's transaction. Whatever goes wrong in them undoes the commit, and only that. */
import { EverstepError, StoreError } from "../../model/error.ts";
import type { Mutations } from "../../model/mutations.ts";
import { MutationRefused } from "../sql/mutation-refused.ts";
import type { RunMutations } from "../sql/write.ts";
import { isLost } from "./connections.ts";
import type { DriverClient, PostgresClient } from "./driver.ts";
import { isServerTrouble, isUniqueViolation, storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { authorsPlans, ownPlansAgain } from "./plan-settings.ts";
import { guard } from "./transaction-handle.ts";

export function mutations(settings: PostgresSettings): RunMutations {
  return async (tx, given) => {
    const client = tx.client as PostgresClient & DriverClient;
    const guarded = guard(client);
    const plan = settings.pooling.isPooled ? () => {} : planning(client);
    try {
      plan(authorsPlans);
      const db = settings.handle(guarded.client);
      for (const mutation of inOrder(given)) await mutation(db);
    } catch (error) {
      throw isLost(client) || isServerTrouble(error) || error instanceof StoreError
        ? storeFailure(error, settings.place, "before")
        : new MutationRefused(isUniqueViolation(error), error);
    } finally {
      guarded.revoke();
    }
    await requireGoodTransaction(client, guarded.failure);
    plan(ownPlansAgain);
  };
}

/** Goes out ahead of what comes next, at no round trip of its own; where it fails, so does that. */
function planning(client: DriverClient): (text: string) => void {
  return (text) => void client.query({ text }).catch(() => {});
}

function inOrder({ serviceCalls, mutate }: Mutations) {
  return [...serviceCalls, ...mutate];
}

/** A statement that failed spoils the whole transaction, also when the author's code caught the error. */
async function requireGoodTransaction(
  client: DriverClient,
  failure: { readonly error: unknown } | undefined,
): Promise<void> {
  if ((client.getTransactionStatus?.() ?? "T") === "I") throw new MutationRefused(false, endedTransaction());
  if (failure === undefined) return;
  // Unless a savepoint of the author's own saved it.
  await client.query({ text: "SELECT 1" }).catch(() => {
    throw new MutationRefused(isUniqueViolation(failure.error), failure.error);
  });
}

function endedTransaction(): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    "A mutation ended the transaction it ran in; the step was not recorded. Leave BEGIN, COMMIT and ROLLBACK to the store.",
  );
}

/** Runs authors' writes inside the commit's transaction. Whatever goes wrong in them undoes the commit, and only that. */
import { EverstepError, StoreError } from "../../model/error.ts";
import type { Mutations } from "../../model/mutations.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { RunMutations } from "../sql/write/write.ts";
import { isLost } from "./connections.ts";
import type { DriverClient, PostgresClient } from "./driver.ts";
import { errorCode, isServerTrouble, isUniqueViolation, storeFailure } from "./failures.ts";
import type { PostgresSettings } from "./options.ts";
import { authorsPlans, ownPlansAgain } from "./plan-settings.ts";
import { guard } from "./transaction-handle.ts";

export function mutations(settings: PostgresSettings): RunMutations {
  return async (tx, given) => {
    const client = tx.client as PostgresClient & DriverClient;
    const guarded = guard(client);
    /** Trouble of the server is not the author's doing: it stays a failure of the store, which may be tried again. */
    const refusal = (error: unknown): Error =>
      isLost(client) || isServerTrouble(error) || error instanceof StoreError
        ? storeFailure(error, settings.place, "before")
        : new MutationRefused(isUniqueViolation(error), error);
    const send = sendingAhead(client);
    const plan = settings.pooling.isPooled ? () => {} : send;
    try {
      // It vanishes with the transaction it was made in: if it is still there, so is the transaction.
      send("SAVEPOINT everstep_mutations");
      plan(authorsPlans);
      const db = settings.handle(guarded.client);
      for (const mutation of inOrder(given)) await mutation(db);
    } catch (error) {
      throw refusal(error);
    } finally {
      guarded.revoke();
    }
    await requireGoodTransaction(client, guarded.failure, refusal);
    plan(ownPlansAgain);
  };
}

const noSuchSavepoint = "3B001";

/** Goes out ahead of what comes next, at no round trip of its own; where it fails, so does that. */
function sendingAhead(client: DriverClient): (text: string) => void {
  return (text) => void client.query({ text }).catch(() => {});
}

function inOrder({ serviceCalls, mutate }: Mutations) {
  return [...serviceCalls, ...mutate];
}

/** A statement that failed spoils the whole transaction, also when the author's code caught the error. */
async function requireGoodTransaction(
  client: DriverClient,
  failure: { readonly error: unknown } | undefined,
  refusal: (error: unknown) => Error,
): Promise<void> {
  if ((client.getTransactionStatus?.() ?? "T") === "I") throw new MutationRefused(false, endedTransaction());
  await client.query({ text: "RELEASE SAVEPOINT everstep_mutations" }).catch((error: unknown) => {
    if (errorCode(error) === noSuchSavepoint) throw new MutationRefused(false, endedTransaction());
    // Unless a savepoint of the author's own saved it.
    throw failure === undefined
      ? refusal(error)
      : new MutationRefused(isUniqueViolation(failure.error), failure.error);
  });
}

function endedTransaction(): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    "A mutation ended the transaction it ran in; the step was not recorded, but what the mutation wrote may have been. " +
      "Leave BEGIN, COMMIT and ROLLBACK to the store.",
  );
}

/** Runs authors' writes inside the commit's transaction. Whatever goes wrong in them undoes the commit, and only that. */
import { EverstepError, StoreError } from "../../model/error.ts";
import type { Transaction } from "../sql/session.ts";
import { MutationRefused } from "../sql/write/refusals.ts";
import type { RunMutations } from "../sql/write/write.ts";
import type { Connection } from "./connections.ts";
import { isServerTrouble, isUniqueViolation, storeFailure } from "./failures.ts";
import type { MysqlSettings } from "./options.ts";
import { guard } from "./transaction-handle.ts";

export function mutations(settings: MysqlSettings): RunMutations {
  return async (tx, { serviceCalls, mutate }) => {
    // It vanishes with the transaction it was made in: if it is still there, so is the transaction.
    await tx.run([{ sql: "SAVEPOINT everstep_mutations", values: [] }]);
    const connection = tx.client as Connection;
    const { client, revoke } = guard(connection, settings.statementTimeoutMs);
    try {
      const handle = settings.handle(client);
      for (const mutation of [...serviceCalls, ...mutate]) await mutation(handle);
    } catch (error) {
      throw refusal(error, connection, settings);
    } finally {
      revoke();
    }
    await requireTransaction(tx);
  };
}

/** Trouble of the server is not the author's doing: it stays a failure of the store, which may be tried again. */
function refusal(error: unknown, connection: Connection, { place }: MysqlSettings): Error {
  if (isUniqueViolation(error)) return new MutationRefused(true, error);
  if (connection.isLost || isServerTrouble(error)) return asStoreError(error, place);
  return new MutationRefused(false, error);
}

function asStoreError(error: unknown, place: string): StoreError {
  const failure = storeFailure(error, place, "before");
  if (failure instanceof StoreError) return failure;
  return new StoreError("unavailable", "STORE_UNAVAILABLE", `${place} closed the connection.`, {
    cause: error,
  });
}

async function requireTransaction(tx: Transaction): Promise<void> {
  try {
    await tx.run([{ sql: "RELEASE SAVEPOINT everstep_mutations", values: [] }]);
  } catch (error) {
    if (!(error instanceof StoreError) || error.details?.code !== "ER_SP_DOES_NOT_EXIST") throw error;
    throw new MutationRefused(
      false,
      new EverstepError(
        "MUTATION_INVALID",
        "A mutation ended the transaction it ran in; the step was not recorded, but what the mutation wrote may have been. " +
          "Leave COMMIT and ROLLBACK to the store, also inside procedures.",
        { cause: error },
      ),
    );
  }
}

/** Runs authors' writes inside the commit's transaction. Whatever goes wrong in them undoes the commit, and only that. */
import type { Transaction } from "../session.ts";
import { MutationRefused } from "../write/refusals.ts";
import type { RunMutations } from "../write/write.ts";

/** It vanishes with the transaction it was made in: if it is still there, so is the transaction. */
export const savepoint = "everstep_mutations";

export interface AuthorsWrites<Connection, Client> {
  /** What mutations receive, made of what the server's driver has. */
  readonly handle: (client: Client) => unknown;
  /** Marks the transaction with the savepoint. */
  begin(tx: Transaction, connection: Connection): Promise<AuthorsAccess<Client>>;
  isUniqueViolation(error: unknown): boolean;
  /** Trouble of the server is not the author's doing: it stays a failure of the store, which may be tried again. */
  trouble(error: unknown, connection: Connection): Error | undefined;
}

export interface AuthorsAccess<Client> {
  readonly client: Client;
  revoke(): void;
  /** Throws unless the savepoint is still there. */
  end(refusal: (error: unknown) => Error): Promise<void>;
}

export function authorsWrites<Connection, Client>(kind: AuthorsWrites<Connection, Client>): RunMutations {
  return async (tx, { serviceCalls, mutate }) => {
    const connection = tx.client as Connection;
    const refusal = (error: unknown): Error =>
      kind.trouble(error, connection) ?? new MutationRefused(kind.isUniqueViolation(error), error);
    const access = await kind.begin(tx, connection);
    try {
      const handle = kind.handle(access.client);
      for (const mutation of [...serviceCalls, ...mutate]) await mutation(handle);
    } catch (error) {
      throw refusal(error);
    } finally {
      access.revoke();
    }
    await access.end(refusal);
  };
}

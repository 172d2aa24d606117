/** The transaction's connection as authors' mutations see it: they read and write rows, and the store does the rest. */
import { EverstepError } from "../../model/error.ts";
import type { Connection } from "./connections.ts";
import type { MysqlClient } from "./driver.ts";
import { errorCode, isConnectionLost } from "./failures.ts";
import { bareText, isOneStatement, keepsTransaction } from "./statement-text.ts";

export interface GuardedClient {
  readonly client: MysqlClient;
  /** Called once the mutations have run: a client that was kept must not write into somebody else's transaction. */
  revoke(): void;
}

export function guard(connection: Connection, timeoutMs: number): GuardedClient {
  let inForce = true;
  let undone: unknown;

  const ask = (method: "query" | "execute") => async (query: unknown, values?: unknown) => {
    if (!inForce) throw refused("was used after the mutation had returned");
    // The server has taken everything back: what comes now would be kept on its own.
    if (undone !== undefined) throw undone;
    const options = typeof query === "object" && query !== null ? query : { sql: query };
    refuseControl("sql" in options ? options.sql : undefined);
    try {
      return await connection.client[method]({
        timeout: timeoutMs,
        ...options,
        ...(values === undefined ? {} : { values }),
      });
    } catch (error) {
      if (isConnectionLost(error)) connection.destroy();
      if (endsTransaction(error)) undone = error;
      throw error;
    }
  };

  return {
    client: { query: ask("query"), execute: ask("execute") },
    revoke: () => {
      inForce = false;
    },
  };
}

/** A deadlock takes the whole transaction back, not only the statement. */
function endsTransaction(error: unknown): boolean {
  const number = errorCode(error)?.number;
  return number === 1213 || number === 1020;
}

function refuseControl(sql: unknown): void {
  if (typeof sql !== "string") throw refused("needs a statement as text");
  const bare = bareText(sql);
  if (!isOneStatement(bare)) throw refused("takes one statement at a time");
  if (!keepsTransaction(bare)) throw refused(`must not run ${JSON.stringify(sql.trim().slice(0, 40))}`);
}

function refused(what: string): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    `A mutation's connection ${what}. The store begins and ends the transaction; only read and write rows through it.`,
  );
}

/** A client as authors' mutations see it: the driver's own, without the ways to end the transaction or the connection. */
import { EverstepError } from "../../model/error.ts";
import type { PostgresClient } from "./driver.ts";

export interface TransactionHandle {
  readonly client: PostgresClient;
  /** What the last statement failed with, if one did. */
  readonly failure: { readonly error: unknown } | undefined;
  /** Called once the mutations have run: a client that was kept must not write outside the transaction. */
  revoke(): void;
}

const forbidden: ReadonlySet<PropertyKey> = new Set(["connect", "end", "release"]);
const leadingComments = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;
const transactionControl =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

export function guard(given: PostgresClient): TransactionHandle {
  let inForce = true;
  let failure: { readonly error: unknown } | undefined;

  const query = (...values: readonly unknown[]): unknown => {
    refuseTransactionControl(values[0]);
    const answer: unknown = Reflect.apply(given.query, given, values);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        failure = { error };
      });
    }
    return answer;
  };

  const client = new Proxy(given, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...values: readonly unknown[]) => {
        if (!inForce) throw refused("was used after the mutation was over");
        if (forbidden.has(name)) throw refused(`must not call ${String(name)}()`);
        return name === "query" ? query(...values) : member.apply(target, values);
      };
    },
  });
  return {
    client,
    get failure() {
      return failure;
    },
    revoke: () => {
      inForce = false;
    },
  };
}

function refuseTransactionControl(given: unknown): void {
  const sql = typeof given === "string" ? given : (given as { readonly text?: unknown } | null)?.text;
  if (typeof sql !== "string") return;
  const statement = sql.replace(leadingComments, "");
  if (transactionControl.test(statement)) throw refused(`must not run "${statement.slice(0, 40)}"`);
}

function refused(what: string): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    `A mutation's database client ${what}. The store begins and ends the transaction; only read and write through it.`,
  );
}

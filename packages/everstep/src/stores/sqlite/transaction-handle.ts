/** The database as authors' mutations see it: the library's own object, without the ways to end the transaction. */
import { EverstepError } from "../../model/error.ts";

export interface TransactionHandle {
  readonly handle: object;
  /** Called once the mutations have run: a handle that was kept must not write outside a transaction. */
  revoke(): void;
}

const forbidden: ReadonlySet<PropertyKey> = new Set(["close", "open", "deserialize", Symbol.dispose]);
const leadingComments = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;
const transactionControl = /^(?:begin|commit|end|rollback(?!\s+(?:transaction\s+)?to\b))\b/i;

export function guard(database: object): TransactionHandle {
  let inForce = true;
  const handle = new Proxy(database, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...values: readonly unknown[]) => {
        if (!inForce) throw refused("was used after the mutation had returned");
        if (forbidden.has(name)) throw refused(`must not call ${String(name)}()`);
        if (typeof values[0] === "string") refuseTransactionControl(values[0]);
        // The library's methods accept only its own object as `this`.
        return member.apply(target, values);
      };
    },
  });
  return {
    handle,
    revoke: () => {
      inForce = false;
    },
  };
}

function refuseTransactionControl(sql: string): void {
  const statement = sql.replace(leadingComments, "");
  if (transactionControl.test(statement)) throw refused(`must not run "${statement.slice(0, 40)}"`);
}

function refused(what: string): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    `A mutation's database handle ${what}. The store begins and ends the transaction; only read and write through it.`,
  );
}

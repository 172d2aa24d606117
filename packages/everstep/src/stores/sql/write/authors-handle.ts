/** The database as authors' mutations see it: the driver's own object, without the ways to end the transaction. */
import { EverstepError } from "../../../model/error.ts";

export interface HandleRules {
  /** What the author was given: "connection". */
  readonly what: string;
  /** Methods that end the transaction or the connection. */
  readonly forbidden: readonly PropertyKey[];
  /** Statements that do; given without the comments before them. */
  readonly control: RegExp;
  /** Methods that take a statement; where it is left out, all that are given a text. */
  readonly asking?: readonly PropertyKey[];
  /** What a method does instead of what it would. */
  readonly instead?: Readonly<Record<PropertyKey, (...given: readonly unknown[]) => unknown>>;
}

export interface AuthorsHandle<Handle> {
  readonly handle: Handle;
  /** Called once the mutations have run: a handle that was kept must not write outside of the transaction. */
  revoke(): void;
}

export function authorsHandle<Handle extends object>(
  given: Handle,
  rules: HandleRules,
): AuthorsHandle<Handle> {
  const { what, forbidden, control, asking, instead } = rules;
  let inForce = true;
  const handle = new Proxy(given, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return (...values: readonly unknown[]) => {
        if (!inForce) throw handleRefused(what, usedTooLate);
        if (forbidden.includes(name)) throw handleRefused(what, `must not call ${String(name)}()`);
        if (asking?.includes(name) ?? true) {
          const statement = statementOf(values[0]).replace(leadingComments, "");
          if (control.test(statement)) throw handleRefused(what, `must not run "${statement.slice(0, 40)}"`);
        }
        // The driver's methods accept only its own object as `this`.
        return (instead?.[name] ?? member).apply(target, values);
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

const leadingComments = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** As text, or in an object as some drivers take it. */
function statementOf(given: unknown): string {
  const sql = typeof given === "string" ? given : (given as { readonly text?: unknown } | null)?.text;
  return typeof sql === "string" ? sql : "";
}

export const usedTooLate = "was used after the mutation had returned";

export function handleRefused(handle: string, what: string): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    `A mutation's ${handle} ${what}. The store begins and ends the transaction; only read and write through it.`,
  );
}

export function endedTransaction(advice: string, cause?: unknown): EverstepError {
  return new EverstepError(
    "MUTATION_INVALID",
    `A mutation ended the transaction it ran in; the step was not recorded${advice}`,
    cause === undefined ? {} : { cause },
  );
}

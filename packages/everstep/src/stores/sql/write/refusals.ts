/** What rolls a transaction back for what the author wrote in it. */
import { StoreError } from "../../../model/error.ts";
import type { CommitOutcome } from "../../../store/store.ts";

/** Thrown to roll the transaction back; carries the answer. */
export class MutationRefused extends Error {
  readonly outcome: CommitOutcome & { readonly kind: "mutation-failed" };

  constructor(conflict: boolean, error: unknown) {
    super("The author's mutations were refused.");
    this.outcome = { kind: "mutation-failed", conflict, error };
  }
}

/**
 * COMMIT itself was refused for what the transaction had written, as by a constraint that is checked only then. The
 * store's own tables have no such rules, so it is about rows of the author.
 */
export class CommitRefused extends StoreError {
  /** Somebody else has taken a key. */
  readonly isTaken: boolean;

  constructor({ failure, code, message, cause, details }: StoreError, isTaken: boolean) {
    super(failure, code, message, { cause, ...(details === undefined ? {} : { details }) });
    this.isTaken = isTaken;
  }
}

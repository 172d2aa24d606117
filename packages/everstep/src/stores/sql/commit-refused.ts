import { StoreError } from "../../model/error.ts";

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

import type { CommitOutcome } from "../../store/store.ts";

/** Thrown to roll the transaction back; carries the answer. */
export class MutationRefused extends Error {
  readonly outcome: CommitOutcome & { readonly kind: "mutation-failed" };

  constructor(conflict: boolean, error: unknown) {
    super("The author's mutations were refused.");
    this.outcome = { kind: "mutation-failed", conflict, error };
  }
}

import type { Turn } from "../engine/turn.ts";
import type { CommitOutcome, CommitRequest } from "../model/request.ts";
import type { StoreOutcome } from "../store/store.ts";
import { Entry } from "./write-lane.ts";

export interface CommitListener {
  /** The lease is still held. */
  isWanted(commit: SentCommit): boolean;
  committed(commit: SentCommit, outcome: CommitOutcome): void;
}

/** A turn's commit on its way. No promise and no closure of its own: there is one for every step. */
export class SentCommit extends Entry {
  declare readonly request: CommitRequest;
  readonly turn: Turn;
  readonly #listener: CommitListener;

  constructor(request: CommitRequest, turn: Turn, since: number, listener: CommitListener) {
    super(request, turn.ref, since);
    this.turn = turn;
    this.#listener = listener;
  }

  isWanted(): boolean {
    return this.#listener.isWanted(this);
  }

  resolve(outcome: StoreOutcome): void {
    try {
      this.#listener.committed(this, outcome as CommitOutcome);
    } catch (problem) {
      // Whatever is wrong with this turn, the others of the same write are waiting for their answers.
      this.turn.commitFailed(problem);
    }
  }

  reject(error: unknown): void {
    this.turn.commitFailed(error);
  }
}

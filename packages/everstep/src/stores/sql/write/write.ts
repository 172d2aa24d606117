/** A batch of requests: read under lock, decided in memory, written and committed. Two round trips. */
import { StoreError } from "../../../model/error.ts";
import type { Mutations } from "../../../model/mutations.ts";
import { apply } from "../../../store/apply/apply.ts";
import { passFence } from "../../../store/apply/apply-commit.ts";
import { type Needs, needsOf } from "../../../store/apply/needs.ts";
import { WorkingSet } from "../../../store/apply/working-set.ts";
import type { Nudge, StoreOutcome, StoreRequest } from "../../../store/store.ts";
import type { Dialect } from "../dialect.ts";
import { glimpses, type Load, loads } from "../load/load.ts";
import type { Database, Session, Statement, Transaction } from "../session.ts";
import { isTakenForGood, lookAgain, repeatedly } from "./look-again.ts";
import { CommitRefused, MutationRefused } from "./refusals.ts";
import type { RunIds } from "./run-ids.ts";
import { type Save, saves } from "./save.ts";

export interface Written {
  readonly outcomes: readonly StoreOutcome[];
  /** What other processes should be told. */
  readonly news: Nudge;
}

export interface Writes {
  write(requests: readonly StoreRequest[], now: number): Promise<Written>;
  /** In a transaction that is the caller's to commit. */
  writeWithin(session: Session, requests: readonly StoreRequest[], now: number): Promise<Written>;
}

/** Runs the author's code in the transaction; throws MutationRefused when that fails. */
export type RunMutations = (tx: Transaction, mutations: Mutations) => Promise<void>;

export function writes(
  database: Database,
  dialect: Dialect,
  ids: RunIds,
  runMutations: RunMutations,
): Writes {
  const load = loads(dialect);
  const glimpse = glimpses(dialect);
  const save = saves(dialect);
  // Ids come first: whoever waited for them with a connection in hand could keep everybody from getting one.
  const beginBatch = async (requests: readonly StoreRequest[], now: number): Promise<Batch> => {
    const needs = needsOf(requests);
    const free = needs.newRuns === 0 ? [] : await ids.take(needs.newRuns);
    return new Batch({ requests, now, needs, free, save });
  };
  // What an author's code met may be its own rows: the same commit, sent twice, was applied by the other meanwhile.
  const answerIfLost = (batch: Batch): Promise<Written | undefined> =>
    repeatedly(() =>
      database.transact(async (tx) => {
        const set = await batch.read(tx, load);
        return batch.passesFence(set) ? undefined : batch.decide(set).written;
      }),
    );
  return {
    async write(requests, now) {
      if (requests.length === 0) return nothing;
      const mutations = mutationsOf(requests);
      const batch = await beginBatch(requests, now);
      try {
        return await repeatedly(() =>
          database.transact(async (tx) => {
            // Before the run is locked: authors take their time, and events and renewals shall not wait for them.
            const mutates = mutations !== null && batch.passesFence(await batch.read(tx, glimpse));
            if (mutates) await runMutations(tx, mutations);
            const set = await batch.read(tx, load);
            const passes = mutations !== null && batch.passesFence(set);
            const { written, statements } = batch.decide(set);
            if (passes !== mutates) throw passes ? lookAgain() : new LostMeanwhile(written);
            await tx.commit(statements).catch((error: unknown) => {
              throw mutates && error instanceof CommitRefused
                ? new MutationRefused(error.isTaken, error.cause)
                : error;
            });
            return written;
          }),
        );
      } catch (error) {
        if (error instanceof MutationRefused) {
          return (await answerIfLost(batch)) ?? { ...nothing, outcomes: [error.outcome] };
        }
        if (error instanceof LostMeanwhile) return error.written;
        if (isTakenForGood(error)) ids.leaveBlock();
        throw error;
      } finally {
        ids.giveBack(batch.unused);
      }
    },

    async writeWithin(session, requests, now) {
      if (requests.length === 0) return nothing;
      const batch = await beginBatch(requests, now);
      try {
        return await repeatedly(() =>
          withinSavepoint(session, async () => {
            const { written, statements } = batch.decide(await batch.read(session, load));
            if (statements.length > 0) await session.run(statements);
            return written;
          }),
        );
      } catch (error) {
        if (isTakenForGood(error)) ids.leaveBlock();
        throw error;
      } finally {
        ids.giveBack(batch.unused);
      }
    },
  };
}

/** Thrown to roll back what the author wrote for a commit that was lost while they did; carries the answer. */
class LostMeanwhile extends Error {
  readonly written: Written;

  constructor(written: Written) {
    super("The lease was lost while the author's mutations ran.");
    this.written = written;
  }
}

const nothing: Written = { outcomes: [], news: { due: false, changed: false, ended: false } };

/** One batch, decided as often as it takes. */
class Batch {
  readonly #facts: BatchFacts;
  /** Ids of runs that no decision has used; the others must not be used again, whatever became of them. */
  unused: readonly number[];

  constructor(facts: BatchFacts) {
    this.#facts = facts;
    this.unused = facts.free;
  }

  async read(session: Session, load: Load): Promise<WorkingSet> {
    const { needs, free } = this.#facts;
    const { statements, fill } = load(needs);
    const results = statements.length === 0 ? [] : await session.run(statements);
    const left = [...free];
    this.unused = left;
    const set = new WorkingSet(() => left.shift() as number);
    fill(set, results);
    return set;
  }

  /** An author's code does not run for a commit that is lost, or was applied before. */
  passesFence(set: WorkingSet): boolean {
    const [request] = this.#facts.requests;
    return request?.kind === "commit" && passFence(set, request).kind === "passed";
  }

  decide(set: WorkingSet): { readonly written: Written; readonly statements: readonly Statement[] } {
    const { requests, now, save } = this.#facts;
    const outcomes = apply(set, requests, now);
    const { due, changed, ended } = set.news;
    return { written: { outcomes, news: { due, changed, ended } }, statements: save(set) };
  }
}

interface BatchFacts {
  readonly requests: readonly StoreRequest[];
  readonly now: number;
  readonly needs: Needs;
  readonly free: readonly number[];
  readonly save: Save;
}

/** What fails inside leaves the caller's transaction as it was before. */
async function withinSavepoint<Result>(session: Session, act: () => Promise<Result>): Promise<Result> {
  await session.run([{ sql: "SAVEPOINT everstep_write", values: [] }]);
  try {
    const result = await act();
    await session.run([{ sql: "RELEASE SAVEPOINT everstep_write", values: [] }]);
    return result;
  } catch (error) {
    await session.run([{ sql: "ROLLBACK TO SAVEPOINT everstep_write", values: [] }]);
    throw error;
  }
}

/** Author code that fails rolls its transaction back; nobody else's request may be in it. */
function mutationsOf(requests: readonly StoreRequest[]): Mutations | null {
  const found = requests.flatMap((request) =>
    request.kind === "commit" && request.mutations !== null ? [request.mutations] : [],
  );
  if (found.length === 0) return null;
  if (requests.length > 1) {
    throw new StoreError(
      "invalid",
      "MUTATION_INVALID",
      "A commit with mutations shares its write with other requests; write it alone.",
    );
  }
  return found[0] ?? null;
}

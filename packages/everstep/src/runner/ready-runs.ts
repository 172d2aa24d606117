import type { Turn } from "../engine/turn.ts";
import { claimBytes } from "../model/bytes.ts";
import type { RunId } from "../model/instance.ts";
import type { Claim, ReturnedLease } from "../model/lease.ts";
import type { Runtime } from "../model/runtime.ts";
import { historyBytes } from "../store/history-bytes.ts";
import type { RunHistory, RunRead, Store } from "../store/store.ts";
import { HistoryReads } from "./history-reads.ts";
import type { Residents } from "./residents.ts";
import type { ReturnedLeases } from "./returned-leases.ts";
import { retryAfterMs } from "./store-patience.ts";
import type { TurnMemory } from "./turn-memory.ts";
import { confirmation } from "./unfit.ts";

/** A claimed run with everything its turn begins with. */
export interface Ready {
  readonly claim: Claim;
  readonly history: RunHistory;
  /** The turn it was suspended in, if that is still here. */
  readonly resident: Turn | undefined;
  /** The monotonic time before the lease was handed out. */
  readonly since: number;
}

export interface ReadyRunsParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly residents: Residents;
  readonly memory: TurnMemory;
  readonly returned: ReturnedLeases;
  /** It is given up, not tried again. */
  readonly isOver: (claim: Claim) => boolean;
  readonly onProblem: (problem: unknown) => void;
}

/** Gets claimed runs ready for their turns: with their histories, and confirmed where their runners died. */
export class ReadyRuns {
  readonly #parts: ReadyRunsParts;
  readonly #histories: HistoryReads;

  constructor(parts: ReadyRunsParts) {
    this.#parts = parts;
    this.#histories = new HistoryReads(parts);
  }

  /** Without those whose histories could not be read, which are given back. */
  async read(claims: readonly Claim[], since: number): Promise<readonly Ready[]> {
    const { residents, memory, returned, isOver } = this.#parts;
    const taken = claims.map((claim) => ({ claim, resident: residents.take(claim) }));
    // One that is given up may have a history that kills whoever reads it.
    const reads = taken.flatMap(({ claim, resident }) =>
      isOver(claim) ? [] : (readFor(claim, resident) ?? []),
    );
    const histories = new Map<RunId, RunHistory>();
    const room = memory.free - claims.reduce((bytes, claim) => bytes + claimBytes(claim), 0);
    const { read, failed, problem } = await this.#histories.read(reads, room);
    const givenBack = ({ lease }: Claim): ReturnedLease => {
      const retryAt = failed.get(lease.runId);
      return retryAt === undefined ? lease : { ...lease, retryAt };
    };
    if (problem !== undefined) {
      void returned.give(claims.map(givenBack));
      throw problem;
    }
    for (const history of read) if (history.kind !== "unread") histories.set(history.runId, history);
    const asked = new Set(reads.map(({ runId }) => runId));
    const isMissing = ({ lease: { runId } }: Claim): boolean => asked.has(runId) && !histories.has(runId);
    // To begin such a run as if it had no history would do everything again.
    await returned.give(claims.filter(isMissing).map(givenBack));
    const ready = taken
      .filter(({ claim }) => !isMissing(claim))
      .map(({ claim, resident }) => {
        const history = histories.get(claim.lease.runId) ?? emptyHistory(claim);
        return { claim, history, resident, since };
      });
    memory.claimed(ready.map(readyBytes));
    return ready;
  }

  /** A run whose runners died is begun only once the store knows that this one holds it: if it dies too, that counts. */
  async confirm(read: readonly Ready[]): Promise<readonly Ready[]> {
    const { store, runtime, returned, isOver, onProblem } = this.#parts;
    const isDoubtful = ({ claim, history }: Ready): boolean =>
      claim.crashCount > 0 && !isOver(claim) && history.kind !== "unreadable";
    const doubtful = read.filter(isDoubtful);
    if (doubtful.length === 0) return read;
    try {
      const outcomes = await store.write(
        doubtful.map(({ claim }) => confirmation(claim)),
        runtime.now(),
      );
      const held = new Set(doubtful.filter((_each, n) => outcomes[n]?.kind === "committed"));
      await returned.give(doubtful.flatMap((each) => (held.has(each) ? [] : [each.claim.lease])));
      return read.flatMap((each) => {
        if (!isDoubtful(each)) return [each];
        return held.has(each) ? [{ ...each, claim: { ...each.claim, confirmed: true as const } }] : [];
      });
    } catch (failure) {
      onProblem(failure);
      // Those that nothing is wrong with need not wait for the others.
      const retryAt = runtime.now() + Math.ceil(retryAfterMs(failure, 1, runtime));
      await returned.give(doubtful.map(({ claim }) => ({ ...claim.lease, retryAt })));
      return read.filter((each) => !isDoubtful(each));
    }
  }
}

export function emptyHistory(claim: Claim): RunHistory {
  return { kind: "history", runId: claim.lease.runId, steps: [], events: [] };
}

function readyBytes({ claim, history, resident }: Ready): number {
  return (resident === undefined ? claimBytes(claim) : resident.bytes) + historyBytes(history);
}

/** A run that never started has nothing to read, a resident one only what was sent meanwhile. */
function readFor(claim: Claim, resident: Turn | undefined): RunRead | null {
  const { runId } = claim.lease;
  const seen = resident?.eventSeq ?? 0;
  const steps = resident === undefined && !claim.fresh;
  return steps || claim.eventSeq > seen ? { runId, steps, eventsAfter: seen } : null;
}

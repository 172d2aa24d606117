import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import type { Turn } from "../engine/turn.ts";
import { claimBytes } from "../model/bytes.ts";
import type { RunId } from "../model/instance.ts";
import { type Claim, type Lease, leaseEnd, newToken, type ReturnedLease } from "../model/lease.ts";
import { defaultLimits } from "../model/limits.ts";
import type { Observer } from "../model/observer.ts";
import type { Runtime } from "../model/runtime.ts";
import { historyBytes } from "../store/history-bytes.ts";
import type { RunHistory, RunRead, Store } from "../store/store.ts";
import { type CaredFor, careFor, isSuspect } from "./crash-care.ts";
import { HistoryReads } from "./history-reads.ts";
import { observedClaim } from "./observed-turn.ts";
import type { Outages } from "./outages.ts";
import type { Residents } from "./residents.ts";
import { mayHaveApplied, type ReturnedLeases } from "./returned-leases.ts";
import { retryAfterMs } from "./store-patience.ts";
import type { TurnMemory } from "./turn-memory.ts";
import { confirmation, isGivenUp } from "./unfit.ts";

/** A claimed run with everything its turn begins with. */
export interface Ready {
  readonly claim: Claim;
  readonly history: RunHistory;
  /** The turn it was suspended in, if that is still here. */
  readonly resident: Turn | undefined;
  /** The monotonic time before the lease was handed out. */
  readonly since: number;
}

export interface ClaimerParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  readonly residents: Residents;
  readonly memory: TurnMemory;
  readonly owner: string;
  readonly leaseMs: number;
  readonly returned: ReturnedLeases;
  readonly outages: Outages;
  /** How many runs that may kill their process have their turn here. */
  readonly suspects: () => number;
  readonly observer: Observer;
  readonly onProblem: (problem: unknown) => void;
}

export interface Claimed<Begun> {
  /** When it looked. */
  readonly at: number;
  /** There may be more: as many were found as were asked for, or some were given back for want of memory. */
  readonly isMore: boolean;
  readonly begun: readonly Begun[];
}

/** A due run that a claim did not get is looked for again after so long, and ever later. */
const missedMsMin = 20;
const missedMsMax = 500;

/** Gets due runs from the store, with one batched read for those whose turns are not in memory. */
export class Claimer {
  readonly #parts: ClaimerParts;
  /** Runs that may kill their process and are about to begin. */
  #suspectsTaken = 0;
  readonly #histories: HistoryReads;
  /** Looks in a row that saw a due run though no claim got it. */
  #missed = 0;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    this.#histories = new HistoryReads(parts);
  }

  /** Begins at most `limit` due runs. */
  async claim<Begun>(limit: number, begin: (ready: Ready) => Begun): Promise<Claimed<Begun>> {
    const { runtime } = this.#parts;
    const since = runtime.monotonic();
    const at = runtime.now();
    if (limit <= 0) return { at, isMore: false, begun: [] };
    const claims = await this.#ask(limit, at);
    if (claims.length === 0) return { at, isMore: false, begun: [] };
    const { observer } = this.#parts;
    if (observer.onClaim) for (const claim of claims) observer.onClaim(observedClaim(claim, false));
    const { taken, putOff } = this.#careFor(claims);
    const suspects = taken.filter((claim) => isSuspect(claim) && !this.#isOver(claim)).length;
    this.#suspectsTaken += suspects;
    try {
      await this.#parts.returned.give(putOff);
      const read = taken.length === 0 ? [] : await this.#withHistories(taken, since);
      const ready = read.length === 0 ? [] : await this.#confirmed(read);
      const begun = await this.#beginFitting(ready, begin);
      const isMore = claims.length >= limit || read.length < taken.length || begun.length < ready.length;
      return { at, isMore, begun };
    } finally {
      this.#suspectsTaken -= suspects;
    }
  }

  /** How large they are is known only now, and turns in progress or another claim may have filled the memory meanwhile. */
  async #beginFitting<Begun>(
    ready: readonly Ready[],
    begin: (ready: Ready) => Begun,
  ): Promise<readonly Begun[]> {
    const { memory, returned } = this.#parts;
    const begun: Begun[] = [];
    const unfitting: Lease[] = [];
    for (const each of ready) {
      if (memory.isFull) unfitting.push(each.claim.lease);
      else begun.push(begin(each));
    }
    await returned.give(unfitting);
    return begun;
  }

  async #ask(limit: number, now: number): Promise<readonly Claim[]> {
    const { store, runtime, definitions, owner, leaseMs, returned, outages } = this.#parts;
    const workflows = [...definitions.values()].map(({ name, options }) => ({
      name,
      concurrency: options.concurrency ?? null,
    }));
    const token = newToken(runtime);
    const { excusedFrom } = outages;
    const request = { owner, token, workflows, limit, now, leaseUntil: leaseEnd(runtime, leaseMs) };
    try {
      return await outages.watch(() =>
        store.claim(excusedFrom === undefined ? request : { ...request, excusedFrom }),
      );
    } catch (failure) {
      if (mayHaveApplied(failure)) void returned.giveUnheard(token);
      throw failure;
    }
  }

  /** Without those that must wait because their runners died. */
  #careFor(claims: readonly Claim[]): CaredFor {
    const { runtime, suspects } = this.#parts;
    if (claims.every(({ crashCount }) => crashCount === 0)) return { taken: claims, putOff: [] };
    return careFor(claims, {
      now: runtime.now(),
      random: () => runtime.float(),
      suspects: suspects() + this.#suspectsTaken,
      isOver: (claim) => this.#isOver(claim),
    });
  }

  /** It is given up, not tried again. */
  #isOver(claim: Claim): boolean {
    const { limits } = this.#parts.definitions.get(claim.workflowName) ?? { limits: defaultLimits };
    return isGivenUp(claim, limits);
  }

  /** A run whose runners died is begun only once the store knows that this one holds it: if it dies too, that counts. */
  async #confirmed(read: readonly Ready[]): Promise<readonly Ready[]> {
    const { store, runtime, returned, onProblem } = this.#parts;
    const isDoubtful = ({ claim, history }: Ready): boolean =>
      claim.crashCount > 0 && !this.#isOver(claim) && history.kind !== "unreadable";
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

  /**
   * When the next run wants its turn, and whether one was due already when it last looked: a concurrency cap may hold it
   * back, or somebody had locked its row just then, who will say nothing when it is free again.
   */
  async lookAhead(lookedAt: number): Promise<{ readonly nextDueAt: number | null; readonly held: boolean }> {
    const { store, definitions, outages } = this.#parts;
    const isCapped = (name: string): boolean => definitions.get(name)?.options.concurrency !== undefined;
    const names = [...definitions.keys()];
    const free = names.filter((name) => !isCapped(name));
    // One by one: what a cap holds back must not hide when the others are due.
    const groups = [...(free.length > 0 ? [free] : []), ...names.filter(isCapped).map((name) => [name])];
    let nextDueAt: number | null = null;
    let held = false;
    let missed = false;
    for (const group of groups) {
      const dueAt = await outages.watch(() => store.nextDueAt(group));
      if (dueAt === null) continue;
      if (dueAt > lookedAt) nextDueAt = Math.min(nextDueAt ?? dueAt, dueAt);
      else {
        held = true;
        missed ||= group === free;
      }
    }
    this.#missed = missed ? this.#missed + 1 : 0;
    if (!missed) return { nextDueAt, held };
    const againAt = lookedAt + Math.min(missedMsMax, missedMsMin * 2 ** (this.#missed - 1));
    return { nextDueAt: Math.min(nextDueAt ?? againAt, againAt), held };
  }

  async #withHistories(claims: readonly Claim[], since: number): Promise<readonly Ready[]> {
    const { residents, memory, returned } = this.#parts;
    const taken = claims.map((claim) => ({ claim, resident: residents.take(claim) }));
    // One that is given up may have a history that kills whoever reads it.
    const reads = taken.flatMap(({ claim, resident }) =>
      this.#isOver(claim) ? [] : (readFor(claim, resident) ?? []),
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

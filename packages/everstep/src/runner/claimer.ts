import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { type Claim, type Lease, leaseEnd, newToken } from "../model/lease.ts";
import { defaultLimits } from "../model/limits.ts";
import type { Observer } from "../model/observer.ts";
import { type CaredFor, careFor, isSuspect } from "./crash-care.ts";
import { observedClaim } from "./observed-turn.ts";
import type { Outages } from "./outages.ts";
import { type Ready, ReadyRuns, type ReadyRunsParts } from "./ready-runs.ts";
import { mayHaveApplied } from "./returned-leases.ts";
import { isGivenUp } from "./unfit.ts";

export interface ClaimerParts extends Omit<ReadyRunsParts, "isOver"> {
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  readonly owner: string;
  readonly leaseMs: number;
  readonly outages: Outages;
  /** How many runs that may kill their process have their turn here. */
  readonly suspects: () => number;
  readonly observer: Observer;
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
  readonly #ready: ReadyRuns;
  /** Looks in a row that saw a due run though no claim got it. */
  #missed = 0;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    this.#ready = new ReadyRuns({ ...parts, isOver: (claim) => this.#isOver(claim) });
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
      const read = taken.length === 0 ? [] : await this.#ready.read(taken, since);
      const ready = read.length === 0 ? [] : await this.#ready.confirm(read);
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
}

import type { Ending } from "../engine/ending.ts";
import { Turn } from "../engine/turn.ts";
import { LeaseLostError, leaseLost } from "../engine/turn-errors.ts";
import type { Next } from "../model/boundary.ts";
import { StoreError } from "../model/error.ts";
import type { BegunBody, InstanceRef, RunId } from "../model/instance.ts";
import type { Claim, Lease } from "../model/lease.ts";
import type { RunHistory } from "../store/store.ts";
import { isUnderSuspicion } from "./crash-care.ts";
import { observedTurn, runOf, turnEnd } from "./observed-turn.ts";
import type { Ready } from "./ready-runs.ts";
import type { StepBudget } from "./runner-host.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { unfit, unreadable } from "./unfit.ts";

type Parts = Pick<
  RunnerParts,
  "setup" | "dispatcher" | "leases" | "residents" | "memory" | "loop" | "capacity" | "host"
>;

/** The turns in progress: takes them from claim to ending, keeps suspended ones, and cuts them off. */
export class Turns {
  readonly #parts: Parts;
  readonly #active = new Map<RunId, Turn>();
  readonly #endings = new Set<Promise<unknown>>();
  /** Claims and creations under way, which may bring turns. */
  readonly #arrivals = new Set<Promise<unknown>>();
  /** stopping: turns that begin wind down at once. closed: nothing begins any more. */
  #intake: "open" | "stopping" | "closed" = "open";

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#active.size;
  }

  get all(): readonly Turn[] {
    return [...this.#active.values()];
  }

  /** The run is being driven by this runner, which will say when it ends. */
  has(runId: RunId): boolean {
    return this.#active.has(runId);
  }

  /** The bodies in flight of a run that has its turn here; more than the store knows of. */
  begunOf(runId: RunId): readonly BegunBody[] | undefined {
    return this.#active.get(runId)?.begun;
  }

  /** Runs that may kill the process: not those that have got on, or that have been here for long without doing so. */
  get suspects(): number {
    const { leases, setup } = this.#parts;
    let count = 0;
    for (const { claim, hasProgressed } of this.#active.values()) {
      if (!hasProgressed && isUnderSuspicion(claim, leases.keeper.heldMs(claim.lease), setup.options.leaseMs))
        count += 1;
    }
    return count;
  }

  // ---------------------------------------------------------------------------------------------- taking

  /** One turn, from claim to ending; false when it was lost to another. Whatever goes wrong stays with this run. */
  begin(ready: Ready, budget: StepBudget | null): Promise<boolean> {
    const ending = this.#takeTurn(ready, budget)
      .catch((problem: unknown) => {
        this.#parts.setup.onProblem(problem);
        return false;
      })
      .finally(() => {
        this.#endings.delete(ending);
        this.#parts.capacity.lookIfBehind();
      });
    this.#endings.add(ending);
    return ending;
  }

  async #takeTurn({ claim, history, resident, since }: Ready, budget: StepBudget | null): Promise<boolean> {
    const { setup, leases, memory, loop, host } = this.#parts;
    const definition = setup.definitions.get(claim.workflowName);
    if (!definition || this.#intake === "closed") {
      await leases.returned.give([claim.lease]);
      return false;
    }
    leases.lost.remove(claim.lease.runId);
    // It comes back although it is here when the store's clock runs ahead: its older turn has lost its lease.
    this.#active.get(claim.lease.runId)?.abandon(leaseLost("superseded"));
    const end = unfit(claim, history, definition.limits);
    if (end) return this.#giveUp(claim, end);
    const { all: observer } = setup.observers;
    const isSeen = observer.onTurnStart !== undefined || observer.onTurnEnd !== undefined;
    const seen = isSeen ? observedTurn(claim, resident !== undefined, setup.runtime) : null;
    const begunAt = isSeen ? setup.runtime.monotonic() : 0;
    let turn: Turn;
    let ending: Promise<Ending>;
    try {
      turn =
        resident ?? new Turn(claim, history as Extract<RunHistory, { kind: "history" }>, definition, host);
      this.#active.set(claim.lease.runId, turn);
      loop.start();
      host.limit(turn, budget);
      leases.keeper.hold(turn, claim.lease, since);
      const events = history.kind === "history" ? history.events : [];
      if (seen) observer.onTurnStart?.(seen);
      ending = resident ? resident.resume(claim, events) : turn.start();
      memory.enter(turn);
    } catch (problem) {
      this.#leave(claim.lease);
      return this.#giveUp(claim, unreadable(problem));
    }
    if (this.#intake === "stopping") turn.windDown();
    const ended = await ending;
    this.#leave(claim.lease);
    memory.leave(turn);
    if (seen) observer.onTurnEnd?.(seen, turnEnd(ended, setup.runtime.monotonic() - begunAt));
    this.#ended(turn, ended);
    return ended.kind !== "lost";
  }

  /** The run may be in a newer turn's hands already. */
  #leave(lease: Lease): void {
    const { leases, loop } = this.#parts;
    if (this.#active.get(lease.runId)?.claim.lease.token === lease.token) this.#active.delete(lease.runId);
    leases.keeper.drop(lease);
    if (this.#active.size === 0) loop.stop();
  }

  #ended(turn: Turn, ending: Ending): void {
    const { setup, dispatcher, leases, residents } = this.#parts;
    switch (ending.kind) {
      case "suspended":
        residents.keep(turn);
        dispatcher.dueAt(ending.dueAt);
        return;
      case "ended":
        if (ending.next.kind === "yield") dispatcher.nudge();
        else setup.onEnded(turn.ref, ending.next);
        return;
      case "lost":
        leases.lost.add(turn.claim.lease);
        if (ending.reason instanceof LeaseLostError) {
          setup.observers.all.onLeaseLost?.({ ...runOf(turn.ref), reason: ending.reason.loss });
        }
        // A store that fails for good would otherwise be noticed only when the run is given up.
        if (ending.reason instanceof StoreError) setup.onProblem(ending.reason);
        return;
      case "paused":
        return;
    }
  }

  /** Ends a run that cannot have its turn, in a place that it takes up; false when another was faster. */
  async #giveUp(claim: Claim, next: Next): Promise<boolean> {
    const { capacity, host } = this.#parts;
    capacity.reserve(1);
    return host.endUnfit(claim, next).finally(() => capacity.free(1));
  }

  // ---------------------------------------------------------------------------------------------- telling

  /** An event was accepted for a run that may have its turn here. */
  eventsArrived(runId: RunId): void {
    this.#active.get(runId)?.eventsArrived();
  }

  /** The same for one that is known by its name. */
  eventsArrivedFor({ workflowName, instanceId }: InstanceRef): void {
    for (const turn of this.#active.values()) {
      if (turn.ref.instanceId === instanceId && turn.ref.workflowName === workflowName) turn.eventsArrived();
    }
  }

  /** Another process may have sent an event for a turn that a body holds open. */
  eventsMayHaveArrived(): void {
    for (const turn of this.#active.values()) if (turn.awaitsEvents) turn.eventsArrived();
  }

  /** A run was paused and may be resumed before its turn comes to a body: that body asks first. */
  paused(runId: RunId): void {
    this.#active.get(runId)?.askBeforeNextBody();
  }

  /** A run was resumed while its turn may still be winding down. */
  resumed(runId: RunId): void {
    this.#active.get(runId)?.resumed();
  }

  /** A run was terminated, restarted or otherwise taken away from its turn. */
  recall(runId: RunId, reason: string): void {
    this.#active.get(runId)?.abandon(new LeaseLostError("changed", reason));
  }

  // ---------------------------------------------------------------------------------------------- stopping

  /** Stopping waits for it, so that nothing begins afterwards. */
  arriving<Result>(work: Promise<Result>): Promise<Result> {
    const arrival = work.finally(() => this.#arrivals.delete(arrival));
    this.#arrivals.add(arrival);
    return arrival;
  }

  async allEnded(): Promise<void> {
    while (this.#arrivals.size + this.#endings.size > 0) {
      await Promise.allSettled([...this.#arrivals, ...this.#endings]);
    }
  }

  /** Bodies in flight may finish. Gives the turns that were in progress. */
  windDown(): readonly Turn[] {
    if (this.#intake === "open") this.#intake = "stopping";
    const turns = this.all;
    for (const turn of turns) turn.windDown();
    return turns;
  }

  /** Nothing begins any more. Gives the turns that are still in progress. */
  close(): readonly Turn[] {
    this.#intake = "closed";
    return this.all;
  }
}

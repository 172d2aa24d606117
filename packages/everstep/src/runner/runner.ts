/**
 * Takes turns: claims due runs up to its capacity, drives them concurrently, commits in groups, keeps their leases.
 *
 *   ticks.ts          looks for due runs when poll-dispatcher.ts says so, and claims them (claimer.ts)
 *   capacity.ts       how many more it may take
 *   turns.ts          the turns in progress, from claim to ending; residents.ts keeps suspended ones
 *   runner-host.ts    what they ask for: commits (commit-group.ts), events, leases (leases.ts)
 */
import type { Turn } from "../engine/turn.ts";
import { EverstepError } from "../model/error.ts";
import type { BegunBody, RunId } from "../model/instance.ts";
import { type Claim, leaseEnd, newToken } from "../model/lease.ts";
import type { LeaseOffer } from "../model/request.ts";
import { withTimeout } from "../model/with-timeout.ts";
import type { RunnerRecord, Tally } from "../store/store.ts";
import { ChangeWatch } from "./change-watch.ts";
import { DecisionWatch } from "./decision-watch.ts";
import { observedClaim, runOf } from "./observed-turn.ts";
import { emptyHistory } from "./ready-runs.ts";
import { RunnerParts } from "./runner-parts.ts";
import type { RunnerSetup } from "./runner-setup.ts";
import { StopPatience } from "./stop-patience.ts";
import type { TickOptions } from "./ticks.ts";

/** What became of the turns in progress when a runner stopped. */
export interface StopReport {
  /** Came to a boundary in time and were given back or ended. */
  readonly finished: number;
  /** Were cut off at the deadline; their leases were given back. */
  readonly released: number;
}

export class Runner {
  readonly #parts: RunnerParts;
  readonly #changes: ChangeWatch;
  readonly #decisions: DecisionWatch;
  #state: "idle" | "running" | "stopping" | "stopped" = "idle";
  #unhear: (() => void) | null = null;

  constructor(setup: RunnerSetup) {
    this.#parts = new RunnerParts(setup);
    this.#decisions = new DecisionWatch(this.#parts);
    this.#changes = new ChangeWatch(setup.store, setup.runtime, () => {
      this.#mayBeDue();
      this.#decisions.look();
    });
  }

  get owner(): string {
    return this.#parts.owner;
  }

  get leaseMs(): number {
    return this.#parts.setup.options.leaseMs;
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  /** It takes no new work any more. */
  get isStopping(): boolean {
    return this.#state === "stopping" || this.#state === "stopped";
  }

  /** What others are told of this runner. */
  get record(): RunnerRecord {
    return this.#parts.beats.record();
  }

  /** What it got done since it last told the store. */
  get untold(): readonly Tally[] {
    return this.#parts.beats.tallies.untold;
  }

  // ---------------------------------------------------------------------------------------------- start, tick, stop

  async start(): Promise<void> {
    if (this.#state !== "idle") return;
    const { setup, dispatcher, owners, host } = this.#parts;
    this.#state = "running";
    host.guard();
    await owners.hold();
    await owners.look();
    // It may have been stopped meanwhile.
    if (!this.isRunning) return;
    owners.start();
    this.#changes.start();
    this.#unhear = setup.nudges.hear((nudge) => {
      if (nudge.due || nudge.changed) this.#mayBeDue();
      if (nudge.changed) this.#decisions.look();
    });
    dispatcher.start();
  }

  /** One sweep for hosts without a loop: claims, takes the turns, and waits until each has ended or waits. */
  tick(options: TickOptions = {}): Promise<{ readonly processed: number }> {
    return this.#parts.ticks.tick(options);
  }

  /** No new turns; bodies in flight may finish until the deadline, then their leases are given back. */
  async stop(graceMs: number, patience = new StopPatience(this.#parts.setup.runtime)): Promise<StopReport> {
    if (this.#state === "stopped") return { finished: 0, released: 0 };
    const { setup, dispatcher, leases, residents, wakes, beats, owners, turns, host } = this.#parts;
    const loops = this.isRunning;
    this.#state = "stopping";
    dispatcher.stop();
    this.#changes.stop();
    this.#unhear?.();
    const before = turns.windDown();
    await withTimeout(setup.runtime, graceMs, turns.allEnded());
    patience.begin();
    const cutOff = turns.close();
    const held = [...cutOff.map((turn) => turn.claim.lease), ...leases.lost.leases];
    for (const turn of cutOff) turn.abandon(new EverstepError("APP_STOPPED", "The runner is shutting down."));
    const told = beats.stop();
    // A store that does not answer must not keep a process from stopping; the leases run out by themselves.
    const givenBack = held.length > 0 && (await patience.wait(leases.release(held)));
    const { all: observer } = setup.observers;
    if (givenBack === true) for (const { ref } of cutOff) observer.onLeaseReturned?.(runOf(ref));
    // What was being claimed is given back when it arrives.
    await patience.wait(turns.allEnded());
    await patience.wait(leases.returned.stop());
    await told;
    await wakes.stop((turn) => this.#mayBeBusy(turn, loops), patience.leftMs);
    residents.clear();
    this.#state = "stopped";
    host.unguard();
    await owners.stop();
    return { finished: before.filter((turn) => !cutOff.includes(turn)).length, released: cutOff.length };
  }

  /**
   * Author code has as much time between two steps as it has without any open one. A host that ticks and stops again
   * would have every waiting run replayed by every tick: it has those replayed once that came further.
   */
  #mayBeBusy(turn: Turn, loops: boolean): boolean {
    if (!loops) return turn.hasProgressed;
    return this.#parts.setup.runtime.monotonic() - turn.suspendedAt < turn.definition.limits.stallTimeoutMs;
  }

  // ---------------------------------------------------------------------------------------------- hints

  /** Something became due in this process. */
  nudge(): void {
    this.#parts.dispatcher.nudge();
  }

  dueAt(time: number): void {
    this.#parts.dispatcher.dueAt(time);
  }

  /** The store was out of reach and has answered again. */
  storeIsBack(): void {
    this.#parts.dispatcher.recovered();
  }

  /** Something was written in a transaction of somebody's own, who will commit it before long. */
  expect(): void {
    this.#parts.dispatcher.hasten();
  }

  /** An instance was created that this runner had no place for. */
  fallBehind(): void {
    this.#parts.capacity.fallBehind();
  }

  /** What another process wrote may be due here, or an event for a turn that a body holds open. */
  #mayBeDue(): void {
    this.nudge();
    this.#parts.turns.eventsMayHaveArrived();
  }

  // ---------------------------------------------------------------------------------------------- turns in progress

  /** The bodies in flight of a run that has its turn here; more than the store knows of. */
  begunOf(runId: RunId): readonly BegunBody[] | undefined {
    return this.#parts.turns.begunOf(runId);
  }

  /** The run is being driven by this runner, which will say when it ends. */
  hasTurn(runId: RunId): boolean {
    return this.#parts.turns.has(runId);
  }

  /** An event was accepted for a run that may have its turn here. */
  nudgeRun(runId: RunId): void {
    this.#parts.turns.eventsArrived(runId);
  }

  /** A run was paused and may be resumed before its turn comes to a body: that body asks first. */
  paused(runId: RunId): void {
    this.#parts.turns.paused(runId);
  }

  /** A run was resumed: it is due, or its turn goes on. */
  resumed(runId: RunId): void {
    this.nudge();
    this.#parts.turns.resumed(runId);
  }

  /** A run was terminated, restarted or otherwise taken away from its turn. */
  recall(runId: RunId, reason: string): void {
    this.#parts.turns.recall(runId, reason);
  }

  // ---------------------------------------------------------------------------------------------- creations that run here

  /** A place for an instance about to be created, if nothing that is due waits for one. */
  offerLease(): LeaseOffer | null {
    const { setup, owner, capacity } = this.#parts;
    if (!this.isRunning || !capacity.offer()) return null;
    const until = leaseEnd(setup.runtime, this.leaseMs);
    return { owner, token: newToken(setup.runtime), until };
  }

  /** The offer was taken (with its claim) or not needed after all. */
  takeUp(claim: Claim | null, since: number): void {
    const { setup, capacity, turns } = this.#parts;
    if (claim) {
      setup.observers.all.onClaim?.(observedClaim(claim, true));
      void turns.begin({ claim, history: emptyHistory(claim), resident: undefined, since }, null);
    }
    capacity.settleOffer();
    if (!claim) capacity.lookIfBehind();
  }

  /** This run took the offer along, and the answer was lost. */
  giveBack(runId: RunId, { owner, token, until }: LeaseOffer): Promise<void> {
    return this.#parts.leases.returned.give([{ runId, owner, token, expiresAt: until }]);
  }

  /** The same where it is not known whether any run did. */
  giveBackUnheard({ token }: LeaseOffer): Promise<void> {
    return this.#parts.leases.returned.giveUnheard(token);
  }
}

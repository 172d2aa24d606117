/** Takes turns: claims due runs up to its capacity, drives them concurrently, commits in groups, keeps their leases. */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { storeRetryDelayMs } from "../engine/backoff.ts";
import type { Ending } from "../engine/ending.ts";
import { Turn } from "../engine/turn.ts";
import { leaseLost } from "../engine/turn-errors.ts";
import type { TurnCommit, TurnHost, TurnScope } from "../engine/turn-host.ts";
import type { Next } from "../model/boundary.ts";
import { EverstepError, StoreError } from "../model/error.ts";
import type { EventRecord } from "../model/event.ts";
import { type BegunBody, type InstanceRef, isTerminal, type RunId } from "../model/instance.ts";
import { type Claim, type Lease, leaseEnd, newToken } from "../model/lease.ts";
import { runnerDefaults } from "../model/limits.ts";
import type { CommitOutcome, CommitRequest, CreateRequest, LeaseOffer } from "../model/request.ts";
import type { AsyncScope, Runtime } from "../model/runtime.ts";
import { withTimeout } from "../model/with-timeout.ts";
import type { RunHistory, RunnerRecord, Store, Tally } from "../store/store.ts";
import { Beats } from "./beats.ts";
import { ChangeWatch } from "./change-watch.ts";
import { type Claimed, Claimer, emptyHistory, type Ready } from "./claimer.ts";
import type { CommitGroup } from "./commit-group.ts";
import { isUnderSuspicion } from "./crash-care.ts";
import { EventReads } from "./event-reads.ts";
import { LateWakes } from "./late-wakes.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { LoopWatch } from "./loop-watch.ts";
import { LostLeases } from "./lost-leases.ts";
import type { NudgeWatch } from "./nudge-watch.ts";
import { Outages } from "./outages.ts";
import { OwnerWatch } from "./owner-watch.ts";
import { PollDispatcher, type TickReport } from "./poll-dispatcher.ts";
import { type PollSettings, pollOptionsOf } from "./poll-options.ts";
import { Residents } from "./residents.ts";
import { ReturnedLeases } from "./returned-leases.ts";
import { type CommitListener, SentCommit } from "./sent-commit.ts";
import { StopPatience } from "./stop-patience.ts";
import { isRetryable, retryAfterMs } from "./store-patience.ts";
import { TurnMemory } from "./turn-memory.ts";
import { lastBoundary, unfit, unreadable } from "./unfit.ts";

export interface RunnerOptions extends PollSettings {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly residentsMax: number;
  /** What turns in progress may hold of stored values; suspended ones half as much. */
  readonly memoryBytes: number;
  /** What becomes of runs whose process died: go on (default), or end with an error. */
  readonly onInterrupted: "resume" | "error";
}

export interface RunnerParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly scope: AsyncScope<TurnScope>;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  /** A workflow of the engine's own: nobody is told of it. */
  readonly ownWorkflow?: string;
  readonly options: RunnerOptions;
  readonly nudges: NudgeWatch;
  /** Keeps the clock right; see StoreClock. */
  readonly freshenClock: () => Promise<void> | null;
  /** What to create with the end of a run, so that the host is told of it. */
  readonly announce: (
    ref: InstanceRef & { readonly runNumber: number },
    next: Next,
  ) => CreateRequest | undefined;
  /** A run came to its end under this runner. */
  readonly onEnded: (ref: InstanceRef & { readonly runNumber: number }, next: Next) => void;
  /** Turns were cut off and their leases given back, so that others can go on with them now. */
  readonly onGivenBack?: (refs: readonly InstanceRef[]) => void;
  /** A word about an instance for whoever watches the process. */
  readonly onNotice: (notice: string) => void;
  /** Something went wrong that is nobody's result: the host may want to know. */
  readonly onProblem: (problem: unknown) => void;
}

export interface TickOptions {
  readonly maxInstances?: number;
  /** Bodies that may start in this tick; what is left goes on in a later one. */
  readonly maxSteps?: number;
}

interface StepBudget {
  left: number;
}

/** What became of the turns in progress when a runner stopped. */
export interface StopReport {
  /** Came to a boundary in time and were given back or ended. */
  readonly finished: number;
  /** Were cut off at the deadline; their leases were given back. */
  readonly released: number;
}

/** How often a runner that stops tries to give leases back. */
const stopReleasesMax = 3;

const nothing = {};

export class Runner implements TurnHost {
  readonly owner: string;
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  readonly #parts: RunnerParts;
  readonly #keeper: LeaseKeeper;
  readonly #lost: LostLeases;
  readonly #residents: Residents;
  readonly #wakes: LateWakes;
  readonly #loop: LoopWatch;
  readonly #memory: TurnMemory;
  readonly #dispatcher: PollDispatcher;
  readonly #claimer: Claimer;
  readonly #returned: ReturnedLeases;
  readonly #owners: OwnerWatch;
  readonly #changes: ChangeWatch;
  readonly #eventReads: EventReads;
  readonly #beats: Beats;
  readonly #active = new Map<RunId, Turn>();
  readonly #endings = new Set<Promise<unknown>>();
  /** Claims and creations under way, which may bring turns. */
  readonly #arrivals = new Set<Promise<unknown>>();
  /** leaving: the grace of a stop is over, and nothing begins any more. */
  #state: "idle" | "running" | "stopping" | "leaving" | "stopped" = "idle";
  /** Nothing due is waiting behind what this runner already has. */
  #caughtUp = false;
  /** Places promised to creations whose outcome is not known yet. */
  #offered = 0;
  /** Places promised to claims under way, or taken by runs that are given up. */
  #reserved = 0;
  #offersSettled: (() => void) | null = null;
  /** Bodies the turns of a limited tick may still start. */
  readonly #budgets = new WeakMap<Turn, StepBudget>();
  #unguard: (() => void) | null = null;
  #unhear: (() => void) | null = null;
  #looking = false;
  /** The store has taken back the leases of turns that were cut off. */
  #isGivenBack = false;
  /** Something was decided since the last look began. */
  #decided = false;

  constructor(parts: RunnerParts) {
    const { store, runtime, options } = parts;
    this.#parts = parts;
    this.runtime = runtime;
    this.scope = parts.scope;
    this.owner = runtime.uuid();
    const outages = new Outages(runtime, options.leaseMs);
    this.#keeper = new LeaseKeeper(store, runtime, options.leaseMs, () => parts.freshenClock(), outages);
    this.#lost = new LostLeases(runtime, options.leaseMs);
    this.#residents = new Residents(runtime, options.residentsMax, options.memoryBytes / 2);
    this.#memory = new TurnMemory(options.memoryBytes);
    const turns = (): Iterable<Turn> => this.#active.values();
    this.#loop = new LoopWatch({
      ...parts,
      leaseMs: options.leaseMs,
      turns,
      onStill: () => outages.stoodStill(),
    });
    const onDue = (): void => this.nudge();
    this.#wakes = new LateWakes({ ...parts, residents: this.#residents, onDue });
    const { owner } = this;
    const { leaseMs } = options;
    const memory = this.#memory;
    const residents = this.#residents;
    this.#returned = new ReturnedLeases({ store, runtime, owner, leaseMs });
    this.#claimer = new Claimer({
      ...{ ...parts, residents, memory, owner, leaseMs, returned: this.#returned, outages },
      suspects: () => this.#suspects(),
    });
    this.#dispatcher = new PollDispatcher(runtime, pollOptionsOf(options, store, parts.nudges), () =>
      this.#arriving(this.#sweep()),
    );
    this.#eventReads = new EventReads(store, runtime);
    this.#beats = new Beats({
      ...{ store, runtime, owner, concurrency: options.concurrency },
      workflows: [...parts.definitions.keys()].filter((name) => name !== parts.ownWorkflow),
      turns: () => this.#active.size,
    });
    this.#changes = new ChangeWatch(store, runtime, () => {
      this.#mayBeDue();
      this.#mayBeDecided();
    });
    this.#owners = new OwnerWatch({
      ...parts,
      owner,
      onInterrupted: options.onInterrupted,
      everyMs: options.pollMsMin,
      leaseMs: options.leaseMs,
      onFound: () => this.nudge(),
    });
  }

  // ---------------------------------------------------------------------------------------------- life

  async start(): Promise<void> {
    if (this.#state !== "idle") return;
    this.#state = "running";
    this.#guard();
    await this.#owners.hold();
    await this.#owners.look();
    // It may have been stopped meanwhile.
    if (!this.isRunning) return;
    this.#owners.start();
    this.#changes.start();
    this.#unhear = this.#parts.nudges.hear((nudge) => {
      if (nudge.due || nudge.changed) this.#mayBeDue();
      if (nudge.changed) this.#mayBeDecided();
    });
    this.#dispatcher.start();
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  get leaseMs(): number {
    return this.#parts.options.leaseMs;
  }

  /** What others are told of this runner. */
  get record(): RunnerRecord {
    return this.#beats.record();
  }

  /** What it got done since it last told the store. */
  get untold(): readonly Tally[] {
    return this.#beats.tallies.untold;
  }

  /** It takes no new work any more. */
  get isStopping(): boolean {
    return this.#state === "stopping" || this.#state === "leaving" || this.#state === "stopped";
  }

  /** No new turns; bodies in flight may finish until the deadline, then their leases are given back. */
  async stop(graceMs: number, patience = new StopPatience(this.runtime)): Promise<StopReport> {
    if (this.#state === "stopped") return { finished: 0, released: 0 };
    const loops = this.isRunning;
    if (!this.isStopping) this.#state = "stopping";
    this.#dispatcher.stop();
    this.#changes.stop();
    this.#unhear?.();
    const before = [...this.#active.values()];
    for (const turn of before) turn.windDown();
    await withTimeout(this.runtime, graceMs, this.#allEnded());
    this.#state = "leaving";
    patience.begin();
    const cutOff = [...this.#active.values()];
    const leases = [...cutOff.map((turn) => turn.claim.lease), ...this.#lost.leases];
    for (const turn of cutOff) turn.abandon(new EverstepError("APP_STOPPED", "The runner is shutting down."));
    const told = this.#beats.stop();
    // A store that does not answer must not keep a process from stopping; the leases run out by themselves.
    if (leases.length > 0) await patience.wait(this.#release(leases));
    if (this.#isGivenBack) this.#parts.onGivenBack?.(cutOff.map(({ ref }) => ref));
    // What was being claimed is given back when it arrives.
    await patience.wait(this.#allEnded());
    await patience.wait(this.#returned.stop());
    await told;
    await this.#wakes.stop((turn) => this.#mayBeBusy(turn, loops), patience.leftMs);
    this.#residents.clear();
    this.#state = "stopped";
    this.#unguard?.();
    await this.#owners.stop();
    return { finished: before.filter((turn) => !cutOff.includes(turn)).length, released: cutOff.length };
  }

  /**
   * Author code has as much time between two steps as it has without any open one. A host that ticks and stops again
   * would have every waiting run replayed by every tick: it has those replayed once that came further.
   */
  #mayBeBusy(turn: Turn, loops: boolean): boolean {
    if (!loops) return turn.hasProgressed;
    return this.runtime.monotonic() - turn.suspendedAt < turn.definition.limits.stallMs;
  }

  /** A store that fails now may answer in a moment; its pauses together are shorter than a stop waits for it. */
  async #release(leases: readonly Lease[]): Promise<void> {
    for (let attempt = 0; attempt < stopReleasesMax; attempt++) {
      try {
        await this.#parts.store.release(leases, this.runtime.now());
        this.#isGivenBack = true;
        return;
      } catch (problem) {
        this.#parts.onProblem(problem);
        if (!isRetryable(problem) || attempt + 1 === stopReleasesMax) return;
        await this.#pause(retryAfterMs(problem, attempt, this.runtime));
      }
    }
  }

  /** What a workflow forgot to handle must not take the process down with it. */
  #guard(): void {
    this.#unguard ??=
      this.runtime.onStrayError?.((error, kind) => {
        const inside = this.scope.current();
        inside?.turn.strayError(error, kind, inside.body);
        return inside !== undefined;
      }) ?? null;
  }

  async #allEnded(): Promise<void> {
    while (this.#arrivals.size + this.#endings.size > 0) {
      await Promise.allSettled([...this.#arrivals, ...this.#endings]);
    }
  }

  /** Stopping waits for it, so that nothing begins afterwards. */
  #arriving<Result>(work: Promise<Result>): Promise<Result> {
    const arrival = work.finally(() => this.#arrivals.delete(arrival));
    this.#arrivals.add(arrival);
    return arrival;
  }

  // ---------------------------------------------------------------------------------------------- hints

  /** Something became due in this process. */
  nudge(): void {
    this.#dispatcher.nudge();
  }

  dueAt(time: number): void {
    this.#dispatcher.dueAt(time);
  }

  /** The store was out of reach and has answered again. */
  storeIsBack(): void {
    this.#dispatcher.recovered();
  }

  /** Something was written in a transaction of somebody's own, who will commit it before long. */
  expect(): void {
    this.#dispatcher.hasten();
  }

  /** The bodies in flight of a run that has its turn here; more than the store knows of. */
  begunOf(runId: RunId): readonly BegunBody[] | undefined {
    return this.#active.get(runId)?.begun;
  }

  /** The run is being driven by this runner, which will say when it ends. */
  hasTurn(runId: RunId): boolean {
    return this.#active.has(runId);
  }

  /** An event was accepted for a run that may have its turn here. */
  nudgeRun(runId: RunId): void {
    this.#active.get(runId)?.eventsArrived();
  }

  /** What another process wrote may be due here, or an event for a turn that a body holds open. */
  #mayBeDue(): void {
    this.nudge();
    for (const turn of this.#active.values()) if (turn.awaitsEvents) turn.eventsArrived();
  }

  /** Another process may have paused or ended what has its turn here. */
  #mayBeDecided(): void {
    this.#decided = true;
    if (this.#looking) return;
    this.#looking = true;
    this.#lookUntilNothingIsNew()
      .catch(this.#parts.onProblem)
      .finally(() => {
        this.#looking = false;
      });
  }

  async #lookUntilNothingIsNew(): Promise<void> {
    while (this.#decided) {
      this.#decided = false;
      await this.#lookAfterActive();
    }
  }

  /** A pause or an end that another process decided reaches a turn in progress now, not with its next renewal. */
  async #lookAfterActive(): Promise<void> {
    const turns = [...this.#active.values()];
    if (turns.length === 0) return;
    const statuses = await this.#parts.store.getStatuses(turns.map(({ ref }) => ref));
    for (const [at, turn] of turns.entries()) {
      const status = statuses[at];
      if (status === undefined || !turn.canBeRecalled) continue;
      if (status === "paused") turn.askBeforeNextBody();
      else if (isTerminal(status))
        turn.abandon(new EverstepError("STEP_INTERRUPTED", `The instance is ${status}.`));
    }
  }

  /** A run was paused and may be resumed before its turn comes to a body: that body asks first. */
  paused(runId: RunId): void {
    this.#active.get(runId)?.askBeforeNextBody();
  }

  /** A run was terminated, restarted or otherwise taken away from its turn. */
  recall(runId: RunId, reason: string): void {
    this.#active.get(runId)?.abandon(new EverstepError("STEP_INTERRUPTED", reason));
  }

  /** A place for an instance about to be created, if nothing that is due waits for one. */
  offerLease(): LeaseOffer | null {
    if (this.#state !== "running" || !this.#caughtUp || this.#freeSlots() <= 0 || this.#memory.isFull)
      return null;
    if (this.#offered++ === 0) {
      const settled = new Promise<void>((resolve) => {
        this.#offersSettled = resolve;
      });
      void this.#arriving(settled);
    }
    const until = leaseEnd(this.runtime, this.#parts.options.leaseMs);
    return { owner: this.owner, token: newToken(this.runtime), until };
  }

  /** This run took the offer along, and the answer was lost. */
  giveBack(runId: RunId, { owner, token, until }: LeaseOffer): Promise<void> {
    return this.#returned.give([{ runId, owner, token, expiresAt: until }]);
  }

  /** The same where it is not known whether any run did. */
  giveBackUnheard({ token }: LeaseOffer): Promise<void> {
    return this.#returned.giveUnheard(token);
  }

  /** The offer was taken (with its claim) or not needed after all. */
  takeUp(claim: Claim | null, since: number): void {
    if (claim) void this.#begin({ claim, history: emptyHistory(claim), resident: undefined, since }, null);
    if (--this.#offered === 0) this.#offersSettled?.();
    // Its place is free again, and something may wait for one.
    if (!claim && !this.#caughtUp) this.nudge();
  }

  /** An instance was created that this runner had no place for. */
  fallBehind(): void {
    this.#caughtUp = false;
    this.nudge();
  }

  /** Runs that may kill the process: not those that have got on, or that have been here for long without doing so. */
  #suspects(): number {
    let count = 0;
    for (const { claim, hasProgressed } of this.#active.values()) {
      if (!hasProgressed && isUnderSuspicion(claim, this.#keeper.heldMs(claim.lease), this.leaseMs))
        count += 1;
    }
    return count;
  }

  #freeSlots(): number {
    return this.#parts.options.concurrency - this.#active.size - this.#offered - this.#reserved;
  }

  /** Runs that may be claimed now, as far as places and memory go. */
  #room(): number {
    return this.#memory.places(this.#freeSlots(), this.#reserved);
  }

  // ---------------------------------------------------------------------------------------------- ticking

  /** One sweep for hosts without a loop: claims, takes the turns, and waits until each has ended or waits. */
  tick(options: TickOptions = {}): Promise<{ readonly processed: number }> {
    return this.#arriving(this.#tick(options));
  }

  async #tick(options: TickOptions): Promise<{ readonly processed: number }> {
    this.#guard();
    await this.#owners.hold();
    await this.#owners.look();
    const limit = Math.min(options.maxInstances ?? Number.POSITIVE_INFINITY, this.#room());
    const budget = options.maxSteps === undefined ? null : { left: options.maxSteps };
    const { begun } = await this.#claimAndBegin(limit, budget);
    const counted = await Promise.all(begun);
    await this.#beats.beatNow();
    return { processed: counted.filter(Boolean).length };
  }

  async #sweep(): Promise<TickReport> {
    try {
      await this.#parts.freshenClock();
      this.#beats.beat();
      await this.#owners.look();
      const limit = Math.min(this.#room(), runnerDefaults.claimMax);
      if (limit <= 0) {
        // Something may be due that nobody looked at: the first place to become free looks.
        this.#caughtUp = false;
        return { claimed: 0, nextDueAt: undefined };
      }
      const { at, isMore, begun } = await this.#claimAndBegin(limit, null);
      const claimed = begun.length;
      this.#caughtUp = !isMore;
      if (isMore) {
        if (this.#room() > 0) this.nudge();
        return { claimed, nextDueAt: undefined };
      }
      const { nextDueAt, held } = await this.#claimer.lookAhead(at);
      // The end of a turn here makes room, so it looks again.
      if (held) this.#caughtUp = false;
      return { claimed, nextDueAt };
    } catch (problem) {
      this.#parts.onProblem(problem);
      throw problem;
    }
  }

  async #claimAndBegin(limit: number, budget: StepBudget | null): Promise<Claimed<Promise<boolean>>> {
    const places = Math.max(0, limit);
    this.#reserved += places;
    try {
      await this.#keeper.catchUp();
      return await this.#claimer.claim(places, (each) => this.#begin(each, budget));
    } finally {
      this.#reserved -= places;
    }
  }

  /** One turn, from claim to ending; false when it was lost to another. Whatever goes wrong stays with this run. */
  #begin(ready: Ready, budget: StepBudget | null): Promise<boolean> {
    const ending = this.#takeTurn(ready, budget)
      .catch((problem: unknown) => {
        this.#parts.onProblem(problem);
        return false;
      })
      .finally(() => {
        this.#endings.delete(ending);
        if (!this.#caughtUp) this.nudge();
      });
    this.#endings.add(ending);
    return ending;
  }

  async #takeTurn({ claim, history, resident, since }: Ready, budget: StepBudget | null): Promise<boolean> {
    const definition = this.#parts.definitions.get(claim.workflowName);
    if (!definition || this.#state === "leaving" || this.#state === "stopped") {
      await this.#returned.give([claim.lease]);
      return false;
    }
    this.#lost.remove(claim.lease.runId);
    // It comes back although it is here when the store's clock runs ahead: its older turn has lost its lease.
    this.#active.get(claim.lease.runId)?.abandon(leaseLost());
    const end = unfit(claim, history, definition.limits);
    if (end) return this.#giveUp(claim, end);
    let turn: Turn;
    let ending: Promise<Ending>;
    try {
      turn =
        resident ?? new Turn(claim, history as Extract<RunHistory, { kind: "history" }>, definition, this);
      this.#active.set(claim.lease.runId, turn);
      this.#loop.start();
      if (budget) this.#budgets.set(turn, budget);
      else this.#budgets.delete(turn);
      this.#keeper.hold(turn, claim.lease, since);
      const events = history.kind === "history" ? history.events : [];
      ending = resident ? resident.resume(claim, events) : turn.start();
      this.#memory.enter(turn);
    } catch (problem) {
      this.#leave(claim.lease);
      return this.#giveUp(claim, unreadable(problem));
    }
    if (this.#state === "stopping") turn.windDown();
    const ended = await ending;
    this.#leave(claim.lease);
    this.#memory.leave(turn);
    this.#ended(turn, ended);
    return ended.kind !== "lost";
  }

  /** The run may be in a newer turn's hands already. */
  #leave(lease: Lease): void {
    if (this.#active.get(lease.runId)?.claim.lease.token === lease.token) this.#active.delete(lease.runId);
    this.#keeper.drop(lease);
    if (this.#active.size === 0) this.#loop.stop();
  }

  #ended(turn: Turn, ending: Ending): void {
    switch (ending.kind) {
      case "suspended":
        this.#residents.keep(turn);
        this.dueAt(ending.dueAt);
        return;
      case "ended":
        if (ending.next.kind === "yield") this.nudge();
        else this.#parts.onEnded(turn.ref, ending.next);
        return;
      case "lost":
        this.#lost.add(turn.claim.lease);
        // A store that fails for good would otherwise be noticed only when the run is given up.
        if (ending.reason instanceof StoreError) this.#parts.onProblem(ending.reason);
        return;
      case "paused":
        return;
    }
  }

  /** Ends a run that cannot have its turn, in a place that it takes up; false when another was faster. */
  async #giveUp(claim: Claim, next: Next): Promise<boolean> {
    this.#reserved += 1;
    return this.#endUnfit(claim, next).finally(() => {
      this.#reserved -= 1;
    });
  }

  async #endUnfit(claim: Claim, next: Next): Promise<boolean> {
    const request: CommitRequest = {
      kind: "commit",
      lease: claim.lease,
      boundary: lastBoundary(claim, next),
      alongside: [],
      mutations: null,
      leaseUntil: 0,
      ...this.#announcement(claim, next),
    };
    const outcome = await this.#parts.group.submit(request);
    this.#count(claim.workflowName, request, outcome);
    if (request.announce) this.fallBehind();
    if (outcome.kind === "committed") this.#parts.onEnded(claim, next);
    return outcome.kind !== "superseded";
  }

  // ---------------------------------------------------------------------------------------------- what turns ask for

  commit(turn: Turn, { boundary, alongside, mutations }: TurnCommit): void {
    const { lease } = turn.claim;
    const since = this.runtime.monotonic();
    const leaseUntil = this.#keeper.extension(lease, since);
    const announcement = this.#announcement(turn.ref, boundary.next);
    const request: CommitRequest = {
      kind: "commit",
      lease,
      boundary,
      alongside,
      mutations,
      leaseUntil,
      ...announcement,
    };
    this.#parts.group.send(new SentCommit(request, turn, since, this.#commits));
  }

  readonly #commits: CommitListener = {
    isWanted: ({ request: { lease } }) => this.#keeper.holds(lease),
    committed: ({ request, turn, since }, outcome) => {
      const { lease, boundary, leaseUntil, alongside, announce } = request;
      this.#count(turn.ref.workflowName, request, outcome);
      this.#memory.grew(turn);
      if (announce) this.fallBehind();
      const goesOn = outcome.kind === "committed" && boundary.next.kind === "continue";
      if (goesOn && leaseUntil > 0) this.#keeper.extended(lease, since, leaseUntil);
      if (alongside.length > 0) this.#toldOthers(alongside);
      // Nobody need have taken the run over: the store may have lost what this turn built on.
      if (outcome.kind === "superseded") void this.#returned.give([lease]);
      turn.committed(outcome);
    },
  };

  #count(workflowName: string, { boundary }: CommitRequest, outcome: CommitOutcome): void {
    if (workflowName === this.#parts.ownWorkflow || !this.#parts.store.beat) return;
    this.#beats.tallies.count(workflowName, boundary, outcome, this.runtime.now());
  }

  #announcement(ref: InstanceRef & { readonly runNumber: number }, next: Next): { announce?: CreateRequest } {
    const announce = this.#parts.announce(ref, next);
    return announce ? { announce } : nothing;
  }

  #toldOthers(alongside: CommitRequest["alongside"]): void {
    if (alongside.some((request) => request.kind === "create")) this.fallBehind();
    else this.nudge();
    for (const request of alongside) {
      if (request.kind !== "sendEvent") continue;
      for (const turn of this.#active.values()) {
        if (turn.ref.instanceId === request.instanceId && turn.ref.workflowName === request.workflowName)
          turn.eventsArrived();
      }
    }
  }

  async readEvents(turn: Turn, after: number): Promise<readonly EventRecord[]> {
    const { runId } = turn.claim.lease;
    try {
      const read = await this.#eventReads.read({ runId, steps: false, eventsAfter: after });
      return read?.kind === "history" ? read.events : [];
    } catch (problem) {
      // A wait whose timeout was refused asks again as soon as this answers: not faster than a failing store is asked.
      await this.#pause(storeRetryDelayMs(1, () => this.runtime.float()));
      throw problem;
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.runtime.timer(resolve, ms);
    });
  }

  holdsLease(turn: Turn): boolean {
    return this.#keeper.holds(turn.claim.lease);
  }

  spoke(turn: Turn, stepName: string | null): void {
    this.#loop.spoke(turn, stepName);
  }

  wake(turn: Turn): void {
    this.#wakes.heard(turn);
  }

  notice({ ref }: Turn, message: string): void {
    this.#parts.onNotice(`${ref.workflowName}/${ref.instanceId}: ${message}`);
  }

  takeStep(turn: Turn): boolean {
    const budget = this.#budgets.get(turn);
    return budget === undefined || budget.left-- > 0;
  }

  definitionOf(workflowName: string): WorkflowDefinition | undefined {
    return this.#parts.definitions.get(workflowName);
  }
}

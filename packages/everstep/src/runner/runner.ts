/** Takes turns: claims due runs up to its capacity, drives them concurrently, commits in groups, keeps their leases. */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import { crashDelaysMs } from "../engine/backoff.ts";
import type { Ending } from "../engine/ending.ts";
import { Turn } from "../engine/turn.ts";
import type { TurnHost, TurnScope } from "../engine/turn-host.ts";
import type { Next } from "../model/boundary.ts";
import { EverstepError } from "../model/error.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRef, RunId } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import { runnerDefaults } from "../model/limits.ts";
import type { CommitOutcome, CommitRequest, CreateRequest, LeaseOffer } from "../model/request.ts";
import type { AsyncScope, Runtime, Timer } from "../model/runtime.ts";
import type { OwnerHold, RunHistory, Store } from "../store/store.ts";
import type { CommitGroup } from "./commit-group.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { PollDispatcher, type PollOptions, type TickReport } from "./poll-dispatcher.ts";
import { Residents } from "./residents.ts";

export interface RunnerOptions extends PollOptions {
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly residentsMax: number;
  /** What becomes of runs whose process died: go on (default), or end with an error. */
  readonly onInterrupted: "resume" | "error";
}

export interface RunnerParts {
  readonly store: Store;
  readonly runtime: Runtime;
  readonly group: CommitGroup;
  readonly scope: AsyncScope<TurnScope>;
  readonly definitions: ReadonlyMap<string, WorkflowDefinition>;
  readonly options: RunnerOptions;
  /** What to create with the end of a run, so that the host is told of it. */
  readonly announce: (
    ref: InstanceRef & { readonly runNumber: number },
    next: Next,
  ) => CreateRequest | undefined;
  /** A run came to its end under this runner. */
  readonly onEnded: (ref: InstanceRef & { readonly runNumber: number }, next: Next) => void;
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

export class Runner implements TurnHost {
  readonly owner: string;
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  readonly #parts: RunnerParts;
  readonly #keeper: LeaseKeeper;
  readonly #residents: Residents;
  readonly #dispatcher: PollDispatcher;
  readonly #active = new Map<RunId, Turn>();
  readonly #endings = new Set<Promise<void>>();
  #state: "idle" | "running" | "stopping" | "stopped" = "idle";
  /** Nothing due is waiting behind what this runner already has. */
  #caughtUp = false;
  /** Places promised to creations whose outcome is not known yet. */
  #offered = 0;
  /** Bodies the turns of a limited tick may still start. */
  readonly #budgets = new WeakMap<Turn, StepBudget>();
  #hold: Promise<OwnerHold> | null = null;
  #lookedForDead = Number.NEGATIVE_INFINITY;
  #unguard: (() => void) | null = null;
  #ownerWatch: Timer | null = null;
  #otherWatch: Timer | null = null;

  constructor(parts: RunnerParts) {
    const { store, runtime, options } = parts;
    this.#parts = parts;
    this.runtime = runtime;
    this.scope = parts.scope;
    this.owner = runtime.uuid();
    this.#keeper = new LeaseKeeper(store, runtime, options.leaseMs);
    this.#residents = new Residents(options.residentsMax);
    this.#dispatcher = new PollDispatcher(runtime, options, () => this.#sweep());
  }

  // ---------------------------------------------------------------------------------------------- life

  async start(): Promise<void> {
    if (this.#state !== "idle") return;
    this.#state = "running";
    this.#guard();
    await this.#holdOwnership();
    await this.#careForDeadOwners();
    this.#watchOwners();
    this.#watchOthers(await this.#changeMark());
    this.#dispatcher.start();
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  get activeCount(): number {
    return this.#active.size;
  }

  /** No new turns; bodies in flight may finish until the deadline, then their leases are given back. */
  async stop(graceMs: number): Promise<StopReport> {
    if (this.#state === "stopped") return { finished: 0, released: 0 };
    this.#state = "stopping";
    this.#dispatcher.stop();
    this.#ownerWatch?.cancel();
    this.#otherWatch?.cancel();
    const before = this.#active.size;
    for (const turn of this.#active.values()) turn.windDown();
    await this.#endingsWithin(graceMs);
    const cutOff = [...this.#active.values()];
    const leases = cutOff.map((turn) => turn.claim.lease);
    for (const turn of cutOff) turn.abandon(new EverstepError("APP_STOPPED", "The runner is shutting down."));
    if (leases.length > 0)
      await this.#parts.store.release(leases, this.runtime.now()).catch(this.#parts.onProblem);
    await Promise.all(this.#endings);
    this.#residents.clear();
    this.#state = "stopped";
    this.#unguard?.();
    const hold = await this.#hold?.catch(() => null);
    await hold?.release().catch(this.#parts.onProblem);
    return { finished: before - cutOff.length, released: cutOff.length };
  }

  /** A promise a workflow forgot about must not take the process down with it. */
  #guard(): void {
    this.#unguard ??=
      this.runtime.onStrayRejection?.((reason) => {
        const inside = this.scope.current();
        inside?.turn.strayRejection(reason);
        return inside !== undefined;
      }) ?? null;
  }

  #endingsWithin(graceMs: number): Promise<void> {
    return new Promise((resolve) => {
      let timer: Timer | null = null;
      const done = (): void => {
        timer?.cancel();
        resolve();
      };
      timer = this.runtime.timer(done, graceMs);
      void Promise.all(this.#endings).then(done);
    });
  }

  // ---------------------------------------------------------------------------------------------- hints

  /** Something became due in this process. */
  nudge(): void {
    this.#dispatcher.nudge();
  }

  dueAt(time: number): void {
    this.#dispatcher.dueAt(time);
  }

  /** The bodies in flight of a run that has its turn here; more than the store knows of. */
  begunOf(runId: RunId): readonly BegunBody[] | undefined {
    return this.#active.get(runId)?.begun;
  }

  /** An event was accepted for a run that may have its turn here. */
  nudgeRun(runId: RunId): void {
    this.#active.get(runId)?.eventsArrived();
  }

  /** A run was terminated, restarted or otherwise taken away from its turn. */
  recall(runId: RunId, reason: string): void {
    this.#active.get(runId)?.abandon(new EverstepError("STEP_INTERRUPTED", reason));
  }

  /** A place for an instance about to be created, if nothing that is due waits for one. */
  offerLease(): LeaseOffer | null {
    if (this.#state !== "running" || !this.#caughtUp || this.#freeSlots() <= 0) return null;
    this.#offered++;
    return { owner: this.owner, until: this.runtime.now() + this.#parts.options.leaseMs };
  }

  /** The offer was taken (with its claim) or not needed after all. */
  takeUp(claim: Claim | null, since: number): void {
    this.#offered--;
    if (claim) void this.#begin(claim, freshHistory(claim), since);
  }

  /** An instance was created that this runner had no place for. */
  fallBehind(): void {
    this.#caughtUp = false;
    this.nudge();
  }

  #freeSlots(): number {
    return this.#parts.options.concurrency - this.#active.size - this.#offered;
  }

  // ---------------------------------------------------------------------------------------------- ticking

  /** One sweep for hosts without a loop: claims, takes the turns, and waits until each has ended or waits. */
  async tick(options: TickOptions = {}): Promise<{ readonly processed: number }> {
    this.#guard();
    await this.#holdOwnership();
    await this.#careForDeadOwners();
    const limit = Math.min(options.maxInstances ?? Number.POSITIVE_INFINITY, this.#freeSlots());
    const budget = options.maxSteps === undefined ? null : { left: options.maxSteps };
    const { turns } = await this.#claimAndBegin(limit, budget);
    await Promise.all(turns);
    return { processed: turns.length };
  }

  async #sweep(): Promise<TickReport> {
    try {
      await this.#careForDeadOwners();
      const limit = this.#freeSlots();
      if (limit <= 0) return { claimed: 0, more: true, nextDueAt: undefined };
      const { claimed, at } = await this.#claimAndBegin(limit);
      const more = claimed >= limit;
      this.#caughtUp = !more;
      if (more) return { claimed, more, nextDueAt: undefined };
      const { nextDueAt, held } = await this.#lookAhead(at);
      // The end of a turn here makes room, so it looks again.
      if (held) this.#caughtUp = false;
      return { claimed, more, nextDueAt };
    } catch (problem) {
      this.#parts.onProblem(problem);
      throw problem;
    }
  }

  /** When the next run wants its turn, and whether a concurrency cap holds one back that was due at the last claim. */
  async #lookAhead(
    claimedAt: number,
  ): Promise<{ readonly nextDueAt: number | null; readonly held: boolean }> {
    const { store, definitions } = this.#parts;
    const isCapped = (name: string): boolean => definitions.get(name)?.options.concurrency !== undefined;
    const names = [...definitions.keys()];
    const free = names.filter((name) => !isCapped(name));
    // One by one: what a cap holds back must not hide when the others are due.
    const groups = [...(free.length > 0 ? [free] : []), ...names.filter(isCapped).map((name) => [name])];
    let nextDueAt: number | null = null;
    let held = false;
    for (const group of groups) {
      const dueAt = await store.nextDueAt(group);
      if (dueAt === null) continue;
      if (dueAt <= claimedAt) held = true;
      else nextDueAt = Math.min(nextDueAt ?? dueAt, dueAt);
    }
    return { nextDueAt, held };
  }

  async #claimAndBegin(
    limit: number,
    budget: StepBudget | null = null,
  ): Promise<{ readonly claimed: number; readonly at: number; readonly turns: Promise<void>[] }> {
    const { store, definitions, options } = this.#parts;
    const since = this.runtime.monotonic();
    const now = this.runtime.now();
    if (limit <= 0) return { claimed: 0, at: now, turns: [] };
    const claims = await store.claim({
      owner: this.owner,
      workflows: [...definitions.values()].map(({ name, options: own }) => ({
        name,
        concurrency: own.concurrency ?? null,
      })),
      limit,
      now,
      leaseUntil: now + options.leaseMs,
      crashDelaysMs: crashDelaysMs(10, () => this.runtime.float()),
    });
    if (claims.length === 0) return { claimed: 0, at: now, turns: [] };
    return { claimed: claims.length, at: now, turns: await this.#beginAll(claims, since, budget) };
  }

  async #beginAll(
    claims: readonly Claim[],
    since: number,
    budget: StepBudget | null,
  ): Promise<Promise<void>[]> {
    const turns: Promise<void>[] = [];
    const residents = new Map<Claim, Turn>();
    const reads: { runId: RunId; steps: boolean; eventsAfter: number }[] = [];
    for (const claim of claims) {
      const turn = this.#residents.take(claim);
      const { runId } = claim.lease;
      if (turn) {
        residents.set(claim, turn);
        if (claim.eventSeq > turn.eventSeq) reads.push({ runId, steps: false, eventsAfter: turn.eventSeq });
      } else if (!claim.fresh || claim.eventSeq > 0) {
        reads.push({ runId, steps: !claim.fresh, eventsAfter: 0 });
      }
    }
    const histories = new Map<RunId, RunHistory>();
    try {
      const read = reads.length === 0 ? [] : await this.#parts.store.readRuns(reads);
      for (const history of read) histories.set(history.runId, history);
    } catch (problem) {
      await this.#parts.store.release(
        claims.map((claim) => claim.lease),
        this.runtime.now(),
      );
      throw problem;
    }
    for (const claim of claims) {
      const history = histories.get(claim.lease.runId) ?? freshHistory(claim);
      turns.push(this.#begin(claim, history, since, residents.get(claim), budget));
    }
    return turns;
  }

  /** One turn, from claim to ending. Whatever goes wrong stays with this run. */
  #begin(
    claim: Claim,
    history: RunHistory,
    since: number,
    resident?: Turn,
    budget: StepBudget | null = null,
  ): Promise<void> {
    const ending = this.#takeTurn(claim, history, since, resident, budget)
      .catch(this.#parts.onProblem)
      .finally(() => {
        this.#endings.delete(ending);
        if (!this.#caughtUp) this.nudge();
      });
    this.#endings.add(ending);
    return ending;
  }

  async #takeTurn(
    claim: Claim,
    history: RunHistory,
    since: number,
    resident: Turn | undefined,
    budget: StepBudget | null,
  ): Promise<void> {
    const definition = this.#parts.definitions.get(claim.workflowName);
    if (!definition) return this.#parts.store.release([claim.lease], this.runtime.now());
    const unfit = this.#unfit(claim, history, definition);
    if (unfit) return this.#giveUp(claim, unfit.error, unfit.deadLetter);
    let turn: Turn;
    let ending: Promise<Ending>;
    try {
      turn =
        resident ?? new Turn(claim, history as Extract<RunHistory, { kind: "history" }>, definition, this);
      this.#active.set(claim.lease.runId, turn);
      if (budget) this.#budgets.set(turn, budget);
      else this.#budgets.delete(turn);
      this.#keeper.hold(turn, claim.lease, since);
      const events = history.kind === "history" ? history.events : [];
      ending = resident ? resident.resume(claim, events) : turn.start();
    } catch (problem) {
      this.#leave(claim);
      return this.#giveUp(claim, unreadable(problem), false);
    }
    if (this.#state === "stopping") turn.windDown();
    const ended = await ending;
    this.#leave(claim);
    this.#ended(turn, ended);
  }

  #leave(claim: Claim): void {
    this.#active.delete(claim.lease.runId);
    this.#keeper.drop(claim.lease.runId);
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
      case "paused":
      case "lost":
        return;
    }
  }

  // ---------------------------------------------------------------------------------------------- runs that cannot go on

  #unfit(
    claim: Claim,
    history: RunHistory,
    definition: WorkflowDefinition,
  ): { readonly error: Error; readonly deadLetter: boolean } | null {
    const { crashesMax } = definition.limits;
    if (claim.crashCount > crashesMax) {
      const message =
        `The process running this instance died ${claim.crashCount} times in a row without progress, ` +
        `so it was given up (limit ${crashesMax}). Fix what kills it, then restart or retry the instance.`;
      return { error: new EverstepError("CRASH_LOOP", message), deadLetter: true };
    }
    return history.kind === "unreadable" ? { error: unreadable(history.error), deadLetter: false } : null;
  }

  async #giveUp(claim: Claim, error: Error, deadLetter: boolean): Promise<void> {
    const next: Next = { kind: "error", error: toStoredError(error), deadLetter };
    const boundary = {
      number: 1,
      steps: [],
      timeouts: [],
      consumed: [],
      eventSeqSeen: claim.eventSeq,
      logs: [],
      begun: [],
      next,
    };
    const request: CommitRequest = {
      kind: "commit",
      lease: claim.lease,
      boundary,
      alongside: [],
      mutations: null,
      leaseUntil: 0,
      ...this.#announcement(claim, next),
    };
    const outcome = await this.#parts.group.submit(request);
    if (request.announce) this.fallBehind();
    if (outcome.kind === "committed") this.#parts.onEnded(claim, next);
  }

  // ---------------------------------------------------------------------------------------------- owners

  async #holdOwnership(): Promise<void> {
    const { ownership } = this.#parts.store;
    if (!ownership) return;
    this.#hold ??= ownership.hold(this.owner);
    try {
      await this.#hold;
    } catch (problem) {
      // Without the lock others wait for the lease to run out; everything else works.
      this.#parts.onProblem(problem);
    }
  }

  /** Looking costs little and polling may have slowed down: a death is noticed within a second even by an idle runner. */
  #watchOwners(): void {
    if (!this.#parts.store.ownership || this.#state !== "running") return;
    this.#ownerWatch = this.runtime.timer(() => {
      this.#careForDeadOwners()
        .catch(this.#parts.onProblem)
        .finally(() => this.#watchOwners());
    }, this.#parts.options.pollMsMin * 2);
  }

  /** What another process wrote may be due here, or an event for a turn that a body holds open. */
  #watchOthers(mark: number): void {
    if (!this.#parts.store.changeMark || this.#state !== "running") return;
    this.#otherWatch = this.runtime.timer(() => {
      // If the store cannot be asked, the next sweep says so; this only looks again.
      const looked = this.#changeMark().catch(() => mark);
      void looked.then((newer) => {
        if (newer !== mark) {
          this.nudge();
          for (const turn of this.#active.values()) if (turn.awaitsEvents) turn.eventsArrived();
        }
        this.#watchOthers(newer);
      });
    }, runnerDefaults.lookMs);
  }

  async #changeMark(): Promise<number> {
    return (await this.#parts.store.changeMark?.()) ?? 0;
  }

  /** Work of processes that died on this host goes on at once instead of after its lease. */
  async #careForDeadOwners(): Promise<void> {
    const { store, group, options } = this.#parts;
    const now = this.runtime.monotonic();
    if (!store.ownership || now - this.#lookedForDead < options.pollMsMin) return;
    this.#lookedForDead = now;
    for (const owner of await store.ownership.findDead()) {
      await group.submit({ kind: "abandon", owner, fate: this.#fateOfInterrupted() });
      await store.ownership.bury(owner);
      this.nudge();
    }
  }

  #fateOfInterrupted() {
    if (this.#parts.options.onInterrupted === "resume") return { kind: "expire" } as const;
    const error = { name: "Error", message: "interrupted by restart", code: "INTERRUPTED_BY_RESTART" };
    return { kind: "error", error } as const;
  }

  // ---------------------------------------------------------------------------------------------- what turns ask for

  async commit(
    turn: Turn,
    request: Pick<CommitRequest, "boundary" | "alongside" | "mutations">,
  ): Promise<CommitOutcome> {
    const { lease } = turn.claim;
    const since = this.runtime.monotonic();
    const leaseUntil = this.#keeper.extension(lease.runId);
    const announcement = this.#announcement(turn.ref, request.boundary.next);
    const outcome = await this.#parts.group.submit<CommitRequest>(
      { kind: "commit", lease, ...request, leaseUntil, ...announcement },
      () => this.#keeper.holds(lease.runId),
    );
    if (announcement.announce) this.fallBehind();
    const goesOn = outcome.kind === "committed" && request.boundary.next.kind === "continue";
    if (goesOn && leaseUntil > 0) this.#keeper.extended(lease.runId, since);
    if (request.alongside.length > 0) this.#toldOthers(request.alongside);
    return outcome;
  }

  #announcement(ref: InstanceRef & { readonly runNumber: number }, next: Next): { announce?: CreateRequest } {
    const announce = this.#parts.announce(ref, next);
    return announce ? { announce } : {};
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
    const [read] = await this.#parts.store.readRuns([{ runId, steps: false, eventsAfter: after }]);
    return read?.kind === "history" ? read.events : [];
  }

  holdsLease(turn: Turn): boolean {
    return this.#keeper.holds(turn.claim.lease.runId);
  }

  wake(turn: Turn): void {
    const { runId, token } = turn.claim.lease;
    this.#parts.group.submit({ kind: "wake", runId, token }).then(() => this.nudge(), this.#parts.onProblem);
  }

  takeStep(turn: Turn): boolean {
    const budget = this.#budgets.get(turn);
    return budget === undefined || budget.left-- > 0;
  }

  definitionOf(workflowName: string): WorkflowDefinition | undefined {
    return this.#parts.definitions.get(workflowName);
  }
}

function freshHistory(claim: Claim): RunHistory {
  return { kind: "history", runId: claim.lease.runId, steps: [], events: [] };
}

function unreadable(problem: unknown): EverstepError {
  const detail = problem instanceof Error ? problem.message : String(problem);
  return new EverstepError(
    "HISTORY_UNREADABLE",
    `The stored history of this run cannot be read (${detail}). Nothing was changed; repair the rows and retry, or restart the instance.`,
    { cause: problem },
  );
}

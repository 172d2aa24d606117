import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { storeRetryDelayMs } from "../engine/backoff.ts";
import type { Turn } from "../engine/turn.ts";
import type { TurnCommit, TurnHost, TurnScope } from "../engine/turn-host.ts";
import type { Next } from "../model/boundary.ts";
import type { EventRecord } from "../model/event.ts";
import type { InstanceRef } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import type { Observer } from "../model/observer.ts";
import type { CommitRequest, CreateRequest } from "../model/request.ts";
import type { AsyncScope, Runtime } from "../model/runtime.ts";
import type { WaitingStep } from "../model/step.ts";
import { EventReads } from "./event-reads.ts";
import type { RunnerParts } from "./runner-parts.ts";
import { type CommitListener, SentCommit } from "./sent-commit.ts";
import { lastBoundary } from "./unfit.ts";

type Parts = Pick<
  RunnerParts,
  "setup" | "dispatcher" | "leases" | "memory" | "loop" | "wakes" | "capacity" | "turns"
>;

/** Bodies the turns of a limited tick may still start. */
export interface StepBudget {
  left: number;
}

/** What the turns of a runner ask for: commits in groups, events, leases. */
export class RunnerHost implements TurnHost {
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  readonly observer: Observer;
  readonly #parts: Parts;
  readonly #eventReads: EventReads;
  readonly #budgets = new WeakMap<Turn, StepBudget>();
  #unguard: (() => void) | null = null;

  constructor(parts: Parts) {
    const { store, runtime, scope } = parts.setup;
    this.runtime = runtime;
    this.scope = scope;
    this.observer = parts.setup.observers.all;
    this.#parts = parts;
    this.#eventReads = new EventReads(store, runtime);
  }

  // ---------------------------------------------------------------------------------------------- commits

  commit(turn: Turn, { boundary, alongside, mutations }: TurnCommit): void {
    const { setup, leases } = this.#parts;
    const { lease } = turn.claim;
    const since = this.runtime.monotonic();
    const leaseUntil = leases.keeper.extension(lease, since);
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
    setup.group.send(new SentCommit(request, turn, since, this.#commits));
  }

  readonly #commits: CommitListener = {
    isWanted: ({ request: { lease } }) => this.#parts.leases.keeper.holds(lease),
    committed: ({ request, turn, since }, outcome) => {
      const { leases, memory, capacity } = this.#parts;
      const { lease, boundary, leaseUntil, alongside, announce } = request;
      memory.grew(turn);
      if (announce) capacity.fallBehind();
      const goesOn = outcome.kind === "committed" && boundary.next.kind === "continue";
      if (goesOn && leaseUntil > 0) leases.keeper.extended(lease, since, leaseUntil);
      if (alongside.length > 0) this.#toldOthers(alongside);
      // Nobody need have taken the run over: the store may have lost what this turn built on.
      if (outcome.kind === "superseded") void leases.returned.give([lease]);
      turn.committed(outcome);
    },
  };

  /** Ends a run that cannot have its turn; false when another was faster. */
  async endUnfit(claim: Claim, next: Next): Promise<boolean> {
    const { setup, capacity } = this.#parts;
    const request: CommitRequest = {
      kind: "commit",
      lease: claim.lease,
      boundary: lastBoundary(claim, next),
      alongside: [],
      mutations: null,
      leaseUntil: 0,
      ...this.#announcement(claim, next),
    };
    const outcome = await setup.group.submit(request, { of: claim });
    if (request.announce) capacity.fallBehind();
    if (outcome.kind === "committed") setup.onEnded(claim, next);
    return outcome.kind !== "superseded";
  }

  #announcement(ref: InstanceRef & { readonly runNumber: number }, next: Next): { announce?: CreateRequest } {
    const announce = this.#parts.setup.announce(ref, next);
    return announce ? { announce } : nothing;
  }

  #toldOthers(alongside: CommitRequest["alongside"]): void {
    const { dispatcher, capacity, turns } = this.#parts;
    if (alongside.some((request) => request.kind === "create")) capacity.fallBehind();
    else dispatcher.nudge();
    for (const request of alongside) if (request.kind === "sendEvent") turns.eventsArrivedFor(request);
  }

  // ---------------------------------------------------------------------------------------------- everything else

  async readEvents(turn: Turn, after: number): Promise<readonly EventRecord[]> {
    const { runId } = turn.claim.lease;
    try {
      const read = await this.#eventReads.read({ runId, steps: false, eventsAfter: after });
      return read?.kind === "history" ? read.events : [];
    } catch (problem) {
      // A wait whose timeout was refused asks again as soon as this answers: not faster than a failing store is asked.
      const delayMs = storeRetryDelayMs(1, () => this.runtime.float());
      await new Promise<void>((resolve) => void this.runtime.timer(resolve, delayMs));
      throw problem;
    }
  }

  async readWaits({ claim, eventSeq }: Turn): Promise<readonly WaitingStep[]> {
    const { runId } = claim.lease;
    const read = await this.#eventReads.read({ runId, steps: true, eventsAfter: eventSeq });
    if (read?.kind !== "history") throw new Error(`The waits of run ${runId} cannot be read.`);
    return read.steps.filter((step) => step.status === "waiting");
  }

  holdsLease(turn: Turn): boolean {
    return this.#parts.leases.keeper.holds(turn.claim.lease);
  }

  spoke(turn: Turn, stepName: string | null): void {
    this.#parts.loop.spoke(turn, stepName);
  }

  wake(turn: Turn): void {
    this.#parts.wakes.heard(turn);
  }

  /** How many bodies the turn may start, with the others of its tick; without a limit as many as it likes. */
  limit(turn: Turn, budget: StepBudget | null): void {
    if (budget) this.#budgets.set(turn, budget);
    else this.#budgets.delete(turn);
  }

  takeStep(turn: Turn): boolean {
    const budget = this.#budgets.get(turn);
    return budget === undefined || budget.left-- > 0;
  }

  definitionOf(workflowName: string): WorkflowDefinition | undefined {
    return this.#parts.setup.definitions.get(workflowName);
  }

  /** What a workflow forgot to handle must not take the process down with it. */
  guard(): void {
    this.#unguard ??=
      this.runtime.onStrayError?.((error, kind) => {
        const inside = this.scope.current();
        inside?.turn.strayError(error, kind, inside.body);
        return inside !== undefined;
      }) ?? null;
  }

  unguard(): void {
    this.#unguard?.();
  }
}

const nothing = {};

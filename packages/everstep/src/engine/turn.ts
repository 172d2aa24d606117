/**
 * One claimed run, driven forward: the author's function from the top, completed steps answered from history, whatever
 * is new collected into boundaries. All effects are handed in through `TurnHost`. This is what a runner sees of it:
 *
 *   step-calls.ts      starts the author's function and takes what it asks for
 *   turn-pump.ts       goes on after every drained microtask queue, when pump-schedule.ts says so
 *   open-steps.ts      decides what was asked; bodies.ts runs bodies, parked-steps.ts holds what waits
 *   step-results.ts    hands over what steps came to, in the order of hand-over.ts
 *   turn-commits.ts    sends what is new; commit-answers.ts goes by what the store answers
 *   turn-endings.ts    ends it; turn-life.ts knows where it stands, turn-pause.ts holds it up
 */
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { claimBytes } from "../model/bytes.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRef } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { StrayErrorKind } from "../model/runtime.ts";
import type { Body } from "./body.ts";
import { ClaimedRun } from "./claimed-run.ts";
import type { Ending } from "./ending.ts";
import { goOn } from "./turn-commits.ts";
import type { TurnHost, TurnScope } from "./turn-host.ts";
import type { TurnState } from "./turn-life.ts";
import { TurnParts } from "./turn-parts.ts";
import type { TurnHistory } from "./turn-records.ts";

export class Turn implements TurnScope {
  readonly turn: Turn = this;
  readonly body = null;
  readonly #parts: TurnParts;

  constructor(claim: Claim, history: TurnHistory, definition: WorkflowDefinition, host: TurnHost) {
    this.#parts = new TurnParts(new ClaimedRun(this, claim, definition, host), history);
  }

  get definition(): WorkflowDefinition {
    return this.#parts.run.definition;
  }

  get claim(): Claim {
    return this.#parts.run.claim;
  }

  get ref(): InstanceRef & { readonly runNumber: number } {
    return this.#parts.run.claim;
  }

  get state(): TurnState {
    return this.#parts.life.state;
  }

  /** Bodies in flight, those included that the commit under way lets start: it may be durable already. */
  get begun(): readonly BegunBody[] {
    return this.#parts.commits.begun;
  }

  /** The number of the newest commit under this token that was sent. */
  get commitNumber(): number {
    return this.#parts.commits.number;
  }

  /** The number of the newest commit under this token that was applied. */
  get appliedNumber(): number {
    return this.#parts.commits.appliedNumber;
  }

  /** Sequence of the newest event it has taken notice of. */
  get eventSeq(): number {
    return this.#parts.records.inbox.seq;
  }

  /** Since when it is suspended, by the monotonic clock. */
  get suspendedAt(): number {
    return this.#parts.life.suspendedAt;
  }

  /** Something new became durable under the lease it has or had last. */
  get hasProgressed(): boolean {
    return this.#parts.commits.hasProgressed;
  }

  /** How much memory the records of this run take. */
  get bytes(): number {
    const { register, inbox } = this.#parts.records;
    return claimBytes(this.claim) + register.bytes + inbox.bytes;
  }

  /** Held open by a body while another branch waits for something that may be sent. */
  get awaitsEvents(): boolean {
    return this.#parts.life.isOpen && !this.#parts.parked.isEmpty;
  }

  /** In progress, and not about to end by itself. */
  get canBeRecalled(): boolean {
    return this.#parts.life.isOpen && !this.#parts.commits.isEnding;
  }

  start(): Promise<Ending> {
    const { life, schedule, calls } = this.#parts;
    calls.start();
    schedule.pump();
    return life.ended;
  }

  /** Goes on under a new lease exactly where the turn was suspended. */
  resume(claim: Claim, events: readonly EventRecord[]): Promise<Ending> {
    const { run, records, life, schedule, commits } = this.#parts;
    run.claimAgain(claim);
    commits.claimed();
    life.resume();
    records.inbox.claimed(claim.eventSeq, events);
    schedule.pump();
    return life.ended;
  }

  /** Events were accepted for this run after the turn read them. */
  eventsArrived(): void {
    this.#parts.steps.eventsArrived();
  }

  /** The store has answered the commit under way. */
  committed(outcome: CommitOutcome): void {
    this.#parts.answers.committed(outcome);
  }

  /** The commit under way came to nothing that is known. */
  commitFailed(error: unknown): void {
    this.#parts.answers.commitFailed(error);
  }

  /** Lets bodies in flight finish, records them, and gives the lease back without starting anything new. */
  windDown(): void {
    this.#parts.life.windDown();
    this.#parts.schedule.pump();
  }

  /** The run is paused: winds down as long as it is. */
  paused(): void {
    this.#parts.pause.paused();
    this.#parts.schedule.pump();
  }

  /** The run is not paused, or not any more: what was held up goes on. */
  resumed(): void {
    this.#parts.pause.resumed();
  }

  /** The run may have been paused: the next body waits for a commit, whose answer says so. */
  askBeforeNextBody(): void {
    this.#parts.bodies.askFirst();
  }

  /** Stops at once: bodies are told, their results are void. */
  abandon(reason: Error): void {
    this.#parts.life.abandon(reason);
  }

  /** Log lines of long bodies do not wait for their end. */
  flushLogs(): void {
    const { records, life, commits } = this.#parts;
    if (life.isOpen && records.draft.hasLogs) commits.commit(goOn);
  }

  /** Something this run's code left behind failed and nobody handled it: worth a line, not the process. */
  strayError(error: unknown, kind: StrayErrorKind, body: Body | null): void {
    this.#parts.calls.strayError(error, kind, body);
  }
}

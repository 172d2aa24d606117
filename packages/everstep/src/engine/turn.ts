/**
 * One claimed run, driven forward: the author's function from the top, completed steps answered from history, whatever
 * is new collected into boundaries. All effects are handed in through `TurnHost`.
 *
 *   open -> suspended -> open ...   every branch waits; a runner may keep the turn and `resume` it under its next lease.
 *                                   Author code may go on all the same: it is heard, and the run is made due
 *   open -> closed                  the run ended, was paused, yielded, or the lease is gone; nothing happens any more
 *
 * The pump runs after every drained microtask queue. It hands over at most one settlement (hand-over.ts), and when there
 * is none it has what was asked decided (open-steps.ts), commits, and finds out whether the turn is at its end.
 */
import { decodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { EventAddress, OutgoingEvent, StartOptions, WorkflowStep } from "../authoring/workflow-step.ts";
import type { Boundary, Next } from "../model/boundary.ts";
import { claimBytes } from "../model/bytes.ts";
import type { StoreError } from "../model/error.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRef, TerminationReason } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import { type LogLevel, systemCategory } from "../model/log-line.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { StrayErrorKind } from "../model/runtime.ts";
import type { SettledStep, StepRecord } from "../model/step.ts";
import { addressed } from "./addressed-workflow.ts";
import type { Body } from "./body.ts";
import type { Call, CallSpec } from "./call.ts";
import { CallRegister } from "./call-register.ts";
import { Draft, type DraftContent } from "./draft.ts";
import {
  type Ending,
  endOfRun,
  type RunOutcome,
  suspendedTooLong,
  type TimeLimit,
  timeLimitOf,
} from "./ending.ts";
import { HandOver, mutationsFor, plain, type Settlement } from "./hand-over.ts";
import { Inbox } from "./inbox.ts";
import { planAlongsideCreate, planAlongsideEvent } from "./lifecycle.ts";
import { encodeLogData } from "./log-data.ts";
import { OpenSteps } from "./open-steps.ts";
import { PromptAnswers } from "./prompt-answers.ts";
import { lesserCommits, refusalOf, type Sent, sound } from "./refused-commit.ts";
import { createStepApi } from "./step-api.ts";
import { openBody, type WorkflowAddress } from "./step-context.ts";
import { type StepOptionsResolver, stepOptionsOf } from "./step-options.ts";
import {
  attemptFailed,
  goesInCircles,
  lastWritesRefused,
  leaseLost,
  mutationConflict,
  runFailed,
  strayError,
  turnOver,
  unfinishedSteps,
  workflowStalled,
} from "./turn-errors.ts";
import type { TurnHost, TurnScope } from "./turn-host.ts";
import { TurnTimers } from "./turn-timers.ts";

export class Turn implements TurnScope {
  readonly definition: WorkflowDefinition;
  readonly options: StepOptionsResolver;
  readonly turn: Turn = this;
  readonly body = null;
  readonly #host: TurnHost;
  readonly #step: WorkflowStep;
  readonly #register: CallRegister;
  readonly #draft = new Draft();
  readonly #handOver: HandOver;
  readonly #inbox: Inbox;
  readonly #steps: OpenSteps;
  readonly #timers: TurnTimers;
  readonly #timeLimit: TimeLimit | null;
  #claim: Claim;
  #state: "open" | "suspended" | "closed" = "open";
  #outcome: RunOutcome | null = null;
  /** Pause, shutdown or a used-up step budget: bodies in flight may finish, nothing new begins. */
  #windingDown = false;
  /** The first step whose result the function has got though no commit ever takes it. */
  #voidIndex = Number.POSITIVE_INFINITY;
  #pumpScheduled = false;
  /** A full drain has passed since the last hand-over. */
  #drained = false;
  /** Author code has done nothing for a whole macrotask. */
  #idle = false;
  /** What the commit under way contains. */
  #committing: Sent | null = null;
  /** The commit that ends this turn is under way. */
  #ending = false;
  /** Author code asked for more after the turn had ended, and the runner knows. */
  #wakeSent = false;
  /** The turn was cut off, and the run may wait for something else than what its author code is still going to ask for. */
  #isLost = false;
  readonly #prompt: PromptAnswers;
  /** The step that was asked for last of those that are done. */
  #askedAgain: string | null = null;
  #suspendedAt = 0;
  /** The last commit under this token that was sent, and the last that was applied. */
  #commitNumber: number;
  #appliedNumber: number;
  #hasProgressed = false;
  /** The last write that was part of a commit. */
  #committedUpTo = 0;
  #finish!: (ending: Ending) => void;
  #finished!: Promise<Ending>;

  constructor(
    claim: Claim,
    history: { readonly steps: readonly StepRecord[]; readonly events: readonly EventRecord[] },
    definition: WorkflowDefinition,
    host: TurnHost,
  ) {
    this.definition = definition;
    this.options = stepOptionsOf(definition);
    this.#host = host;
    this.#claim = claim;
    this.#commitNumber = claim.confirmed ? 1 : 0;
    this.#appliedNumber = this.#commitNumber;
    this.#timeLimit = timeLimitOf(definition, claim);
    this.#register = new CallRegister(definition, history.steps, (message) =>
      this.#systemLog("warn", message),
    );
    this.#handOver = new HandOver(this.#draft, this.#register.settledCount);
    this.#inbox = new Inbox(history.events, claim.eventSeq);
    this.#steps = new OpenSteps({
      turn: this,
      host,
      register: this.#register,
      draft: this.#draft,
      handOver: this.#handOver,
      inbox: this.#inbox,
      interrupted: claim.begun,
      crashes: claim.crashCount,
      onSettled: (settlement) => this.#settled(settlement),
      onRecorded: (call) => this.#handOver.owe(call),
      onAttemptFailed: (call, record) => host.notice(this, attemptFailed(call.name, record)),
      onChange: () => this.#schedulePump(),
      onBudgetSpent: () => {
        this.#windingDown = true;
      },
    });
    this.#timers = new TurnTimers(
      host.runtime,
      () => this.#schedulePump(),
      () => this.#stalled(),
    );
    this.#prompt = new PromptAnswers(host.runtime, () => this.#goesInCircles());
    this.#step = createStepApi(this);
    this.#expectEnding();
  }

  get claim(): Claim {
    return this.#claim;
  }

  get ref(): InstanceRef & { readonly runNumber: number } {
    return this.#claim;
  }

  get state(): "open" | "suspended" | "closed" {
    return this.#state;
  }

  /** Bodies in flight, those included that the commit under way lets start: it may be durable already. */
  get begun(): readonly BegunBody[] {
    return this.#steps.begunBeyond(this.#committedUpTo, noRecords);
  }

  /** The number of the newest commit under this token that was sent. */
  get commitNumber(): number {
    return this.#commitNumber;
  }

  /** The number of the newest commit under this token that was applied. */
  get appliedNumber(): number {
    return this.#appliedNumber;
  }

  get eventSeq(): number {
    return this.#inbox.seq;
  }

  /** Since when it is suspended, by the monotonic clock. */
  get suspendedAt(): number {
    return this.#suspendedAt;
  }

  /** Something new became durable under the lease it has or had last. */
  get hasProgressed(): boolean {
    return this.#hasProgressed;
  }

  /** How much memory the records of this run take. */
  get bytes(): number {
    return claimBytes(this.#claim) + this.#register.bytes + this.#inbox.bytes;
  }

  /** Held open by a body while another branch waits for something that may be sent. */
  get awaitsEvents(): boolean {
    return this.#state === "open" && this.#steps.hasParked;
  }

  /** In progress, and not about to end by itself. */
  get canBeRecalled(): boolean {
    return this.#state === "open" && !this.#ending;
  }

  now(): number {
    return this.#host.runtime.now();
  }

  // ---------------------------------------------------------------------------------------------- driven by the runner

  start(): Promise<Ending> {
    const { definition } = this;
    const event = {
      payload: decodeValue(this.#claim.params) as never,
      timestamp: new Date(this.#claim.createdAt),
      instanceId: this.#claim.instanceId,
      workflowName: this.#claim.workflowName,
    };
    const running = this.#host.scope.run<Promise<unknown>>(this, async () =>
      definition.run(event, this.#step),
    );
    running.then(
      (value) => this.#runSettled({ ok: true, value }),
      (error) => this.#runSettled({ ok: false, error }),
    );
    this.#schedulePump();
    return this.#finished;
  }

  /** Goes on under a new lease exactly where the turn was suspended. */
  resume(claim: Claim, events: readonly EventRecord[]): Promise<Ending> {
    this.#claim = claim;
    this.#wakeSent = false;
    this.#commitNumber = claim.confirmed ? 1 : 0;
    this.#appliedNumber = this.#commitNumber;
    this.#hasProgressed = false;
    this.#state = "open";
    this.#expectEnding();
    this.#inbox.claimed(claim.eventSeq, events);
    this.#schedulePump();
    return this.#finished;
  }

  /** Events were accepted for this run after the turn read them. */
  eventsArrived(): void {
    if (this.#state === "open") this.#readEvents(() => {});
  }

  #readEvents(then: () => void): void {
    this.#inbox.fetch(
      (after) => this.#host.readEvents(this, after),
      () => {
        then();
        this.#schedulePump();
      },
    );
  }

  /** Lets bodies in flight finish, records them, and gives the lease back without starting anything new. */
  windDown(): void {
    this.#windingDown = true;
    this.#schedulePump();
  }

  /** The run may have been paused: the next body waits for a commit, whose answer says so. */
  askBeforeNextBody(): void {
    this.#steps.askFirst = true;
  }

  /** Stops at once: bodies are told, their results are void. */
  abandon(reason: Error): void {
    // A suspended one has no bodies and is only forgotten: if its author code is still busy, it says so.
    if (this.#state !== "open") return;
    this.#isLost = true;
    this.#close(() => reason, { kind: "lost", reason });
  }

  /** Log lines of long bodies do not wait for their end. */
  flushLogs(): void {
    if (this.#state === "open" && this.#draft.hasLogs) this.#commit(goOn);
  }

  /** Something this run's code left behind failed and nobody handled it: worth a line, not the process. */
  strayError(error: unknown, kind: StrayErrorKind, body: Body | null): void {
    if (this.#state === "open") this.#systemLog("error", strayError(toStoredError(error), kind));
    // A callback that threw will hardly let its body come to an end.
    if (kind === "thrown") body?.fail(error);
  }

  // ---------------------------------------------------------------------------------------------- asked by author code

  call(spec: CallSpec): Promise<unknown> {
    const parent = this.#currentBody();
    this.#host.spoke?.(this, parent?.call.name ?? null);
    if (this.#state === "closed" && parent === null) this.#wakeLate();
    if (this.#state === "closed" || parent?.isVoid) return new Promise(() => {});
    const entered = this.#register.enter(spec, parent);
    if (entered.kind === "answered") return this.#answerAgain(spec.name, entered.record);
    const { call } = entered;
    this.#prompt.progressed();
    this.#host.rehearsal?.asked(call);
    this.#idle = false;
    this.#timers.cancelStall();
    if (parent) parent.openCalls++;
    const { record } = call;
    // It waits for its place in the recorded order, so that races decide alike, in a body that runs again too.
    if (record && record.status !== "waiting" && record.type === call.type) this.#handOver.owe(call);
    else this.#steps.ask(call);
    this.#wakeLate();
    this.#schedulePump();
    return call.promise;
  }

  log(level: LogLevel, message: string, data: unknown, category: string): void {
    const body = this.#currentBody();
    if (this.#state === "closed" || body?.isVoid) return;
    this.#draft.log({
      stepKey: body?.call.key ?? null,
      attempt: body?.start ?? null,
      level,
      category,
      message,
      data: encodeLogData(data, this.definition.limits.logBytesMax),
      isReplay: body === null && this.#register.replaying,
      createdAt: this.now(),
    });
  }

  startWorkflow(body: Body, workflow: WorkflowAddress, options: StartOptions): string {
    const { name, definition } = addressed(workflow, this.definition.limits, this.#host);
    const request = planAlongsideCreate(name, definition, options, this.#claim, this.#host.runtime);
    openBody(body, "startWorkflow").send(request);
    return request.instanceId;
  }

  sendEvent(body: Body, to: EventAddress, event: OutgoingEvent): void {
    const { name } = addressed(to.workflow, this.definition.limits, this.#host);
    const ref = { workflowName: name, instanceId: to.id };
    const request = planAlongsideEvent(ref, event, body, this.definition.limits, this.#host.runtime);
    openBody(body, "sendEvent").send(request);
  }

  /** The run waits for something else, and its author code goes on: it must be due now, or nobody would ever know. */
  #wakeLate(): void {
    if (this.#wakeSent || (this.#state !== "suspended" && !this.#isLost)) return;
    this.#wakeSent = true;
    this.#host.wake(this);
  }

  #currentBody(): Body | null {
    const scope = this.#host.scope.current();
    return scope?.turn === this ? scope.body : null;
  }

  /** What a call comes to that is over as soon as it is made. */
  answer<Value>(answer: () => Value): Promise<Value> {
    return this.#prompt.give(answer);
  }

  /** The same step asked for again after it was handed over: the same answer. */
  #answerAgain(name: string, record: SettledStep): Promise<unknown> {
    this.#askedAgain = name;
    return this.answer(() => {
      if (record.status === "completed") return decodeValue(record.result);
      throw this.#register.errorOf(record);
    });
  }

  // ---------------------------------------------------------------------------------------------- the pump

  #schedulePump(): void {
    if (this.#pumpScheduled || this.#state !== "open") return;
    this.#pumpScheduled = true;
    this.#host.runtime.drained(this.#pumpDrained);
  }

  readonly #pumpDrained = (): void => {
    this.#pumpScheduled = false;
    this.#drained = true;
    if (this.#state !== "open") return;
    try {
      this.#pump();
    } catch (problem) {
      this.#breakDown(problem);
    }
  };

  /** What is stored of this run cannot be read: it ends with the reason, and neither process nor neighbours are harmed. */
  #breakDown(problem: unknown): void {
    this.#outcome = { kind: "error", error: toStoredError(problem), deadLetter: false };
    this.#end();
  }

  #pump(): void {
    if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
    if (this.#handOverInside()) return this.#schedulePump();
    // The lease may be gone already: what is asked for now is for the next turn.
    if (this.#ending) return;
    if (this.#windingDown) return this.#pumpDown();
    if (this.#outcome === null && this.#handOverNext()) return this.#schedulePump();
    if (this.#outcome !== null) return this.#end();
    if (this.#endIfTimeIsUp()) return;
    if (!this.#handOver.owes) this.#steps.decideAll();
    if (this.#windingDown) return this.#pumpDown();
    // Deciding may have handed over a wait that is over; what author code asks for next shares its commit.
    if (!this.#drained || this.#handOverNext()) return this.#schedulePump();
    if (this.#committing) return this.#armTimer();
    if (this.#isQuiet()) return this.#rest();
    this.#idle = false;
    this.#flush();
    this.#armTimer();
  }

  /** Nothing in flight and nothing to hand over: either every branch waits, or author code is busy elsewhere. */
  #rest(): void {
    if (!this.#steps.hasParked) {
      this.#flush();
      this.#armTimer();
      this.#timers.stalledAfter(this.definition.limits.stallMs);
    } else if (!this.#idle) {
      // Author code must have been idle for a whole macrotask before the turn may end.
      this.#idle = true;
      this.#schedulePump();
    } else if (!this.#endIfSuspendedTooLong()) {
      this.#suspend();
    }
  }

  #isQuiet(): boolean {
    return this.#steps.isQuiet && this.#handOver.isEmpty;
  }

  /** Records what finished without handing it over; what was not begun is for the next turn. */
  #pumpDown(): void {
    this.#steps.putBackGated();
    const uncommitted = this.#handOver.placeAll();
    if (this.#committing) return;
    if (uncommitted || this.#steps.inFlight.canFinish) return this.#flush();
    this.#commit({ kind: "yield", dueAt: this.now() });
  }

  // ---------------------------------------------------------------------------------------------- hand-over

  /** Hands over at most one settlement; true when it did. */
  #handOverNext(): boolean {
    if (!this.#drained) return false;
    const next = this.#handOver.next(this.#flush);
    if (next) this.#answer(next.call, next.record);
    return next !== null;
  }

  /** The same inside of bodies. */
  #handOverInside(): boolean {
    const next = this.#handOver.nextInside();
    if (next) this.#answer(next.call, next.record);
    return next !== null;
  }

  #answer(call: Call, record: SettledStep): void {
    this.#prompt.progressed();
    if (call.parent) call.parent.openCalls--;
    else this.#drained = false;
    this.#register.settled(call, record);
    if (record.status === "completed") call.resolve(decodeValue(record.result));
    else call.reject(this.#register.errorOf(record));
  }

  #settled(settlement: Settlement): void {
    if (settlement.body) this.#host.spoke?.(this, settlement.call.name);
    const isNext = this.#handOver.add(settlement);
    // The usual case, one step after the other: hand over at once, without another turn of the event loop.
    if (isNext && !this.#windingDown && this.#outcome === null) {
      if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
      this.#handOverNext();
    }
    this.#schedulePump();
  }

  // ---------------------------------------------------------------------------------------------- committing

  readonly #flush = (): void => {
    if (this.#draft.isEmpty && !this.#steps.inFlight.gatedBeyond(this.#handOver.durable)) return;
    this.#commit(goOn);
  };

  #suspend(): void {
    const { earliestWake: wake, nextTask: task } = this.#steps;
    const { maxSuspendMs } = this.definition;
    const patienceEnds = maxSuspendMs === null ? wake : this.now() + maxSuspendMs;
    this.#commit({ kind: "suspend", dueAt: Math.min(wake, this.#timeLimit?.at ?? wake, patienceEnds), task });
  }

  /** One commit is in flight per run. What becomes new meanwhile goes into the next. */
  #commit(next: Next): void {
    if (this.#committing || this.#ending || this.#state !== "open") return;
    this.#send({ content: this.#draft.take(), next, upTo: this.#handOver.writes });
  }

  #send(given: Sent): void {
    const { next, upTo } = given;
    const isMisled = this.#voidIndex < Number.POSITIVE_INFINITY;
    const content = isMisled ? sound(given.content, this.#voidIndex) : given.content;
    const sent = isMisled ? { ...given, content } : given;
    this.#ending = next.kind !== "continue";
    this.#committing = sent;
    const { steps, timeouts, consumed, logs, alongside, mutations } = content;
    // A turn that only gives way has got nowhere.
    const isOver = this.#ending && next.kind !== "yield";
    const isProgress = isOver || steps.length + timeouts.length + consumed.length > 0;
    this.#committedUpTo = upTo;
    const records = recordsOf(content, false);
    const begun = this.#ending ? this.#steps.leftBy(records) : this.#steps.begunBeyond(upTo, records);
    // Another process may have the run before this one hears of it.
    if (next.kind === "yield") this.#steps.inFlight.voidAll(turnOver());
    const number = ++this.#commitNumber;
    const heard = this.#inbox.name();
    const boundary: Boundary = {
      number,
      // A number whose commit was refused is not used again: that commit may still arrive.
      ...(number === this.#appliedNumber + 1 ? nothing : { after: this.#appliedNumber }),
      steps,
      timeouts,
      consumed,
      // An event noticed after a timeout was decided must still be able to refuse it.
      eventSeqSeen: Math.min(this.#inbox.seq, content.timeoutsSaw),
      ...(heard.length > 0 ? { heard } : nothing),
      logs,
      begun,
      ...(isProgress || this.#claim.crashCount === 0 ? nothing : { noProgress: true }),
      next,
    };
    this.#host.commit(this, { boundary, alongside, mutations });
  }

  /** The store has answered the commit under way. */
  committed(outcome: CommitOutcome): void {
    const sent = this.#committing;
    this.#committing = null;
    if (this.#state !== "open" || sent === null) return;
    const { content, next, upTo } = sent;
    if (outcome.kind === "superseded") return this.abandon(leaseLost());
    if (outcome.kind === "mutation-failed") return this.#mutationFailed(outcome, content);
    this.#handOver.durable = upTo;
    this.#appliedNumber = this.#commitNumber;
    this.#inbox.named();
    if (outcome.timeoutsRefused) this.#withdrawTimeouts();
    const recorded = recordsOf(content, outcome.timeoutsRefused);
    if (recorded.length > 0) this.#hasProgressed = true;
    this.#steps.recorded(recorded);
    if (next.kind !== "continue") return this.#afterEnd(outcome, next);
    if (outcome.kind === "paused") this.#windingDown = true;
    for (const step of recorded)
      if (step.status !== "waiting" && step.parentKey !== null) this.#register.recordedInside(step);
    if (!this.#windingDown) this.#releaseGated();
    if (outcome.eventSeq > this.#inbox.seq && this.#steps.hasParked) this.eventsArrived();
    if (!this.#hasOnlyBodies()) this.#schedulePump();
  }

  /** Whatever happens next begins with a body that comes to its end. */
  #hasOnlyBodies(): boolean {
    if (this.#outcome !== null || this.#windingDown || !this.#draft.isEmpty) return false;
    return this.#handOver.isEmpty && !this.#handOver.owes && this.#steps.hasOnlyBodies;
  }

  /** The commit under way came to nothing that is known. */
  commitFailed(error: unknown): void {
    const sent = this.#committing;
    const refusal = refusalOf(error);
    if (refusal !== null && sent !== null && this.#state === "open") return this.#refused(sent, refusal);
    this.abandon(error instanceof Error ? error : new Error(String(error)));
  }

  /** Bodies that are through are not run again because their commit is never taken: their steps fail. */
  #refused(sent: Sent, refusal: StoreError): void {
    const { instead = lesserCommits(sent, refusal, this.now()) } = sent;
    const lesser = instead.next().value;
    if (lesser === undefined) return this.abandon(refusal);
    const { failed, end, content } = lesser;
    const replaced = failed.map((step) => this.#handOver.replace(step));
    const known = failed.filter(({ parentKey }, at) => parentKey === null && replaced[at] === null);
    const isKnown = known.length > 0;
    if (isKnown) {
      // The workflow function went on with a result that is void: the next turn tells it of the failure.
      this.#windingDown = true;
      this.#outcome = null;
      this.#voidIndex = Math.min(this.#voidIndex, ...known.map(({ index }) => index));
    }
    if (end) this.#host.notice(this, runFailed(end.error));
    const next = end ?? (isKnown ? goOn : sent.next);
    const mutated = replaced.find((settlement) => settlement?.record?.index === content.mutated);
    const mutations = mutated?.body ? mutationsFor(mutated.body, { status: "errored" }) : content.mutations;
    this.#send({ content: { ...content, mutations }, next, upTo: sent.upTo, instead });
  }

  #releaseGated(): void {
    if (!this.#steps.inFlight.isReleasedBy(this.#handOver.durable)) return;
    if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
    this.#steps.startReleased();
  }

  /** An event was there after all: once it is read, the waits are open again and will take it. */
  #withdrawTimeouts(): void {
    const calls = this.#handOver.withdrawTimeouts();
    this.#steps.withdraw(calls);
    this.#readEvents(() => this.#steps.reopen(calls));
  }

  #mutationFailed(outcome: Extract<CommitOutcome, { kind: "mutation-failed" }>, content: DraftContent): void {
    this.#ending = false;
    const failed = this.#handOver.withdrawMutated();
    if (!failed?.body) return this.abandon(new Error("The store refused mutations that nobody registered."));
    const { call, body } = failed;
    this.#draft.putBack(content, {
      index: call.index as number,
      alongside: body.alongside,
      event: failed.event?.seq ?? null,
    });
    const thrown = outcome.conflict ? mutationConflict(call.name, outcome.error) : outcome.error;
    if (failed.event) {
      this.#inbox.putBack(failed.event);
      return this.#steps.fail(call, toStoredError(thrown));
    }
    if (failed.draft.status === "errored") {
      // The step has failed for good already; that its last writes failed too must not give it another attempt.
      this.#systemLog("error", lastWritesRefused(call.name, toStoredError(thrown)));
      return this.#settled({ call, draft: failed.draft, ...plain });
    }
    this.#steps.failAfterAll(body, thrown);
  }

  // ---------------------------------------------------------------------------------------------- ending

  #runSettled(outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: unknown }): void {
    if (this.#state === "closed") return this.#wakeLate();
    if (this.#outcome !== null) return;
    const settled = endOfRun(outcome, this.definition, (error) => this.#register.isExhausted(error));
    if (settled instanceof Promise) void settled.then((checked) => this.#setOutcome(checked));
    else this.#setOutcome(settled);
  }

  #setOutcome(outcome: RunOutcome): void {
    this.#outcome ??= outcome;
    this.#wakeLate();
    this.#schedulePump();
  }

  /** The function returned or threw: what finished joins the last commit, what is still running is void. */
  #end(): void {
    if (this.#committing || this.#outcome === null) return;
    this.#handOver.placeFinished();
    if (this.#outcome.kind === "error") this.#host.notice(this, runFailed(this.#outcome.error));
    const { unfinished } = this.#steps;
    if (unfinished.length > 0) this.#systemLog("warn", unfinishedSteps(unfinished));
    this.#commit(this.#outcome);
  }

  /** The run's time is up, or a retry is all that is left and would come too late. */
  #endIfTimeIsUp(): boolean {
    const limit = this.#timeLimit;
    if (limit === null || this.#committing) return false;
    const hopeless = this.#isQuiet() && this.#steps.allRetryAfter(limit.at);
    if (limit.at > this.now() && !hopeless) return false;
    this.#terminate(limit.reason);
    return true;
  }

  /** Suspended for longer than the workflow allows, and nothing came of this turn either. */
  #endIfSuspendedTooLong(): boolean {
    const { waitingSince } = this.#claim;
    const { maxSuspendMs } = this.definition;
    const progress = this.#hasProgressed || !this.#draft.isEmpty;
    if (waitingSince === null || maxSuspendMs === null || progress) return false;
    if (waitingSince + maxSuspendMs > this.now()) return false;
    this.#terminate(suspendedTooLong(maxSuspendMs));
    return true;
  }

  #terminate(reason: TerminationReason): void {
    this.#outcome = { kind: "terminate", reason };
    this.#end();
  }

  #afterEnd(outcome: CommitOutcome, next: Next): void {
    if (outcome.kind === "paused") return this.#close(turnOver, { kind: "paused" });
    if (next.kind !== "suspend") return this.#close(turnOver, { kind: "ended", next });
    this.#state = "suspended";
    this.#suspendedAt = this.#host.runtime.monotonic();
    this.#ending = false;
    this.#idle = false;
    this.#clearTimers();
    const dueNow = outcome.kind === "committed" && outcome.dueNow;
    this.#finish({ kind: "suspended", dueAt: dueNow ? this.now() : next.dueAt });
    // Author code that was not idle after all asked for more while the commit was under way.
    if (this.#steps.hasAsked || this.#handOver.owes || this.#outcome !== null) this.#wakeLate();
  }

  #close(reason: () => Error, ending: Ending): void {
    this.#state = "closed";
    this.#clearTimers();
    if (!this.#steps.inFlight.isEmpty) this.#steps.inFlight.cancelAll(reason());
    this.#finish(ending);
  }

  #expectEnding(): void {
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  // ---------------------------------------------------------------------------------------------- timers and notes

  #clearTimers(): void {
    this.#timers.clear();
    this.#steps.clearTimeouts();
  }

  #armTimer(): void {
    this.#timers.dueAt(Math.min(this.#steps.earliestWake, this.#timeLimit?.at ?? Number.POSITIVE_INFINITY));
  }

  #stalled(): void {
    if (this.#state !== "open" || this.#outcome !== null || !this.#isQuiet() || this.#steps.hasParked) return;
    const error = toStoredError(workflowStalled(this.definition.name, this.definition.limits.stallMs));
    this.#outcome = { kind: "error", error, deadLetter: false };
    this.#end();
  }

  /** Author code asks again and again for what it has: it would do so for ever, here and in every other process. */
  #goesInCircles(): void {
    const error = toStoredError(goesInCircles(this.definition.name, this.#askedAgain));
    this.#setOutcome({ kind: "error", error, deadLetter: false });
  }

  #systemLog(level: LogLevel, message: string): void {
    const line = { stepKey: null, attempt: null, level, category: systemCategory, message, data: null };
    this.#draft.log({ ...line, isReplay: false, createdAt: this.now() });
  }
}

const goOn: Next = { kind: "continue" };
const noRecords: readonly StepRecord[] = [];
const nothing = {};

/** What a commit of this made durable. */
function recordsOf({ steps, timeouts }: DraftContent, timeoutsRefused: boolean): readonly StepRecord[] {
  return timeoutsRefused || timeouts.length === 0
    ? steps
    : [...steps, ...timeouts.map(({ settled }) => settled)];
}

/**
 * One claimed run, driven forward: the author's function from the top, completed steps answered from history, whatever
 * is new collected into boundaries. All effects are handed in through `TurnHost`.
 *
 *   open -> suspended -> open ...   every branch waits; a runner may keep the turn and `resume` it under its next lease
 *   open -> closed                  the run ended, was paused, yielded, or the lease is gone; nothing happens any more
 *
 * The pump runs after every drained microtask queue. It hands over at most one settlement (hand-over.ts), and when there
 * is none it decides what was asked, commits, and finds out whether the turn is at its end. It is long because these
 * moments share one state; what could be taken out of it was.
 */
import { decodeValue, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { WaitForEventTimeoutError } from "../authoring/errors.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { OutgoingEvent, ReceivedEvent, StartOptions, WorkflowStep } from "../authoring/workflow-step.ts";
import type { Boundary, Next } from "../model/boundary.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRef, TerminationReason } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import { type LogLevel, systemCategory } from "../model/log-line.ts";
import type { CommitOutcome } from "../model/request.ts";
import type { Timer } from "../model/runtime.ts";
import type { SettledStep, StepRecord, WaitingStep } from "../model/step.ts";
import { attemptOutcome } from "./attempt-outcome.ts";
import { Body, type BodyOutcome } from "./body.ts";
import type { Call, CallSpec } from "./call.ts";
import { CallRegister } from "./call-register.ts";
import { type Decision, decide } from "./decide.ts";
import { Draft, type DraftContent } from "./draft.ts";
import {
  type Ending,
  endOfRun,
  type RunOutcome,
  suspendedTooLong,
  type TimeLimit,
  timeLimitOf,
} from "./ending.ts";
import { HandOver, mutationsFor, type Settlement } from "./hand-over.ts";
import { InFlight } from "./in-flight.ts";
import { Inbox } from "./inbox.ts";
import { planAlongsideCreate, planAlongsideEvent } from "./lifecycle.ts";
import { encodeLogData } from "./log-data.ts";
import { type AttemptOutcome, type SettlementDraft, type StepBase, settle } from "./settle.ts";
import { createStepApi } from "./step-api.ts";
import { baseOf, earliestWake, inOrderOfTime, wakeOf } from "./step-base.ts";
import { BodyContext } from "./step-context.ts";
import { type StepOptions, type StepOptionsResolver, stepOptionsOf } from "./step-options.ts";
import {
  cutOffByCrash,
  lastWritesRefused,
  leaseLost,
  mutationConflict,
  strayRejection,
  turnOver,
  unfinishedSteps,
  workflowStalled,
} from "./turn-errors.ts";
import type { TurnHost, TurnScope } from "./turn-host.ts";

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
  readonly #inFlight = new InFlight();
  readonly #inbox: Inbox;
  readonly #interrupted: ReadonlyMap<string, BegunBody>;
  /** Starts cut off by a crash whose steps this turn has not taken up yet: still owed to whoever comes next. */
  readonly #notTakenUp: Map<string, BegunBody>;
  readonly #timeLimit: TimeLimit | null;
  /** Calls in the order they were made, not decided yet. */
  #asked: Call[] = [];
  /** Calls that wait for a time or an event. */
  #parked: Call[] = [];
  #claim: Claim;
  #state: "open" | "suspended" | "closed" = "open";
  #outcome: RunOutcome | null = null;
  /** Pause, shutdown or a used-up step budget: bodies in flight may finish, nothing new begins. */
  #windingDown = false;
  #pumpScheduled = false;
  /** A full drain has passed since the last hand-over. */
  #drained = false;
  /** Author code has done nothing for a whole macrotask. */
  #idle = false;
  #committing = false;
  /** The commit that ends this turn is under way. */
  #ending = false;
  #commitNumber = 0;
  /** The last write that was part of a commit. */
  #committedUpTo = 0;
  #timer: Timer | null = null;
  #timerAt = 0;
  #stallTimer: Timer | null = null;
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
    this.#timeLimit = timeLimitOf(definition, claim);
    this.#register = new CallRegister(definition, history.steps, (message) =>
      this.#systemLog("warn", message),
    );
    this.#handOver = new HandOver(this.#draft, this.#register.settledCount);
    this.#inbox = new Inbox(history.events, claim.eventSeq);
    this.#interrupted = new Map(claim.begun.map((begun) => [begun.key, begun]));
    this.#notTakenUp = new Map(this.#interrupted);
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
    return [
      ...this.#notTakenUp.values(),
      ...this.#inFlight.begun,
      ...this.#inFlight.releasedBy(this.#committedUpTo),
    ];
  }

  get eventSeq(): number {
    return this.#inbox.seq;
  }

  /** Held open by a body while another branch waits for something that may be sent. */
  get awaitsEvents(): boolean {
    return this.#state === "open" && this.#parked.length > 0;
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
    this.#commitNumber = 0;
    this.#state = "open";
    this.#expectEnding();
    this.#inbox.add(events);
    this.#inbox.noticed(claim.eventSeq);
    this.#schedulePump();
    return this.#finished;
  }

  /** Events were accepted for this run after the turn read them. */
  eventsArrived(): void {
    if (this.#state !== "open") return;
    this.#inbox.fetch(
      (after) => this.#host.readEvents(this, after),
      () => this.#schedulePump(),
    );
  }

  /** Lets bodies in flight finish, records them, and gives the lease back without starting anything new. */
  windDown(): void {
    this.#windingDown = true;
    this.#schedulePump();
  }

  /** Stops at once: bodies are told, their results are void. */
  abandon(reason: Error): void {
    this.#close(() => reason, { kind: "lost", reason });
  }

  /** Log lines of long bodies do not wait for their end. */
  flushLogs(): void {
    if (this.#state === "open" && this.#draft.hasLogs) this.#commit({ kind: "continue" });
  }

  /** A promise made by this run's code was rejected and nobody awaited it: worth a line, not the process. */
  strayRejection(reason: unknown): void {
    if (this.#state === "open") this.#systemLog("error", strayRejection(toStoredError(reason)));
  }

  // ---------------------------------------------------------------------------------------------- asked by author code

  call(spec: CallSpec): Promise<unknown> {
    const parent = this.#currentBody();
    if (this.#state === "closed" || parent?.isVoid) return new Promise(() => {});
    const entered = this.#register.enter(spec, parent);
    if (entered.kind === "answered") return this.#answerAgain(entered.record);
    const { call } = entered;
    this.#idle = false;
    this.#cancelStall();
    if (parent) parent.openCalls++;
    if (isAnswered(call)) this.#recall(call);
    else this.#asked.push(call);
    if (this.#state === "suspended") this.#host.wake(this);
    else this.#schedulePump();
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

  startWorkflow(body: Body, workflow: string, options: StartOptions): string {
    const definition = this.#host.definitionOf(workflow);
    const request = planAlongsideCreate(workflow, definition, options, this.#claim, this.#host.runtime);
    body.alongside.push(request);
    return request.instanceId;
  }

  sendEvent(body: Body, to: InstanceRef, event: OutgoingEvent): void {
    body.alongside.push(planAlongsideEvent(to, event, this.definition.limits, this.#host.runtime));
  }

  #currentBody(): Body | null {
    const scope = this.#host.scope.current();
    return scope?.turn === this ? scope.body : null;
  }

  /** The same step asked for again after it was handed over: the same answer. */
  #answerAgain(record: SettledStep): Promise<unknown> {
    const answer = (async () => {
      if (record.status === "completed") return decodeValue(record.result);
      throw this.#register.errorOf(record);
    })();
    // Nobody may be awaiting it.
    answer.catch(() => {});
    return answer;
  }

  #recall(call: Call): void {
    if (call.parent === null) this.#handOver.owe(call);
    else this.#answer(call, call.record as SettledStep);
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
    // The lease may be gone already: what is asked for now is for the next turn.
    if (this.#ending) return;
    if (this.#windingDown) return this.#pumpDown();
    if (this.#outcome === null && this.#handOverNext()) return this.#schedulePump();
    if (this.#outcome !== null) return this.#end();
    if (this.#endIfTimeIsUp()) return;
    this.#decideAll();
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
    if (this.#parked.length === 0) {
      this.#flush();
      this.#armStall();
    } else if (!this.#idle) {
      // Author code must have been idle for a whole macrotask before the turn may end.
      this.#idle = true;
      this.#schedulePump();
    } else if (!this.#endIfSuspendedTooLong()) {
      this.#suspend();
    }
  }

  #isQuiet(): boolean {
    return this.#inFlight.isEmpty && this.#asked.length === 0 && this.#handOver.isEmpty;
  }

  /** Records what finished without handing it over; what was not begun is for the next turn. */
  #pumpDown(): void {
    this.#asked.push(...this.#inFlight.takeGated());
    const uncommitted = this.#handOver.placeAll();
    if (this.#committing) return;
    if (uncommitted || this.#inFlight.canFinish) return this.#flush();
    this.#commit({ kind: "yield", dueAt: this.now() });
  }

  // ---------------------------------------------------------------------------------------------- hand-over

  /** Hands over at most one settlement; true when it did. */
  #handOverNext(): boolean {
    if (!this.#drained) return false;
    const next = this.#handOver.next(() => this.#flush());
    if (next) this.#answer(next.call, next.record);
    return next !== null;
  }

  #answer(call: Call, record: SettledStep): void {
    if (call.parent) call.parent.openCalls--;
    else this.#drained = false;
    this.#register.settled(call, record);
    if (record.status === "completed") call.resolve(decodeValue(record.result));
    else call.reject(this.#register.errorOf(record));
  }

  #settled(settlement: Settlement): void {
    const isNext = this.#handOver.add(settlement);
    // The usual case, one step after the other: hand over at once, without another turn of the event loop.
    if (isNext && !this.#windingDown && this.#outcome === null) {
      if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
      this.#handOverNext();
    }
    this.#schedulePump();
  }

  // ---------------------------------------------------------------------------------------------- deciding

  #decideAll(): void {
    if (this.#handOver.owes) return;
    const now = this.now();
    const parked = this.#parked;
    this.#parked = [];
    for (const call of inOrderOfTime(parked)) if (!call.parent?.isVoid) this.#decideCall(call, now);
    const asked = this.#asked;
    this.#asked = [];
    for (const call of asked) {
      if (this.#windingDown || this.#isCrowded(call)) this.#asked.push(call);
      else if (!call.parent?.isVoid) this.#decideCall(call, now);
    }
  }

  #isCrowded(call: Call): boolean {
    return (
      call.type === "do" &&
      call.parent === null &&
      this.#inFlight.size >= this.definition.limits.parallelStepsMax
    );
  }

  #decideCall(call: Call, now: number): void {
    let decision: Decision;
    try {
      decision = decide(call, call.record, this.#inbox.events, now);
    } catch (error) {
      // Another type than recorded: the author hears of it; history stays as it is.
      if (call.parent) call.parent.openCalls--;
      this.#register.forget(call);
      call.reject(error);
      return this.#schedulePump();
    }
    call.index ??= this.#register.indexOf(call);
    this.#act(call, decision, now);
  }

  #act(call: Call, decision: Decision, now: number): void {
    switch (decision.kind) {
      case "settled":
        return this.#recall(call);
      case "attempt":
        return this.#gate(call, now);
      case "wait":
        return this.#park(call, decision.until, now);
      case "wake":
        return this.#completeWait(call, undefined, decision.skippedBy, now);
      case "consume":
        return this.#consume(call, decision.event, now);
      case "timeout":
        return this.#timeOut(call, decision.wait, now);
      case "exhausted":
        return this.#fail(
          call,
          decision.wait.errors.at(-1)?.error ?? toStoredError(new Error("Retries exhausted.")),
          now,
        );
    }
  }

  #fail(call: Call, error: ReturnType<typeof toStoredError>, now: number): void {
    const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
    this.#settled({ call, draft, ...plain });
  }

  // ---------------------------------------------------------------------------------------------- waits

  #park(call: Call, until: number, now: number): void {
    if (!call.record) {
      const waitsFor = call.type === "sleep" ? "timer" : "event";
      this.#write(call, { ...baseOf(call, now), status: "waiting", waitsFor, wakeAt: until });
    }
    call.state = "parked";
    this.#parked.push(call);
  }

  #write(call: Call, record: WaitingStep): void {
    call.record = record;
    this.#register.waits(call, record);
    this.#draft.step(record);
    this.#handOver.writes++;
  }

  #completeWait(call: Call, value: unknown, event: EventRecord | null, now: number): void {
    if (event) this.#inbox.take(event);
    const result = encodeValue(value, `step "${call.name}" result`);
    const draft: SettlementDraft = { ...baseOf(call, now), status: "completed", result, settledAt: now };
    this.#settled({ call, draft, ...plain, event });
  }

  #consume(call: Call, event: EventRecord, now: number): void {
    if (!call.spec.onConsume) return this.#completeWait(call, receivedFrom(event), event, now);
    // The author's hook runs like a body: it waits for what was written before it, may write with the consumption, and
    // if it fails the event stays.
    this.#inbox.take(event);
    this.#startWhenDurable(new Body(call, 1, now, event));
  }

  #startHook(body: Body, event: EventRecord): void {
    const { onConsume, name } = body.call.spec;
    const received = receivedFrom(event);
    const { shown, timeoutMs } = this.options.resolve(undefined, name);
    const context = new BodyContext(body, shown, this);
    this.#inFlight.add(body);
    this.#host.scope.run<void>({ turn: this, body }, () => {
      const work = async (): Promise<unknown> => onConsume?.(received, context);
      body.run(work, this.#host.runtime, timeoutMs, (outcome) =>
        this.#consumed(body, event, received, outcome),
      );
    });
  }

  #consumed(body: Body, event: EventRecord, received: ReceivedEvent, outcome: BodyOutcome): void {
    if (this.#state !== "open" || !this.#inFlight.remove(body)) return;
    const { call } = body;
    const now = this.now();
    if (!outcome.ok) {
      this.#inbox.putBack(event);
      return this.#fail(call, toStoredError(outcome.error), now);
    }
    const result = encodeValue(received, `step "${call.name}" result`);
    const draft: SettlementDraft = { ...baseOf(call, now), status: "completed", result, settledAt: now };
    this.#settled({ call, draft, ...plain, body, event, needsCommit: body.mutations !== null });
  }

  #timeOut(call: Call, wait: WaitingStep, now: number): void {
    const { eventType, topic } = wait;
    const error = new WaitForEventTimeoutError(call.name, {
      eventType: eventType ?? undefined,
      topic: topic ?? undefined,
    });
    const draft: SettlementDraft = {
      ...baseOf(call, now),
      status: "errored",
      error: toStoredError(error),
      settledAt: now,
    };
    this.#settled({ call, draft, ...plain, timeout: wait, eventSeqSeen: this.#inbox.seq, needsCommit: true });
  }

  // ---------------------------------------------------------------------------------------------- bodies

  #gate(call: Call, now: number): void {
    const mustNotRepeat = call.spec.options?.failWhenInterrupted === true;
    const recorded = call.record?.starts ?? 0;
    const cutOff = this.#interrupted.get(call.key)?.start ?? 0;
    if (mustNotRepeat && cutOff > recorded) {
      this.#notTakenUp.delete(call.key);
      return this.#fail(call, toStoredError(cutOffByCrash(call.name)), now);
    }
    if (!this.#host.takeStep(this)) {
      this.#asked.push(call);
      this.#windingDown = true;
      return;
    }
    const body = new Body(call, Math.max(recorded, cutOff) + 1, now);
    // Bodies wait for every write that exists now; one that must not repeat waits for its own start to be recorded too.
    if (mustNotRepeat) this.#handOver.writes++;
    this.#startWhenDurable(body);
  }

  #startWhenDurable(body: Body): void {
    const gate = this.#handOver.writes;
    if (gate <= this.#handOver.durable) this.#startBody(body);
    else this.#inFlight.gate(body, gate);
  }

  #startBody(body: Body): void {
    if (body.event) return this.#startHook(body, body.event);
    const options = body.call.spec.options;
    if (!options) return;
    this.#notTakenUp.delete(body.call.key);
    this.#inFlight.add(body);
    const context = new BodyContext(body, options.shown, this);
    this.#host.scope.run<void>({ turn: this, body }, () => {
      const work = async (): Promise<unknown> => body.call.spec.callback?.(context);
      body.run(work, this.#host.runtime, options.timeoutMs, (outcome) =>
        this.#bodyDone(body, context, outcome),
      );
    });
  }

  #bodyDone(body: Body, context: BodyContext, outcome: BodyOutcome): void {
    const attempted = attemptOutcome(outcome, body, context, this.definition, this.#host.runtime);
    // Almost always decided at once; only an author's own delay function takes time, and it holds the turn open.
    if (attempted instanceof Promise) void attempted.then((decided) => this.#attempted(body, decided));
    else this.#attempted(body, attempted);
  }

  #attempted(body: Body, decided: AttemptOutcome): void {
    const { call } = body;
    if (this.#state !== "open" || !this.#inFlight.remove(body)) return;
    // An event whose hook was cut off was not taken after all.
    for (const { event } of this.#inFlight.cancelInside(body)) if (event) this.#inbox.putBack(event);
    const before: StepBase = { ...baseOf(call, body.startedAt), starts: body.start };
    const record = settle(before, decided, this.now());
    if (record.status === "waiting") return this.#awaitRetry(call, record);
    const needsCommit = mutationsFor(body, record) !== null;
    this.#settled({ call, draft: record, ...plain, body, needsCommit });
  }

  #awaitRetry(call: Call, record: WaitingStep): void {
    this.#write(call, record);
    call.state = "parked";
    this.#parked.push(call);
    this.#schedulePump();
  }

  // ---------------------------------------------------------------------------------------------- committing

  #flush(): void {
    if (this.#draft.isEmpty && !this.#inFlight.gatedBeyond(this.#handOver.durable)) return;
    this.#commit({ kind: "continue" });
  }

  #suspend(): void {
    const wake = earliestWake(this.#parked);
    const task = this.#parked.some((call) => call.type === "do" && wakeOf(call) === wake) ? "retry" : "wake";
    const { maxSuspendMs } = this.definition;
    const patienceEnds = maxSuspendMs === null ? wake : this.now() + maxSuspendMs;
    this.#commit({ kind: "suspend", dueAt: Math.min(wake, this.#timeLimit?.at ?? wake, patienceEnds), task });
  }

  /** One commit is in flight per run. What becomes new meanwhile goes into the next. */
  #commit(next: Next): void {
    if (this.#committing || this.#ending || this.#state !== "open") return;
    this.#committing = true;
    this.#ending = next.kind !== "continue";
    const upTo = this.#handOver.writes;
    const content = this.#draft.take();
    const { steps, timeouts, consumed, logs, alongside, mutations } = content;
    this.#committedUpTo = upTo;
    const begun = this.#ending ? [...this.#notTakenUp.values()] : this.begun;
    const number = ++this.#commitNumber;
    const boundary: Boundary = {
      number,
      steps,
      timeouts,
      consumed,
      // An event noticed after a timeout was decided must still be able to refuse it.
      eventSeqSeen: Math.min(this.#inbox.seq, content.timeoutsSaw),
      logs,
      begun,
      next,
    };
    this.#host.commit(this, { boundary, alongside, mutations }).then(
      (outcome) => this.#committed(outcome, content, next, upTo),
      (error) => this.abandon(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #committed(outcome: CommitOutcome, content: DraftContent, next: Next, upTo: number): void {
    this.#committing = false;
    if (this.#state !== "open") return;
    if (outcome.kind === "superseded") return this.abandon(leaseLost());
    if (outcome.kind === "mutation-failed") return this.#mutationFailed(outcome, content);
    this.#handOver.durable = upTo;
    if (outcome.timeoutsRefused) this.#withdrawTimeouts();
    if (next.kind !== "continue") return this.#afterEnd(outcome, next);
    if (outcome.kind === "paused") this.#windingDown = true;
    for (const { call, record } of this.#handOver.takeDurableNested()) this.#answer(call, record);
    if (!this.#windingDown) this.#releaseGated();
    if (outcome.eventSeq > this.#inbox.seq && this.#parked.length > 0) this.eventsArrived();
    this.#schedulePump();
  }

  #releaseGated(): void {
    const released = this.#inFlight.takeReleased(this.#handOver.durable);
    if (released.length > 0 && !this.#host.holdsLease(this)) return this.abandon(leaseLost());
    for (const body of released) this.#startBody(body);
  }

  /** An event was there after all: the waits are open again and will take it. */
  #withdrawTimeouts(): void {
    for (const call of this.#handOver.withdrawTimeouts()) {
      call.state = "parked";
      this.#parked.push(call);
    }
    this.eventsArrived();
  }

  #mutationFailed(outcome: Extract<CommitOutcome, { kind: "mutation-failed" }>, content: DraftContent): void {
    this.#commitNumber--;
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
      return this.#fail(call, toStoredError(thrown), this.now());
    }
    if (failed.draft.status === "errored") {
      // The step has failed for good already; that its last writes failed too must not give it another attempt.
      this.#systemLog("error", lastWritesRefused(call.name, toStoredError(thrown)));
      return this.#settled({ call, draft: failed.draft, ...plain });
    }
    // As if the body itself had thrown: the same retries, the same delays.
    const { shown } = call.spec.options as StepOptions;
    this.#inFlight.add(body);
    void this.#bodyDone(body, new BodyContext(body, shown, this), { ok: false, error: thrown });
  }

  // ---------------------------------------------------------------------------------------------- ending

  #runSettled(outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: unknown }): void {
    if (this.#state === "closed" || this.#outcome !== null) return;
    const settled = endOfRun(outcome, this.definition, (error) => this.#register.isExhausted(error));
    if (settled instanceof Promise) void settled.then((checked) => this.#setOutcome(checked));
    else this.#setOutcome(settled);
  }

  #setOutcome(outcome: RunOutcome): void {
    this.#outcome ??= outcome;
    if (this.#state === "suspended") this.#host.wake(this);
    this.#schedulePump();
  }

  /** The function returned or threw: what finished joins the last commit, what is still running is void. */
  #end(): void {
    if (this.#committing || this.#outcome === null) return;
    this.#handOver.placeFinished();
    const { names } = this.#inFlight;
    if (names.length > 0) this.#systemLog("warn", unfinishedSteps(names));
    this.#commit(this.#outcome);
  }

  /** The run's time is up, or a retry is all that is left and would come too late. */
  #endIfTimeIsUp(): boolean {
    const limit = this.#timeLimit;
    if (limit === null || this.#committing) return false;
    const retryTooLate = (call: Call): boolean => call.type === "do" && wakeOf(call) > limit.at;
    const hopeless = this.#isQuiet() && this.#parked.length > 0 && this.#parked.every(retryTooLate);
    if (limit.at > this.now() && !hopeless) return false;
    this.#terminate(limit.reason);
    return true;
  }

  /** Suspended for longer than the workflow allows, and nothing came of this turn either. */
  #endIfSuspendedTooLong(): boolean {
    const { waitingSince } = this.#claim;
    const { maxSuspendMs } = this.definition;
    const progress = this.#commitNumber > 0 || !this.#draft.isEmpty;
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
    this.#ending = false;
    this.#idle = false;
    this.#clearTimers();
    const dueNow = outcome.kind === "committed" && outcome.dueNow;
    this.#finish({ kind: "suspended", dueAt: dueNow ? this.now() : next.dueAt });
    // Author code that was not idle after all asked for more while the commit was under way.
    if (this.#asked.length > 0 || this.#handOver.owes || this.#outcome !== null) this.#host.wake(this);
  }

  #close(reason: () => Error, ending: Ending): void {
    if (this.#state === "closed") return;
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    this.#clearTimers();
    if (!this.#inFlight.isEmpty) this.#inFlight.cancelAll(reason());
    if (wasOpen) this.#finish(ending);
  }

  #expectEnding(): void {
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  // ---------------------------------------------------------------------------------------------- timers and notes

  /** A turn held open by a body still owes its other waits their time. */
  #armTimer(): void {
    const at = Math.min(earliestWake(this.#parked), this.#timeLimit?.at ?? Number.POSITIVE_INFINITY);
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timerAt <= at)) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    const fire = (): void => {
      this.#timer = null;
      this.#schedulePump();
    };
    this.#timer = this.#host.runtime.timer(fire, Math.max(0, at - this.now()));
  }

  #armStall(): void {
    this.#armTimer();
    if (this.#stallTimer) return;
    const { stallMs } = this.definition.limits;
    this.#stallTimer = this.#host.runtime.timer(() => {
      this.#stallTimer = null;
      const stalled = this.#state === "open" && this.#outcome === null && this.#isQuiet();
      if (!stalled || this.#parked.length > 0) return;
      const error = toStoredError(workflowStalled(this.definition.name, stallMs));
      this.#outcome = { kind: "error", error, deadLetter: false };
      this.#end();
    }, stallMs);
  }

  #clearTimers(): void {
    this.#timer?.cancel();
    this.#timer = null;
    this.#cancelStall();
  }

  #cancelStall(): void {
    this.#stallTimer?.cancel();
    this.#stallTimer = null;
  }

  #systemLog(level: LogLevel, message: string): void {
    const line = { stepKey: null, attempt: null, level, category: systemCategory, message, data: null };
    this.#draft.log({ ...line, isReplay: false, createdAt: this.now() });
  }
}

/** A settlement nothing else hangs on. */
const plain = { body: null, event: null, timeout: null, eventSeqSeen: 0, needsCommit: false } as const;

function receivedFrom(event: EventRecord): ReceivedEvent {
  return {
    type: event.type ?? event.topic ?? "",
    payload: decodeValue(event.payload) as never,
    timestamp: new Date(event.createdAt),
  };
}

/** Recorded as settled and asked for as what it was. */
function isAnswered(call: Call): boolean {
  const { record } = call;
  return record !== undefined && record.status !== "waiting" && record.type === call.type;
}

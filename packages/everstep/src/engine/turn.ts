/**
 * One claimed run, driven forward: the author's function from the top, completed steps answered from history, whatever
 * is new collected into boundaries. All effects are handed in through `TurnHost`.
 *
 *   open -> suspended -> open ...   every branch waits; a runner may keep the turn and `resume` it under its next lease
 *   open -> closed                  the run ended, was paused, yielded, or the lease is gone; nothing happens any more
 *
 * Order of hand-over decides every race, so it is the same live and on replay: one settlement per drained microtask
 * queue, recorded ones in their recorded order, and nothing new while a recorded one is owed.
 */
import { checkBytes, decodeValue, encodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { isNonRetryable, WaitForEventTimeoutError } from "../authoring/errors.ts";
import { fromStoredError, toStoredError } from "../authoring/stored-error.ts";
import type { OutgoingEvent, StartOptions, WorkflowStep } from "../authoring/workflow-step.ts";
import type { Next } from "../model/boundary.ts";
import { EverstepError } from "../model/error.ts";
import type { EventRecord } from "../model/event.ts";
import type { BegunBody, InstanceRef, TerminationReason } from "../model/instance.ts";
import type { Claim } from "../model/lease.ts";
import { type LogLevel, systemCategory } from "../model/log-line.ts";
import type { Mutations } from "../model/mutations.ts";
import type { CommitOutcome, CommitRequest } from "../model/request.ts";
import type { AsyncScope, Runtime, Timer } from "../model/runtime.ts";
import type { SettledStep, StepRecord, WaitingStep } from "../model/step.ts";
import type { EncodedValue } from "../model/value.ts";
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
import { planAlongsideCreate, planAlongsideEvent } from "./lifecycle.ts";
import { type SettlementDraft, type StepBase, settle } from "./settle.ts";
import { createStepApi } from "./step-api.ts";
import { BodyContext } from "./step-context.ts";
import { StepOptionsResolver } from "./step-options.ts";

export interface TurnHost {
  readonly runtime: Runtime;
  readonly scope: AsyncScope<TurnScope>;
  commit(
    turn: Turn,
    request: Pick<CommitRequest, "boundary" | "alongside" | "mutations">,
  ): Promise<CommitOutcome>;
  readEvents(turn: Turn, after: number): Promise<readonly EventRecord[]>;
  /** The runner's own clock still counts the lease as held. */
  holdsLease(turn: Turn): boolean;
  /** A call came from a turn that had given its lease back: the run should be due now. */
  wake(turn: Turn): void;
  /** Whether another body may start in this tick. */
  takeStep(): boolean;
  /** The definition of a workflow another instance is created of, for its limits and schema. */
  definitionOf(workflowName: string): WorkflowDefinition | undefined;
}

/** Where in a run a piece of author code is executing. */
export interface TurnScope {
  readonly turn: Turn;
  readonly body: Body | null;
}

/** A settlement waiting for its hand-over. */
interface Settlement {
  readonly call: Call;
  readonly draft: SettlementDraft;
  readonly body: Body | null;
  /** The event the wait (or the skipped sleep) takes. */
  readonly event: EventRecord | null;
  /** The wait that timed out. */
  readonly timeout: WaitingStep | null;
  /** Handed over only once it is durable, because the commit may refuse it. */
  readonly needsCommit: boolean;
  /** Set once it is part of a draft. */
  record: SettledStep | null;
  gate: number;
}

export class Turn implements TurnScope {
  readonly definition: WorkflowDefinition;
  readonly turn: Turn = this;
  readonly body = null;
  readonly options: StepOptionsResolver;
  readonly #host: TurnHost;
  readonly #register: CallRegister;
  readonly #step: WorkflowStep;
  readonly #draft = new Draft();
  /** Calls in the order they were made, not decided yet. */
  #asked: Call[] = [];
  /** Calls with a recorded settlement that was not handed over yet. */
  #owed: Call[] = [];
  /** Finished, in order of finishing. */
  #ready: Settlement[] = [];
  /** Nested settlements, handed over as soon as they are durable. */
  #nested: Settlement[] = [];
  #parked: Call[] = [];
  #gated: { readonly body: Body; readonly gate: number }[] = [];
  readonly #bodies = new Set<Body>();
  #events: EventRecord[];
  #eventSeq: number;
  #claim: Claim;
  #timeLimit: TimeLimit | null;
  #interrupted: ReadonlyMap<string, BegunBody>;
  #state: "open" | "suspended" | "closed" = "open";
  #outcome: RunOutcome | null = null;
  #ended = false;
  /** Pause, shutdown or a used-up step budget: bodies in flight may finish, nothing new begins. */
  #windingDown = false;
  #pumpScheduled = false;
  /** A full drain has passed since the last hand-over. */
  #drained = false;
  #idle = false;
  #committing = false;
  #commitNumber = 0;
  #writes = 0;
  #durable = 0;
  #nextSettled: number;
  #timer: Timer | null = null;
  #timerAt = 0;
  #stallTimer: Timer | null = null;
  #fetching = false;
  #finish!: (ending: Ending) => void;
  #finished!: Promise<Ending>;

  constructor(
    claim: Claim,
    history: { readonly steps: readonly StepRecord[]; readonly events: readonly EventRecord[] },
    definition: WorkflowDefinition,
    host: TurnHost,
  ) {
    this.definition = definition;
    this.options = optionsOf(definition);
    this.#host = host;
    this.#claim = claim;
    this.#timeLimit = timeLimitOf(definition, claim);
    this.#register = new CallRegister(definition, history.steps, (message) =>
      this.#systemLog("warn", message),
    );
    this.#events = [...history.events];
    this.#eventSeq = Math.max(claim.eventSeq, this.#events.at(-1)?.seq ?? 0);
    this.#interrupted = new Map(claim.begun.map((begun) => [begun.key, begun]));
    this.#nextSettled = this.#register.settledCount;
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

  get begun(): readonly BegunBody[] {
    return [...this.#bodies].map((body) => body.begun);
  }

  /** Sequence of the newest event this turn has taken notice of. */
  get eventSeq(): number {
    return this.#eventSeq;
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
    this.addEvents(events);
    this.#eventSeq = Math.max(this.#eventSeq, claim.eventSeq);
    this.#schedulePump();
    return this.#finished;
  }

  /** Events were accepted for this run after the turn read them. */
  eventsArrived(): void {
    if (this.#state !== "open" || this.#fetching) return;
    this.#fetching = true;
    this.#host.readEvents(this, this.#eventSeq).then(
      (events) => {
        this.#fetching = false;
        this.addEvents(events);
        this.#schedulePump();
      },
      () => {
        // The next commit or renewal says again that there are newer events.
        this.#fetching = false;
      },
    );
  }

  addEvents(events: readonly EventRecord[]): void {
    for (const event of events) {
      if (event.seq <= this.#eventSeq) continue;
      this.#eventSeq = event.seq;
      this.#events.push(event);
    }
  }

  /** Lets bodies in flight finish, records them, and gives the lease back without starting anything new. */
  windDown(): void {
    this.#windingDown = true;
    this.#schedulePump();
  }

  /** Stops at once: bodies are told, their results are void. */
  abandon(reason: Error): void {
    this.#close(reason, { kind: "lost", reason });
  }

  /** Log lines of long bodies do not wait for their end. */
  flushLogs(): void {
    if (this.#state === "open" && this.#draft.hasLogs) this.#commit({ kind: "continue" });
  }

  // ---------------------------------------------------------------------------------------------- asked by author code

  call(spec: CallSpec): Promise<unknown> {
    const parent = this.#currentBody();
    if (this.#state === "closed" || parent?.isVoid) return new Promise(() => {});
    const found = this.#register.enter(spec, parent);
    if (found.kind === "answered") return this.#answerAgain(found.record);
    const { call } = found;
    this.#idle = false;
    if (parent) parent.openCalls++;
    if (call.record && call.record.status !== "waiting" && call.record.type === call.type) {
      this.#recall(call);
    } else {
      this.#asked.push(call);
    }
    if (this.#state === "suspended") this.#host.wake(this);
    else this.#schedulePump();
    return call.promise;
  }

  log(level: LogLevel, message: string, data: unknown, category: string): void {
    const body = this.#currentBody();
    if (this.#state !== "open" || body?.isVoid) return;
    this.#draft.log({
      stepKey: body?.call.key ?? null,
      attempt: body?.start ?? null,
      level,
      category,
      message,
      data: data === undefined ? null : encodeLogData(data, this.definition.limits.logBytesMax),
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
  async #answerAgain(record: SettledStep): Promise<unknown> {
    if (record.status === "completed") return decodeValue(record.result);
    throw this.#register.errorOf(record);
  }

  #recall(call: Call): void {
    if (call.parent === null) {
      call.state = "owed";
      this.#owed.push(call);
      return;
    }
    this.#answer(call, call.record as SettledStep);
  }

  // ---------------------------------------------------------------------------------------------- the pump

  #schedulePump(): void {
    if (this.#pumpScheduled || this.#state !== "open") return;
    this.#pumpScheduled = true;
    this.#host.runtime.drained(() => {
      this.#pumpScheduled = false;
      this.#drained = true;
      if (this.#state === "open") this.#pump();
    });
  }

  #pump(): void {
    if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
    if (this.#windingDown) return this.#pumpDown();
    if (this.#outcome === null && this.#handOverNext()) return this.#schedulePump();
    if (this.#outcome !== null) return this.#end();
    if (this.#endIfTimeIsUp()) return;
    this.#decideAll();
    if (this.#windingDown) return this.#pumpDown();
    if (this.#handOverNext()) return this.#schedulePump();
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
      return;
    }
    if (this.#idle) return this.#endIfSuspendedTooLong() ? undefined : this.#suspend();
    // Author code must have been idle for a whole macrotask before the turn may end.
    this.#idle = true;
    this.#schedulePump();
  }

  #isQuiet(): boolean {
    return (
      this.#bodies.size === 0 &&
      this.#gated.length === 0 &&
      this.#asked.length === 0 &&
      this.#ready.length === 0 &&
      this.#nested.length === 0
    );
  }

  #pumpDown(): void {
    for (const { body } of this.#gated) this.#dropUnstarted(body);
    this.#gated = [];
    for (const settlement of this.#ready) {
      if (settlement.record === null && !settlement.needsCommit) this.#place(settlement);
    }
    this.#ready = this.#ready.filter((settlement) => settlement.record !== null && settlement.needsCommit);
    if (this.#committing) return;
    // A body whose nested call cannot go on any more will never finish under this lease.
    const finishing = [...this.#bodies].some((body) => body.openCalls === 0);
    if (finishing) return this.#flush();
    this.#commit({ kind: "yield", dueAt: this.now() });
  }

  // ---------------------------------------------------------------------------------------------- hand-over

  /** Hands over at most one settlement; true when it did. */
  #handOverNext(): boolean {
    if (!this.#drained) return false;
    const owed = this.#takeOwed();
    if (owed) {
      this.#answer(owed, owed.record as SettledStep);
      return true;
    }
    const next = this.#ready[0];
    if (!next) return false;
    if (next.needsCommit) {
      if (next.record === null) {
        if (next.body?.mutations && this.#draft.hasMutations) return false;
        this.#place(next);
        this.#flush();
      }
      if (this.#durable < next.gate) return false;
    } else {
      this.#place(next);
    }
    this.#ready.shift();
    this.#answer(next.call, next.record as SettledStep);
    return true;
  }

  #takeOwed(): Call | null {
    let first: Call | null = null;
    for (const call of this.#owed) {
      if (first === null || settledIndexOf(call) < settledIndexOf(first)) first = call;
    }
    if (first) this.#owed.splice(this.#owed.indexOf(first), 1);
    return first;
  }

  /** Gives a settlement its place in the order of hand-over and puts it into the draft. */
  #place(settlement: Settlement): void {
    const { call, draft, event, timeout, body } = settlement;
    const record: SettledStep = { ...draft, settledIndex: this.#nextSettled++ };
    settlement.record = record;
    call.record = record;
    if (timeout) this.#draft.timeout({ wait: timeout, settled: record });
    else this.#draft.step(record);
    if (event) this.#draft.consume({ seq: event.seq, stepKey: call.key });
    if (body) {
      const mutations = record.status === "completed" ? body.mutations : terminalMutations(body);
      if (mutations) this.#draft.mutations(mutations);
      if (record.status === "completed") this.#draft.alongside(body.alongside);
    }
    settlement.gate = ++this.#writes;
  }

  #answer(call: Call, record: SettledStep): void {
    if (call.parent) call.parent.openCalls--;
    else this.#drained = false;
    this.#register.settled(call, record);
    if (record.status === "completed") call.resolve(decodeValue(record.result));
    else call.reject(this.#register.errorOf(record));
  }

  #queue(settlement: Omit<Settlement, "record" | "gate">): void {
    settlement.call.state = "settling";
    const queued: Settlement = { ...settlement, record: null, gate: 0 };
    if (settlement.call.parent !== null && !settlement.needsCommit) {
      this.#place(queued);
      this.#nested.push(queued);
    } else {
      this.#ready.push(queued);
    }
    // The usual case, one step after the other: hand over at once, without another turn of the event loop.
    if (
      !this.#windingDown &&
      this.#outcome === null &&
      this.#ready[0] === queued &&
      this.#owed.length === 0
    ) {
      if (!this.#host.holdsLease(this)) return this.abandon(leaseLost());
      this.#handOverNext();
    }
    this.#schedulePump();
  }

  // ---------------------------------------------------------------------------------------------- deciding

  #decideAll(): void {
    if (this.#owed.length > 0) return;
    const now = this.now();
    this.#decideParked(now);
    const asked = this.#asked;
    this.#asked = [];
    for (const call of asked) {
      if (this.#windingDown) return;
      if (call.type === "do" && this.#isCrowded(call)) this.#asked.push(call);
      else this.#decideCall(call, now);
    }
  }

  /** Due waits complete in the order of their times, whatever order they were registered in. */
  #decideParked(now: number): void {
    if (this.#parked.length === 0) return;
    const parked = this.#parked.filter((call) => !call.parent?.isVoid);
    this.#parked = [];
    const byTime =
      parked.length === 1 ? parked : parked.sort((a, b) => wakeOf(a) - wakeOf(b) || indexOf(a) - indexOf(b));
    for (const call of byTime) this.#decideCall(call, now);
  }

  #isCrowded(call: Call): boolean {
    const open = this.#bodies.size + this.#gated.length;
    return call.parent === null && open >= this.definition.limits.parallelStepsMax;
  }

  #decideCall(call: Call, now: number): void {
    let decision: Decision;
    try {
      decision = decide(call, call.record, this.#events, now);
    } catch (error) {
      // Another type than recorded: the author hears of it; history stays as it is.
      if (call.parent) call.parent.openCalls--;
      this.#register.forget(call);
      call.reject(error);
      return;
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
      case "exhausted": {
        const error = decision.wait.errors.at(-1)?.error ?? toStoredError(new Error("Retries exhausted."));
        const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
        return this.#queue({ call, draft, body: null, event: null, timeout: null, needsCommit: false });
      }
    }
  }

  #park(call: Call, until: number, now: number): void {
    call.state = "parked";
    this.#parked.push(call);
    if (call.record) return;
    const record: WaitingStep = {
      ...baseOf(call, now),
      status: "waiting",
      waitsFor: call.type === "sleep" ? "timer" : "event",
      wakeAt: until,
    };
    call.record = record;
    this.#draft.step(record);
    this.#writes++;
  }

  #completeWait(call: Call, value: unknown, event: EventRecord | null, now: number): void {
    if (event) this.#takeEvent(event);
    const result = encodeValue(value, `step "${call.name}" result`);
    const draft: SettlementDraft = { ...baseOf(call, now), status: "completed", result, settledAt: now };
    this.#queue({ call, draft, body: null, event, timeout: null, needsCommit: false });
  }

  #consume(call: Call, event: EventRecord, now: number): void {
    const received = {
      type: event.type ?? event.topic ?? "",
      payload: decodeValue(event.payload) as never,
      timestamp: new Date(event.createdAt),
    };
    const { onConsume } = call.spec;
    if (!onConsume) return this.#completeWait(call, received, event, now);
    // The author's hook runs like a body: it may write with the consumption, and if it fails the event stays.
    const body = new Body(call, 1, now);
    this.#takeEvent(event);
    call.state = "running";
    this.#bodies.add(body);
    const context = new BodyContext(body, this.options.resolve(undefined, call.name).shown, this);
    const run = async (): Promise<unknown> => {
      await onConsume(received, context);
      return received;
    };
    this.#host.scope.run<void>({ turn: this, body }, () => {
      run().then(
        (value) => this.#consumed(body, event, { ok: true, value }),
        (error) => this.#consumed(body, event, { ok: false, error }),
      );
    });
  }

  #consumed(body: Body, event: EventRecord, outcome: BodyOutcome): void {
    if (body.isVoid || this.#state !== "open") return;
    this.#bodies.delete(body);
    const { call } = body;
    const now = this.now();
    const base = baseOf(call, now);
    if (outcome.ok) {
      const result = encodeValue(outcome.value, `step "${call.name}" result`);
      const draft: SettlementDraft = { ...base, status: "completed", result, settledAt: now };
      this.#queue({ call, draft, body, event, timeout: null, needsCommit: body.mutations !== null });
      return;
    }
    this.#events.unshift(event);
    this.#events.sort((a, b) => a.seq - b.seq);
    const draft: SettlementDraft = {
      ...base,
      status: "errored",
      error: toStoredError(outcome.error),
      settledAt: now,
    };
    this.#queue({ call, draft, body: null, event: null, timeout: null, needsCommit: false });
  }

  #takeEvent(event: EventRecord): void {
    this.#events = this.#events.filter((other) => other.seq !== event.seq);
  }

  #timeOut(call: Call, wait: WaitingStep, now: number): void {
    const error = toStoredError(
      new WaitForEventTimeoutError(call.name, {
        eventType: wait.eventType ?? undefined,
        topic: wait.topic ?? undefined,
      }),
    );
    const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
    this.#queue({ call, draft, body: null, event: null, timeout: wait, needsCommit: true });
  }

  // ---------------------------------------------------------------------------------------------- bodies

  #gate(call: Call, now: number): void {
    const options = call.spec.options;
    const cutOff = this.#interrupted.get(call.key);
    const starts = Math.max(call.record?.starts ?? 0, cutOff?.start ?? 0);
    if (options?.failWhenInterrupted && cutOff && cutOff.start > (call.record?.starts ?? 0)) {
      return this.#failInterrupted(call, now);
    }
    if (!this.#host.takeStep()) {
      this.#asked.push(call);
      this.#windingDown = true;
      return;
    }
    const body = new Body(call, starts + 1, now);
    call.state = "gated";
    // Bodies wait for every write that exists now; one that must not repeat waits for its own start to be recorded too.
    const gate = options?.failWhenInterrupted ? ++this.#writes : this.#writes;
    if (gate <= this.#durable) this.#startBody(body);
    else this.#gated.push({ body, gate });
  }

  #failInterrupted(call: Call, now: number): void {
    const error = toStoredError(
      new EverstepError(
        "STEP_INTERRUPTED",
        `Step "${call.name}" was cut off by a crash and is marked onInterrupt: "fail", so it was not run again. ` +
          "Find out whether it took effect, then retry or restart the instance.",
      ),
    );
    const draft: SettlementDraft = { ...baseOf(call, now), status: "errored", error, settledAt: now };
    this.#queue({ call, draft, body: null, event: null, timeout: null, needsCommit: false });
  }

  #startBody(body: Body): void {
    const { call } = body;
    const options = call.spec.options;
    if (!options || call.parent?.isVoid) return;
    call.state = "running";
    this.#bodies.add(body);
    const context = new BodyContext(body, options.shown, this);
    const done = (outcome: BodyOutcome): void => {
      void this.#bodyDone(body, context, outcome);
    };
    this.#host.scope.run<void>({ turn: this, body }, () => {
      body.run(context, this.#host.runtime, options.timeoutMs, done);
    });
  }

  #dropUnstarted(body: Body): void {
    body.call.state = "asked";
    this.#asked.push(body.call);
  }

  async #bodyDone(body: Body, context: BodyContext, outcome: BodyOutcome): Promise<void> {
    const { call } = body;
    const attempted = attemptOutcome(outcome, body, context, this.definition, this.now());
    // Almost always decided at once; only an author's own delay function takes time, and it holds the turn open.
    const decided = attempted instanceof Promise ? await attempted : attempted;
    if (this.#state !== "open" || !this.#bodies.delete(body) || call.parent?.isVoid) return;
    const before: StepBase = { ...baseOf(call, body.startedAt), starts: body.start };
    const record = settle(before, decided, this.now());
    if (record.status !== "waiting") {
      const mutations = record.status === "completed" ? body.mutations : terminalMutations(body);
      return this.#queue({
        call,
        draft: record,
        body,
        event: null,
        timeout: null,
        needsCommit: mutations !== null,
      });
    }
    this.#awaitRetry(call, record);
  }

  #awaitRetry(call: Call, record: WaitingStep): void {
    call.record = record;
    call.state = "parked";
    this.#draft.step(record);
    this.#writes++;
    this.#parked.push(call);
    this.#schedulePump();
  }

  // ---------------------------------------------------------------------------------------------- committing

  #flush(): void {
    const gatesOpen = this.#gated.some(({ gate }) => gate > this.#durable);
    if (this.#draft.isEmpty && !gatesOpen) return;
    this.#commit({ kind: "continue" });
  }

  #suspend(): void {
    const now = this.now();
    let dueAt = Math.min(...this.#parked.map(wakeOf));
    const task = this.#parked.some((call) => call.type === "do" && wakeOf(call) === dueAt) ? "retry" : "wake";
    dueAt = Math.min(
      dueAt,
      this.#timeLimit?.at ?? dueAt,
      now + (this.definition.maxSuspendMs ?? Number.POSITIVE_INFINITY),
    );
    this.#commit({ kind: "suspend", dueAt, task });
  }

  #commit(next: Next): void {
    if (this.#committing || this.#ended || this.#state !== "open") return;
    this.#committing = true;
    if (next.kind !== "continue") this.#ended = true;
    const upTo = this.#writes;
    const content = this.#draft.take();
    const released = this.#gated.filter(({ gate }) => gate <= upTo).map(({ body }) => body.begun);
    const boundary = {
      number: ++this.#commitNumber,
      steps: content.steps,
      timeouts: content.timeouts,
      consumed: content.consumed,
      eventSeqSeen: this.#eventSeq,
      logs: content.logs,
      begun: next.kind === "continue" ? [...this.begun, ...released] : [],
      next,
    };
    const { alongside, mutations } = content;
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
    this.#durable = upTo;
    if (outcome.timeoutsRefused) this.#withdrawTimeouts();
    if (next.kind !== "continue") return this.#afterEnd(outcome, next);
    if (outcome.kind === "paused") this.#windingDown = true;
    this.#handOverNested();
    if (!this.#windingDown) this.#releaseGated();
    if (outcome.eventSeq > this.#eventSeq && this.#parked.length > 0) this.eventsArrived();
    this.#schedulePump();
  }

  #releaseGated(): void {
    const gated = this.#gated;
    this.#gated = [];
    if (gated.length > 0 && !this.#host.holdsLease(this)) return this.abandon(leaseLost());
    for (const entry of gated) {
      if (entry.gate <= this.#durable) this.#startBody(entry.body);
      else this.#gated.push(entry);
    }
  }

  #handOverNested(): void {
    const nested = this.#nested;
    this.#nested = [];
    for (const settlement of nested) {
      if (settlement.gate > this.#durable) this.#nested.push(settlement);
      else this.#answer(settlement.call, settlement.record as SettledStep);
    }
  }

  /** An event was there after all: the waits are open again and will take it. */
  #withdrawTimeouts(): void {
    for (const settlement of [...this.#ready, ...this.#nested]) {
      if (!settlement.timeout || settlement.record === null) continue;
      settlement.call.record = settlement.timeout;
      settlement.call.state = "parked";
      this.#parked.push(settlement.call);
    }
    const open = (settlement: Settlement): boolean => !settlement.timeout || settlement.record === null;
    this.#ready = this.#ready.filter(open);
    this.#nested = this.#nested.filter(open);
    this.eventsArrived();
  }

  #mutationFailed(outcome: Extract<CommitOutcome, { kind: "mutation-failed" }>, content: DraftContent): void {
    this.#commitNumber--;
    const failed = this.#ready.find(
      (settlement) => settlement.record !== null && settlement.needsCommit && settlement.body,
    );
    if (!failed?.body)
      return this.abandon(new Error("A commit without mutations was refused because of its mutations."));
    this.#ready.splice(this.#ready.indexOf(failed), 1);
    const { call, body } = failed;
    this.#draft.putBack(content, { index: call.index as number, alongside: body.alongside });
    const now = this.now();
    const error = outcome.conflict ? mutationConflict(call.name, outcome.error) : outcome.error;
    const before: StepBase = { ...baseOf(call, body.startedAt), starts: body.start };
    const record = settle(
      before,
      {
        kind: "threw",
        error: toStoredError(error),
        retryable: call.type === "do" && !outcome.conflict && !isNonRetryable(error),
        retryAt: now,
      },
      now,
    );
    call.record = undefined;
    if (record.status === "waiting") return this.#awaitRetry(call, record);
    this.#queue({ call, draft: record, body: null, event: null, timeout: null, needsCommit: false });
  }

  // ---------------------------------------------------------------------------------------------- ending

  #runSettled(outcome: { readonly ok: boolean; readonly value?: unknown; readonly error?: unknown }): void {
    if (this.#state === "closed" || this.#outcome !== null) return;
    const settled = endOfRun(outcome, this.definition, (error) => this.#register.isExhausted(error));
    if (settled instanceof Promise) {
      void settled.then((checked) => this.#setOutcome(checked));
    } else {
      this.#setOutcome(settled);
    }
  }

  #setOutcome(outcome: RunOutcome): void {
    this.#outcome = outcome;
    if (this.#state === "suspended") this.#host.wake(this);
    this.#schedulePump();
  }

  /** The function returned or threw: what finished joins the last commit, what is still running is void. */
  #end(): void {
    if (this.#committing || this.#outcome === null) return;
    for (const settlement of this.#ready) {
      if (settlement.record === null && !settlement.needsCommit) this.#place(settlement);
    }
    const unfinished = [...this.#bodies, ...this.#gated.map(({ body }) => body)];
    if (unfinished.length > 0) {
      const names = unfinished.map((body) => `"${body.call.name}"`).join(", ");
      this.#systemLog(
        "warn",
        `The workflow function settled while ${names} was still open; what it did is not recorded. Await every step.`,
      );
    }
    this.#gated = [];
    this.#commit(this.#outcome);
  }

  /** The run's time is up, or a retry is all that is left and would come too late. */
  #endIfTimeIsUp(): boolean {
    const limit = this.#timeLimit;
    if (limit === null || this.#committing) return false;
    const tooLate =
      this.#isQuiet() &&
      this.#parked.length > 0 &&
      this.#parked.every((call) => isRetryAfter(call, limit.at));
    if (limit.at > this.now() && !tooLate) return false;
    this.#terminate(limit.reason);
    return true;
  }

  /** Suspended for longer than the workflow allows, and nothing came of this turn either. */
  #endIfSuspendedTooLong(): boolean {
    const { waitingSince } = this.#claim;
    const { maxSuspendMs } = this.definition;
    if (waitingSince === null || maxSuspendMs === null || this.#commitNumber > 0 || !this.#draft.isEmpty)
      return false;
    if (waitingSince + maxSuspendMs > this.now()) return false;
    this.#terminate(suspendedTooLong(maxSuspendMs));
    return true;
  }

  #terminate(reason: TerminationReason): void {
    this.#outcome = { kind: "terminate", reason };
    this.#end();
  }

  #afterEnd(outcome: CommitOutcome, next: Next): void {
    const reason = new EverstepError("STEP_INTERRUPTED", "The workflow's turn is over.");
    if (outcome.kind === "paused") return this.#close(reason, { kind: "paused" });
    if (next.kind !== "suspend") return this.#close(reason, { kind: "ended", next });
    this.#state = "suspended";
    this.#ended = false;
    this.#idle = false;
    this.#clearTimers();
    const dueNow = outcome.kind === "committed" && outcome.dueNow;
    this.#finish({ kind: "suspended", dueAt: dueNow ? this.now() : next.dueAt });
  }

  #close(reason: Error, ending: Ending): void {
    if (this.#state === "closed") return;
    const wasOpen = this.#state === "open";
    this.#state = "closed";
    this.#clearTimers();
    for (const body of this.#bodies) body.cancel(reason);
    this.#bodies.clear();
    this.#gated = [];
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
    let at = this.#timeLimit?.at ?? Number.POSITIVE_INFINITY;
    for (const call of this.#parked) at = Math.min(at, wakeOf(call));
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timerAt <= at)) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = this.#host.runtime.timer(
      () => {
        this.#timer = null;
        this.#schedulePump();
      },
      Math.max(0, at - this.now()),
    );
  }

  #armStall(): void {
    this.#armTimer();
    if (this.#stallTimer || this.#register.openCount > 0) return;
    const { stallMs } = this.definition.limits;
    this.#stallTimer = this.#host.runtime.timer(() => {
      this.#stallTimer = null;
      if (this.#state !== "open" || this.#outcome !== null || !this.#isQuiet() || this.#parked.length > 0)
        return;
      const error = new EverstepError(
        "WORKFLOW_STALLED",
        `Workflow "${this.definition.name}" has no step open and did not return for ${stallMs} ms. ` +
          "It probably awaits something that is not a step; put it into step.do.",
      );
      this.#outcome = { kind: "error", error: toStoredError(error), deadLetter: false };
      this.#end();
    }, stallMs);
  }

  #clearTimers(): void {
    this.#timer?.cancel();
    this.#stallTimer?.cancel();
    this.#timer = null;
    this.#stallTimer = null;
  }

  #systemLog(level: LogLevel, message: string): void {
    this.#draft.log({
      stepKey: null,
      attempt: null,
      level,
      category: systemCategory,
      message,
      data: null,
      isReplay: false,
      createdAt: this.now(),
    });
  }
}

const resolvers = new WeakMap<WorkflowDefinition, StepOptionsResolver>();

function optionsOf(definition: WorkflowDefinition): StepOptionsResolver {
  let resolver = resolvers.get(definition);
  if (!resolver) {
    resolver = new StepOptionsResolver(definition);
    resolvers.set(definition, resolver);
  }
  return resolver;
}

/** What a step's next record is built on: what is recorded of it, or what is known at its first start. */
function baseOf(call: Call, createdAt: number): StepBase {
  const known = call.record;
  if (known) {
    const {
      index,
      key,
      name,
      count,
      type,
      parentKey,
      depth,
      attempts,
      starts,
      maxAttempts,
      timeoutMs,
      errors,
    } = known;
    const { eventType, topic, wakeAt } = known;
    const facts = { attempts, starts, maxAttempts, timeoutMs, errors, eventType, topic, wakeAt };
    return { index, key, name, count, type, parentKey, depth, createdAt: known.createdAt, ...facts };
  }
  const { options } = call.spec;
  return {
    index: call.index as number,
    key: call.key,
    name: call.name,
    count: call.count,
    type: call.type,
    parentKey: call.parent?.call.key ?? null,
    depth: call.depth,
    createdAt,
    attempts: 0,
    starts: 0,
    maxAttempts: options ? options.maxAttempts : 1,
    timeoutMs: options ? options.timeoutMs : null,
    errors: [],
    eventType: call.spec.eventType,
    topic: call.spec.topic,
    wakeAt: call.spec.wakeAt,
  };
}

function wakeOf(call: Call): number {
  return call.record?.wakeAt ?? call.spec.wakeAt ?? Number.POSITIVE_INFINITY;
}

function indexOf(call: Call): number {
  return call.index ?? 0;
}

function isRetryAfter(call: Call, time: number): boolean {
  return call.type === "do" && wakeOf(call) > time;
}

function settledIndexOf(call: Call): number {
  return (call.record as SettledStep).settledIndex;
}

function terminalMutations(body: Body): Mutations | null {
  return body.onTerminalError.length === 0 ? null : { serviceCalls: [], mutate: body.onTerminalError };
}

function leaseLost(): Error {
  return new EverstepError(
    "STEP_INTERRUPTED",
    "Another runner took over this instance; what this one does no longer counts.",
  );
}

function mutationConflict(stepName: string, cause: unknown): Error {
  const detail = cause instanceof Error ? ` (${cause.message})` : "";
  return new EverstepError(
    "MUTATION_CONFLICT",
    `The writes of step "${stepName}" violate a unique constraint of your own tables${detail}. The step is not retried.`,
    { cause },
  );
}

function encodeLogData(data: unknown, bytesMax: number): EncodedValue {
  try {
    const encoded = encodeValue(data, "log data");
    checkBytes(encoded, bytesMax, "log data");
    return encoded;
  } catch (error) {
    // A log line must never fail a workflow: keep the line, say why its data is missing.
    return encodeValue({ dropped: error instanceof Error ? error.message : String(error) }, "log data");
  }
}

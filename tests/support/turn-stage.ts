/** For tests: a stage for the turns of one run. Its host keeps what is committed and answers as the test says. */
import { encodeValue } from "../../packages/everstep/src/authoring/codec.ts";
import {
  buildDefinition,
  type WorkflowDefinition,
  type WorkflowOptions,
} from "../../packages/everstep/src/authoring/define-workflow.ts";
import type { WorkflowEvent, WorkflowStep } from "../../packages/everstep/src/authoring/workflow-step.ts";
import type { Ending } from "../../packages/everstep/src/engine/ending.ts";
import { Turn } from "../../packages/everstep/src/engine/turn.ts";
import type {
  TurnCommit as Commit,
  TurnHost,
  TurnScope,
} from "../../packages/everstep/src/engine/turn-host.ts";
import type { Boundary } from "../../packages/everstep/src/model/boundary.ts";
import type { EventRecord } from "../../packages/everstep/src/model/event.ts";
import type { Claim } from "../../packages/everstep/src/model/lease.ts";
import type { LogLine } from "../../packages/everstep/src/model/log-line.ts";
import type { Observer } from "../../packages/everstep/src/model/observer.ts";
import type { CommitOutcome } from "../../packages/everstep/src/model/request.ts";
import type { AsyncScope, Runtime } from "../../packages/everstep/src/model/runtime.ts";
import type { StepRecord, WaitingStep } from "../../packages/everstep/src/model/step.ts";

/** A commit that waits for its answer. */
export interface HeldCommit extends Commit {
  /** Answers, by default that it is committed, and lets all that follows happen. */
  answer(outcome?: CommitOutcome): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A workflow as a story tells it: `step` first, because most stories need nothing else. */
export type Story = (step: WorkflowStep, event: WorkflowEvent) => unknown;

/** A runtime whose clock stands still until the test moves it. */
export interface StageRuntime extends Runtime {
  advance(ms: number): Promise<void>;
  settle(): Promise<void>;
  nextTimerAt(): number | null;
  waitUntil(condition: () => unknown): Promise<void>;
}

/** Makes stages, each with a clock of its own. */
export function stagesOn(createRuntime: () => StageRuntime) {
  return (
    story: Story,
    options: Partial<WorkflowOptions> & { readonly mode?: WorkflowDefinition["mode"] } = {},
  ): TurnStage => {
    const { mode = "everstep", ...others } = options;
    const run = (event: WorkflowEvent, step: WorkflowStep): unknown => story(step, event);
    return new TurnStage(createRuntime(), buildDefinition({ name: "story", ...others }, run, mode));
  };
}

/** A boundary in one line: what became of which steps, and what comes next. */
export function told({ steps, timeouts, next }: Boundary): string {
  const records = steps.map((step) => `${step.key} ${step.status}`);
  const missed = timeouts.map(({ settled }) => `${settled.key} timed out`);
  return [...records, ...missed, next.kind].join(", ");
}

export class TurnStage implements TurnHost {
  readonly runtime: StageRuntime;
  readonly scope: AsyncScope<TurnScope>;
  /** Every commit that was asked for, in order. */
  readonly commits: Commit[] = [];
  /** Commits that wait for their answer, once `hold` was called. */
  readonly held: HeldCommit[] = [];
  readonly wakes: Turn[] = [];
  /** Accepted events that no commit has taken. */
  events: readonly EventRecord[] = [];
  eventSeq = 0;
  leaseHeld = true;
  stepBudget = Number.POSITIVE_INFINITY;
  /** The answer to a commit that is not held. */
  answer: (commit: Commit) => CommitOutcome = () => this.committed();
  readonly #definition: WorkflowDefinition;
  readonly #records = new Map<number, StepRecord>();
  readonly #logs: LogLine[] = [];
  #holding = false;
  #token = 0;
  #turn: Turn | null = null;
  #ending: Ending | undefined;

  constructor(runtime: StageRuntime, definition: WorkflowDefinition) {
    this.runtime = runtime;
    this.scope = runtime.createScope<TurnScope>();
    this.#definition = definition;
  }

  // ---------------------------------------------------------------------------------------------- what happened

  get boundaries(): readonly Boundary[] {
    return this.commits.map(({ boundary }) => boundary);
  }

  get last(): Boundary {
    return some(this.commits.at(-1), "commit").boundary;
  }

  get turn(): Turn {
    return some(this.#turn, "turn");
  }

  /** How the last turn ended; undefined while it has not. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  /** What is durable, by index. */
  get steps(): readonly StepRecord[] {
    return [...this.#records.values()].sort((a, b) => a.index - b.index);
  }

  get logs(): readonly LogLine[] {
    return this.#logs;
  }

  step(key: string): StepRecord {
    return some(
      this.steps.find((step) => step.key === key),
      `step "${key}"`,
    );
  }

  // ---------------------------------------------------------------------------------------------- what the test does

  /** Begins a turn on what is durable, and lets it go as far as it can. */
  async play(claim: Partial<Claim> = {}): Promise<Ending | undefined> {
    const history = { steps: this.steps, events: this.events };
    const turn = new Turn(this.claim(claim), history, this.#definition, this);
    this.#turn = turn;
    return this.#await(turn.start());
  }

  /** Goes on with the suspended turn under its next lease. */
  async resume(claim: Partial<Claim> = {}): Promise<Ending | undefined> {
    const { turn } = this;
    const newer = this.events.filter((event) => event.seq > turn.eventSeq);
    return this.#await(turn.resume(this.claim(claim), newer));
  }

  claim(facts: Partial<Claim> = {}): Claim {
    const now = this.runtime.now();
    return {
      workflowName: this.#definition.name,
      instanceId: "one",
      lease: { runId: 1, token: ++this.#token, owner: "stage", expiresAt: now + 30_000 },
      runNumber: 1,
      params: encodeValue({}, "params"),
      createdAt: now,
      startedAt: now,
      deadlineAt: null,
      waitingSince: null,
      fresh: this.#records.size === 0,
      eventSeq: this.eventSeq,
      begun: [],
      crashCount: 0,
      left: { token: 0, commit: 0, ranOut: false },
      ...facts,
    };
  }

  /** From now on commits wait for the test's answer. */
  hold(): void {
    this.#holding = true;
  }

  /** Commits that come from now on are answered at once again. */
  letGo(): void {
    this.#holding = false;
  }

  /** An event is accepted; the turn does not hear of it by itself. */
  accept(event: Omit<Partial<EventRecord>, "payload"> & { readonly payload?: unknown }): EventRecord {
    const accepted: EventRecord = {
      id: `event-${this.eventSeq + 1}`,
      type: null,
      topic: null,
      forStep: null,
      system: false,
      createdAt: this.runtime.now(),
      deliveredAt: null,
      consumedBy: null,
      ...event,
      payload: encodeValue(event.payload, "payload"),
      seq: ++this.eventSeq,
    };
    this.events = [...this.events, accepted];
    return accepted;
  }

  /** Puts records into the history, as an earlier turn would have. */
  remember(...steps: readonly StepRecord[]): void {
    for (const step of steps) this.#records.set(step.index, step);
  }

  committed(facts: Partial<Extract<CommitOutcome, { kind: "committed" }>> = {}): CommitOutcome {
    return { kind: "committed", eventSeq: this.eventSeq, timeoutsRefused: false, dueNow: false, ...facts };
  }

  paused(): CommitOutcome {
    return { kind: "paused", eventSeq: this.eventSeq, timeoutsRefused: false };
  }

  // ---------------------------------------------------------------------------------------------- what the turn asks

  commit(turn: Turn, commit: Commit): void {
    this.#answered(commit).then(
      (outcome) => turn.committed(outcome),
      (error) => turn.commitFailed(error),
    );
  }

  async #answered(commit: Commit): Promise<CommitOutcome> {
    this.commits.push(commit);
    if (!this.#holding) return this.#apply(commit, this.answer(commit));
    return new Promise((resolve, reject) => {
      this.held.push({
        ...commit,
        answer: async (outcome = this.committed()) => {
          resolve(this.#apply(commit, outcome));
          await this.runtime.settle();
        },
        fail: async (error) => {
          reject(error);
          await this.runtime.settle();
        },
      });
    });
  }

  /** Reads of events take as long as this. */
  reading: Promise<unknown> | null = null;

  async readEvents(_turn: Turn, after: number): Promise<readonly EventRecord[]> {
    if (this.reading !== null) await this.reading;
    return this.events.filter((event) => event.seq > after);
  }

  async readWaits(): Promise<readonly WaitingStep[]> {
    if (this.reading !== null) await this.reading;
    return this.steps.filter((step) => step.status === "waiting");
  }

  holdsLease(): boolean {
    return this.leaseHeld;
  }

  wake(turn: Turn): void {
    this.wakes.push(turn);
  }

  readonly notices: string[] = [];

  readonly observer: Observer = { onNotice: ({ message }) => this.notices.push(message) };

  takeStep(): boolean {
    return this.stepBudget-- > 0;
  }

  definitionOf(): WorkflowDefinition {
    return this.#definition;
  }

  #apply({ boundary }: Commit, outcome: CommitOutcome): CommitOutcome {
    if (outcome.kind !== "committed" && outcome.kind !== "paused") return outcome;
    for (const step of boundary.steps) this.#keep(step);
    for (const { settled } of outcome.timeoutsRefused ? [] : boundary.timeouts) this.#keep(settled);
    this.events = this.events.filter(({ seq }) => !boundary.consumed.some((taken) => taken.seq === seq));
    this.#logs.push(...boundary.logs);
    return outcome;
  }

  /** A settled step is written once. */
  #keep(step: StepRecord): void {
    const known = this.#records.get(step.index);
    if (known === undefined || known.status === "waiting") this.#records.set(step.index, step);
  }

  async #await(ending: Promise<Ending>): Promise<Ending | undefined> {
    this.#ending = undefined;
    void ending.then((ended) => {
      this.#ending = ended;
    });
    await this.runtime.settle();
    return this.#ending;
  }
}

/** A promise a test settles by hand. */
export interface Held<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

export function held<Value = unknown>(): Held<Value> {
  let resolve!: (value: Value) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<Value>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}

function some<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`There is no ${what}.`);
  return value;
}

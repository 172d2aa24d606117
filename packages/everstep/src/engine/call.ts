import type { StepCallback, WaitOptions } from "../authoring/workflow-step.ts";
import type { StepRecord, StepType } from "../model/step.ts";
import type { Body } from "./body.ts";
import type { NameUse } from "./name-uses.ts";
import type { StepOptions } from "./step-options.ts";

/** What the author asked for. */
export interface CallSpec {
  readonly type: StepType;
  readonly name: string;
  /** `do` only. */
  readonly callback: StepCallback<unknown> | null;
  readonly options: StepOptions | null;
  /** Sleeps and waits: when they will be over if they begin now. */
  readonly wakeAt: number | null;
  /** Sleeps: tells two sleeps of one name apart where the duration is part of the key. */
  readonly durationMs: number | null;
  readonly eventType: string | null;
  readonly topic: string | null;
  readonly onConsume: WaitOptions["onConsume"] | null;
  /** What is wrong with it. History wins: it is refused only if nothing is recorded of the step. */
  readonly problem?: unknown;
}

/**
 * One step call of this passage, from the moment the author made it until its promise settles.
 *
 *   asked -> owed -> done                        recorded as settled: waits for its place in the recorded order
 *   asked -> gated -> running -> settling -> done      a body: waits for earlier writes to be durable, then runs
 *   asked -> parked -> (gated | settling) -> done      a sleep, a wait or a retry
 */
export class Call {
  readonly spec: CallSpec;
  readonly key: string;
  /** Which use of its name it is. */
  readonly count: number;
  readonly parent: Body | null;
  readonly promise: Promise<unknown>;
  state: "asked" | "owed" | "gated" | "running" | "parked" | "settling" | "done" = "asked";
  record: StepRecord | undefined;
  index: number | null = null;
  /** The key of a step that was handed over before this one was asked for, although it was recorded later. */
  cameAfter: string | null = null;
  /** Why what is recorded may belong to another use of its name. */
  divergence: Error | null = null;
  readonly #use: NameUse | null;
  #resolve!: (value: unknown) => void;
  #reject!: (error: unknown) => void;

  constructor(
    spec: CallSpec,
    key: string,
    count: number,
    parent: Body | null,
    record: StepRecord | undefined,
    use: NameUse | null = null,
  ) {
    this.spec = spec;
    this.key = key;
    this.count = count;
    this.parent = parent;
    this.record = record;
    this.#use = use;
    if (use !== null) use.open++;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get type(): StepType {
    return this.spec.type;
  }

  get name(): string {
    return this.spec.name;
  }

  get wakeAt(): number | null {
    return this.spec.wakeAt;
  }

  get eventType(): string | null {
    return this.spec.eventType;
  }

  get depth(): number {
    return this.parent === null ? 0 : this.parent.call.depth + 1;
  }

  resolve(value: unknown): void {
    this.#close();
    this.#resolve(value);
  }

  reject(error: unknown): void {
    this.#close();
    // A step nobody awaits may fail without taking the process down.
    this.promise.catch(ignore);
    this.#reject(error);
  }

  /** Author code has its answer: its name may be used again. On replay that is at the same place of the recorded order. */
  #close(): void {
    this.state = "done";
    if (this.#use !== null) this.#use.open--;
  }
}

function ignore(): void {}

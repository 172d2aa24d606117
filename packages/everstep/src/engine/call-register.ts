import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { someError } from "../authoring/error-object.ts";
import { isNonRetryable } from "../authoring/errors.ts";
import { fromStoredError } from "../authoring/stored-error.ts";
import { EverstepError } from "../model/error.ts";
import type { ErroredStep, SettledStep, StepRecord, StepType, WaitingStep } from "../model/step.ts";
import type { Body } from "./body.ts";
import { Call, type CallSpec } from "./call.ts";
import { type NameUse, NameUses } from "./name-uses.ts";
import { none } from "./short-list.ts";
import { cloudflareKey, numberedFromZero, stepKey } from "./step-key.ts";
import { StepRecords } from "./step-records.ts";
import { divergedAfter, nameInFlight, nameUsedBefore, otherUseRecorded } from "./turn-errors.ts";

/** Which step a call is: the records of the run by key, and the calls this passage has made. */
export class CallRegister {
  readonly #definition: WorkflowDefinition;
  readonly #note: (message: string) => void;
  readonly #records = new StepRecords();
  readonly #names = new NameUses();
  // Most runs need none of these.
  /** Keys of steps inside of bodies that count as steps of the run, though nothing is recorded of them. */
  #countedInside: Set<string> | null = null;
  /** Names whose uses early histories number from 0, by the key of the name alone. */
  #fromZero: Set<string> | null = null;
  #exhausted: WeakSet<Error> | null = null;
  #noted: Set<string> | null = null;
  #nextIndex = 0;
  #nextSettled = 0;
  #counted = 0;
  #replaying: boolean;
  /** Where the history ends that this passage began with. */
  readonly #historyEnd: number;
  /** Of its steps that were handed over, the one that was recorded last. */
  #lastHandedOver: SettledStep | null = null;
  /** And the one that has the last place in the recorded order of hand-over. */
  #lastSettled: SettledStep | null = null;
  /** The order of calls follows from the order of hand-over alone. */
  #isOrderKnown = true;

  constructor(definition: WorkflowDefinition, steps: readonly StepRecord[], note: (message: string) => void) {
    this.#definition = definition;
    this.#note = note;
    this.#replaying = steps.length > 0;
    for (const step of steps) {
      this.#records.set(step.key, step);
      this.#nextIndex = Math.max(this.#nextIndex, step.index + 1);
      if (step.status !== "waiting") this.#nextSettled = Math.max(this.#nextSettled, step.settledIndex + 1);
      if (this.#countsAsStep(step.type)) this.#counted++;
      if (definition.mode !== "cloudflare") this.#learnNumbering(step);
    }
    // Where a name was numbered from 0 and used without a number as well, its uses have no common order.
    for (const first of this.#fromZero ?? none) if (this.#records.get(first)) this.#fromZero?.delete(first);
    this.#historyEnd = this.#nextIndex;
  }

  /** The code that runs now ran before: everything it asked for so far was answered from history. */
  get replaying(): boolean {
    return this.#replaying;
  }

  /** How much memory what is recorded of the run takes. */
  get bytes(): number {
    return this.#records.bytes;
  }

  /** The next free place in the order of hand-over. */
  get settledCount(): number {
    return this.#nextSettled;
  }

  enter(spec: CallSpec, parent: Body | null): Call {
    const use = (parent?.names ?? this.#names).of(this.#countedName(spec));
    const count = ++use.count;
    const key = this.#keyOf(spec, parent, count);
    const record = this.#records.get(key);
    if (spec.problem !== undefined && !isSaidBy(record, spec)) throw spec.problem;
    this.#refuseReuse(spec, use, record);
    if (!record) this.#countNew(spec, key, parent);
    const call = new Call(spec, key, count, parent, record, use);
    if (parent === null) this.#follow(call, use);
    if (record && record.count !== count) call.divergence = otherUseRecorded(spec.name, count, record);
    return call;
  }

  /**
   * Author code was called back by something that is no step (a digest of crypto.subtle, a dynamic import). When that comes is
   * not recorded, so the order of branches that run side by side is not to be judged any more.
   */
  wokenFromOutside(): void {
    this.#isOrderKnown = false;
  }

  indexOf(call: Call): number {
    return call.record?.index ?? this.#nextIndex++;
  }

  /** The step waits; if its outer step is tried again, it goes on from here. */
  waits(call: Call, record: WaitingStep): void {
    this.#records.set(call.key, record);
  }

  /** A wait is recorded with another time, unless it is over or has been tried again. */
  moved(wait: WaitingStep): void {
    const known = this.#records.get(wait.key);
    if (known?.status === "waiting" && known.starts === wait.starts) this.#records.set(wait.key, wait);
  }

  /** What is recorded of the step. */
  recordOf(call: Call): StepRecord | undefined {
    return this.#records.get(call.key);
  }

  /** A step inside a body is recorded: a body that begins again finds it, handed over or not. */
  recordedInside(record: SettledStep): void {
    this.#records.set(record.key, record);
  }

  settled(call: Call, record: SettledStep): void {
    this.#records.set(call.key, record);
    if (call.parent !== null || record.index >= this.#historyEnd) return;
    if (record.index > (this.#lastHandedOver?.index ?? -1)) this.#lastHandedOver = record;
    if (record.settledIndex > (this.#lastSettled?.settledIndex ?? -1)) this.#lastSettled = record;
  }

  /** The error a failed step throws into author code. */
  errorOf(record: SettledStep): Error {
    const error = fromStoredError((record as ErroredStep).error);
    const { attempts, maxAttempts, type } = record;
    const isUsedUp = type === "do" && maxAttempts !== null && attempts >= maxAttempts;
    // Where the author said that no attempt helps, nothing was used up, on the last attempt as on the first.
    if (isUsedUp && !isNonRetryable(error)) {
      this.#exhausted ??= new WeakSet();
      this.#exhausted.add(error);
    }
    return error;
  }

  /** The error came out of a step whose retries were used up, by itself, as a cause or as one of several. */
  isExhausted(error: unknown): boolean {
    const exhausted = this.#exhausted;
    return exhausted !== null && someError(error, (one) => exhausted.has(one as Error));
  }

  /** What is counted: a name, for code written for Cloudflare a kind of step and a name. */
  #countedName(spec: CallSpec): string {
    if (this.#definition.mode !== "cloudflare") return spec.name;
    return `${spec.type}:${cloudflareName(spec)}`;
  }

  #keyOf(spec: CallSpec, parent: Body | null, count: number): string {
    if (this.#definition.mode === "cloudflare") {
      const place = parent === null ? null : { key: parent.call.key, attempt: parent.start };
      return cloudflareKey(spec.type, cloudflareName(spec), count, place);
    }
    const parentKey = parent?.call.key ?? null;
    if (this.#fromZero === null) return stepKey(spec.name, parentKey, count);
    const first = stepKey(spec.name, parentKey, 1);
    return this.#fromZero.has(first) ? `${first}#${count - 1}` : stepKey(spec.name, parentKey, count);
  }

  #learnNumbering(step: StepRecord): void {
    const first = numberedFromZero(step);
    if (first === null) return;
    this.#fromZero ??= new Set();
    this.#fromZero.add(first);
  }

  /** A name in flight is taken, unless its calls are to be numbered in the order they are made. */
  #refuseReuse(spec: CallSpec, { count, open }: NameUse, record: StepRecord | undefined): void {
    // What is recorded was allowed when it began. A refused call leaves no record, so replay refuses it again.
    if (count === 1 || record !== undefined || this.#definition.mode === "cloudflare") return;
    if (this.#definition.options.strictStepNames === true) throw nameUsedBefore(spec.name);
    if (open > 0 && spec.options?.repeat !== true) throw nameInFlight(spec.name, spec.type);
  }

  #countNew(spec: CallSpec, key: string, parent: Body | null): void {
    // A call whose outer step is tried again was counted the first time.
    if (parent !== null && this.#countedInside?.has(key)) return;
    const counts = this.#countsAsStep(spec.type);
    const { maxSteps } = this.#definition.limits;
    if (counts && this.#counted >= maxSteps) {
      throw new EverstepError(
        "STEP_LIMIT_EXCEEDED",
        `The limit of ${maxSteps} steps per run has been reached at step "${spec.name}". ` +
          "Raise limits.maxSteps, or split the work over several instances.",
        { details: { maxSteps } },
      );
    }
    const { maxHistoryBytes } = this.#definition.limits;
    if (this.#records.bytes >= maxHistoryBytes) {
      throw new EverstepError(
        "HISTORY_LIMIT_EXCEEDED",
        `What is recorded of this run has reached the limit of ${maxHistoryBytes} bytes at step "${spec.name}". ` +
          "Return less from steps (a key of what was stored elsewhere), split the work over several instances, or raise " +
          "limits.maxHistoryBytes.",
        { details: { maxHistoryBytes } },
      );
    }
    if (counts) this.#counted++;
    if (parent === null) return;
    this.#countedInside ??= new Set();
    this.#countedInside.add(key);
  }

  #countsAsStep(type: StepType): boolean {
    return type === "do" || (type === "waitForEvent" && this.#definition.mode !== "cloudflare");
  }

  /**
   * Notices where the code has moved on from history: new steps end the replay, another order is worth a line. Steps that
   * are open at the same time may be recorded in any order, for instance after a crash; one that is asked for after
   * another was handed over never was recorded before it by the same code.
   */
  #follow(call: Call, use: NameUse): void {
    const { record, name } = call;
    if (!record || record.status === "waiting") this.#replaying = false;
    const last = this.#lastHandedOver;
    const isMoved = record !== undefined && last !== null && record.index < last.index;
    use.displacedBy ??= isMoved ? last.key : this.#settledAfter(record);
    if (use.displacedBy !== null && this.#isOrderKnown && this.#isUsedAgain(call)) {
      call.divergence = divergedAfter(name, call.count, use.displacedBy);
    }
    if (!isMoved) return;
    call.cameAfter = last.key;
    this.#noteOnce(
      "order",
      `Step "${name}" is asked for in another order than it was recorded; results are matched by name.`,
    );
  }

  /** The step that was handed over already, although this one was handed over before it when both were recorded. */
  #settledAfter(record: StepRecord | undefined): string | null {
    const last = this.#lastSettled;
    if (!record || record.status === "waiting" || last === null) return null;
    // Uses of one name are numbered as they are asked for, in whatever order they ended.
    return record.settledIndex < last.settledIndex && record.name !== last.name ? last.key : null;
  }

  /**
   * A call that comes later than it was recorded is found by its name, unless the name has more than one use: the order of
   * the calls is all that tells those apart.
   */
  #isUsedAgain({ count, spec, parent }: Call): boolean {
    return count > 1 || this.#records.get(this.#keyOf(spec, parent, 2)) !== undefined;
  }

  #noteOnce(topic: string, message: string): void {
    this.#noted ??= new Set();
    if (this.#noted.has(topic)) return;
    this.#noted.add(topic);
    this.#note(message);
  }
}

/**
 * What is wrong with the call does not matter: the answer, or the time of the wait, is in the record. A body that has to run
 * again needs what the call says now, except for its name: a step that was begun keeps it, whatever names may be by now.
 */
function isSaidBy(record: StepRecord | undefined, { problem, options }: CallSpec): boolean {
  if (record === undefined) return false;
  if (record.status !== "waiting" || record.type !== "do") return true;
  return options !== null && problem instanceof EverstepError && problem.code === "INVALID_STEP_NAME";
}

function cloudflareName({ type, name, durationMs }: CallSpec): string {
  return type === "sleep" && durationMs !== null ? `${name}:${durationMs}` : name;
}

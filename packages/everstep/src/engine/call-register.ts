import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { someError } from "../authoring/error-object.ts";
import { isNonRetryable } from "../authoring/errors.ts";
import { fromStoredError } from "../authoring/stored-error.ts";
import { EverstepError } from "../model/error.ts";
import type { ErroredStep, SettledStep, StepRecord, StepType, WaitingStep } from "../model/step.ts";
import type { Body } from "./body.ts";
import { Call, type CallSpec } from "./call.ts";
import { typeMismatch } from "./decide.ts";
import { cloudflareKey, stepKey } from "./step-key.ts";
import { StepRecords } from "./step-records.ts";

/** Either a call of its own, or the answer a finished call of the same name already had. */
export type Entered =
  | { readonly kind: "call"; readonly call: Call }
  | { readonly kind: "answered"; readonly record: SettledStep };

/** Which step a call is: the records of the run by key, and the calls this passage has made. */
export class CallRegister {
  readonly #definition: WorkflowDefinition;
  readonly #note: (message: string) => void;
  readonly #records = new StepRecords();
  readonly #calls = new Map<string, Call>();
  // Most runs need none of these.
  #occurrences: Map<string, number> | null = null;
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

  constructor(definition: WorkflowDefinition, steps: readonly StepRecord[], note: (message: string) => void) {
    this.#definition = definition;
    this.#note = note;
    this.#replaying = steps.length > 0;
    for (const step of steps) {
      this.#records.set(step.key, step);
      this.#nextIndex = Math.max(this.#nextIndex, step.index + 1);
      if (step.status !== "waiting") this.#nextSettled = Math.max(this.#nextSettled, step.settledIndex + 1);
      if (this.#countsAsStep(step.type)) this.#counted++;
    }
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

  enter(spec: CallSpec, parent: Body | null): Entered {
    const { key, count } = this.#identify(spec, parent);
    const before = this.#calls.get(key);
    if (before && !before.parent?.isVoid) {
      const again = this.#askedAgain(spec, before);
      if (again) return { kind: "answered", record: again };
    }
    const record = this.#records.get(key);
    if (spec.problem !== undefined && !isSaidBy(record, spec)) throw spec.problem;
    // A call whose outer step is tried again was counted the first time.
    if (!record && !before) this.#countNew(spec);
    const call = new Call(spec, key, count, parent, record);
    if (parent === null) this.#follow(call);
    this.#calls.set(key, call);
    return { kind: "call", call };
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
  }

  forget(call: Call): void {
    this.#calls.delete(call.key);
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

  #identify(spec: CallSpec, parent: Body | null): { readonly key: string; readonly count: number } {
    const parentKey = parent?.call.key ?? null;
    if (this.#definition.mode === "cloudflare") {
      const duration = spec.type === "sleep" && spec.durationMs !== null ? `:${spec.durationMs}` : "";
      const scope = parent === null ? "" : `${parentKey}@${parent.start}`;
      const count = this.#nextOccurrence(`${scope}/${spec.type}:${spec.name}${duration}`);
      const place = parent === null ? null : { key: parent.call.key, attempt: parent.start };
      return { key: cloudflareKey(spec.type, `${spec.name}${duration}`, count, place), count };
    }
    if (!spec.options?.repeat) return { key: stepKey(spec.name, parentKey, null), count: 1 };
    const scope = parent === null ? "" : `${parentKey}@${parent.start}`;
    const count = this.#nextOccurrence(`${scope}/${spec.name}`);
    return { key: stepKey(spec.name, parentKey, count - 1), count };
  }

  #nextOccurrence(place: string): number {
    this.#occurrences ??= new Map();
    const count = (this.#occurrences.get(place) ?? 0) + 1;
    this.#occurrences.set(place, count);
    return count;
  }

  /** Names are identities: one that is open is taken, one that is done answers again. */
  #askedAgain(spec: CallSpec, before: Call): SettledStep | null {
    if (before.type !== spec.type) throw typeMismatch(spec, before.type);
    const strict = this.#definition.options.strictStepNames === true;
    if (before.state !== "done" || strict) {
      throw new EverstepError(
        "DUPLICATE_STEP_KEY",
        strict
          ? `Step "${spec.name}" was already used in this run, and the workflow has strictStepNames. Give every step its own name.`
          : `Step "${spec.name}" is still open. Give steps that run at the same time different names, or set repeat: true.`,
        { details: { step: spec.name } },
      );
    }
    const { record } = before;
    if (!record || record.status === "waiting") return null;
    this.#noteOnce(
      `again ${spec.name}`,
      `Step "${spec.name}" was asked for again and answered with its first result. If it should run each time, set repeat: true or put an index into its name.`,
    );
    return record;
  }

  #countNew(spec: CallSpec): void {
    if (!this.#countsAsStep(spec.type)) return;
    const { stepsMax } = this.#definition.limits;
    if (this.#counted >= stepsMax) {
      throw new EverstepError(
        "STEP_LIMIT_EXCEEDED",
        `The limit of ${stepsMax} steps per run has been reached at step "${spec.name}". ` +
          "Raise limits.stepsMax, or split the work over several instances.",
        { details: { stepsMax } },
      );
    }
    const { historyBytesMax } = this.#definition.limits;
    if (this.#records.bytes >= historyBytesMax) {
      throw new EverstepError(
        "HISTORY_LIMIT_EXCEEDED",
        `What is recorded of this run has reached the limit of ${historyBytesMax} bytes at step "${spec.name}". ` +
          "Return less from steps (a key of what was stored elsewhere), split the work over several instances, or raise " +
          "limits.historyBytesMax.",
        { details: { historyBytesMax } },
      );
    }
    this.#counted++;
  }

  #countsAsStep(type: StepType): boolean {
    return type === "do" || (type === "waitForEvent" && this.#definition.mode !== "cloudflare");
  }

  /**
   * Notices where the code has moved on from history: new steps end the replay, another order is worth a line. Steps that
   * are open at the same time may be recorded in any order, for instance after a crash; one that is asked for after
   * another was handed over never was recorded before it by the same code.
   */
  #follow(call: Call): void {
    const { record, name } = call;
    if (!record || record.status === "waiting") this.#replaying = false;
    const last = this.#lastHandedOver;
    if (!record || !last || record.index >= last.index) return;
    call.cameAfter = last.key;
    this.#noteOnce(
      "order",
      `Step "${name}" is asked for in another order than it was recorded; results are matched by name.`,
    );
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

import { decodeValue } from "../authoring/codec.ts";
import type { WorkflowDefinition } from "../authoring/define-workflow.ts";
import { toStoredError } from "../authoring/stored-error.ts";
import type { LogLevel } from "../model/log-line.ts";
import type { StrayErrorKind } from "../model/runtime.ts";
import type { Body } from "./body.ts";
import type { CallSpec } from "./call.ts";
import { encodeLogData } from "./log-data.ts";
import { createStepApi, type StepApiHost } from "./step-api.ts";
import type { StepOptionsResolver } from "./step-options.ts";
import { strayError } from "./turn-errors.ts";
import type { TurnParts } from "./turn-parts.ts";

type Parts = Pick<
  TurnParts,
  "run" | "records" | "life" | "schedule" | "timers" | "results" | "steps" | "endings"
>;

/** Starts the author's function, and takes what it and its bodies ask for: steps and log lines. */
export class StepCalls implements StepApiHost {
  readonly definition: WorkflowDefinition;
  readonly options: StepOptionsResolver;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.definition = parts.run.definition;
    this.options = parts.run.options;
    this.#parts = parts;
  }

  now(): number {
    return this.#parts.run.now();
  }

  /** Runs the workflow function from the top. */
  start(): void {
    const { run, endings } = this.#parts;
    const { claim, definition } = run;
    const event = {
      payload: decodeValue(claim.params) as never,
      timestamp: new Date(claim.createdAt),
      instanceId: claim.instanceId,
      workflowName: claim.workflowName,
    };
    const step = createStepApi(this);
    const running = run.scope.run<Promise<unknown>>(run.turn, async () => definition.run(event, step));
    running.then(
      (value) => endings.runSettled({ ok: true, value }),
      (error) => endings.runSettled({ ok: false, error }),
    );
  }

  called(): void {
    try {
      this.#parts.results.called();
    } catch (problem) {
      this.#parts.run.spoke(this.#currentBody()?.call.name ?? null);
      throw problem;
    }
  }

  call(spec: CallSpec): Promise<unknown> {
    const { run, records, life, schedule, timers, results, steps, endings } = this.#parts;
    const parent = this.#currentBody();
    run.spoke(parent?.call.name ?? null);
    if (life.state === "closed" && parent === null) life.wakeLate();
    if (life.state === "closed" || parent?.isVoid) return new Promise(() => {});
    if (parent === null && schedule.isDrained) records.register.wokenFromOutside();
    const call = records.register.enter(spec, parent);
    results.progressed();
    run.asked(call);
    if (call.divergence !== null) {
      endings.diverges(call.divergence);
      return call.promise;
    }
    schedule.busy();
    timers.cancelStall();
    if (parent) parent.openCalls++;
    const { record } = call;
    // It waits for its place in the recorded order, so that races decide alike, in a body that runs again too.
    if (record && record.status !== "waiting" && record.type === call.type) records.handOver.owe(call);
    else steps.ask(call);
    life.wakeLate();
    schedule.pump();
    return call.promise;
  }

  answer<Value>(answer: () => Value): Promise<Value> {
    return this.#parts.results.answer(answer);
  }

  log(level: LogLevel, message: string, data: unknown, category: string): void {
    const { records, life, results } = this.#parts;
    const body = this.#currentBody();
    if (life.state === "closed" || body?.isVoid || results.hasStalled) return;
    records.draft.log({
      stepKey: body?.call.key ?? null,
      attempt: body?.start ?? null,
      level,
      category,
      message,
      data: encodeLogData(data, this.definition.limits.maxLogBytes),
      isReplay: body === null && records.register.replaying,
      createdAt: this.now(),
    });
  }

  /** Something this run's code left behind failed and nobody handled it: worth a line, not the process. */
  strayError(error: unknown, kind: StrayErrorKind, body: Body | null): void {
    const { records, life } = this.#parts;
    if (life.isOpen) records.note("error", strayError(toStoredError(error), kind));
    // A callback that threw will hardly let its body come to an end.
    if (kind === "thrown") body?.fail(error);
  }

  #currentBody(): Body | null {
    const { scope, turn } = this.#parts.run;
    const current = scope.current();
    return current?.turn === turn ? current.body : null;
  }
}

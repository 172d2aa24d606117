/**
 * Bodies of somebody's own steps, each with what the seed has in store for it: it takes its time before and after its
 * work, and its process may be killed or stand still there. What happens is between two awaits of the wrapper, never in
 * the middle of the author's code, which is waited for.
 */
import { parseDuration } from "../../../authoring/duration.ts";
import type { StepCallback, StepContext, WorkflowEvent } from "../../../authoring/workflow-step.ts";
import type { Choices } from "../choices.ts";
import type { Fleet, Member } from "../fleet.ts";
import type { Ledger } from "../ledger.ts";
import type { World } from "../world.ts";
import type { BodyFate, OwnWeather } from "./faults.ts";
import type { BodyInWords, Narrator } from "./narrator.ts";
import { nameOf } from "./words.ts";
import { napping, type Worker, type Works, waiting } from "./works.ts";

export interface BodiesParts {
  readonly world: World;
  readonly choices: Choices;
  readonly weather: OwnWeather;
  readonly works: Works;
  readonly narrator: Narrator;
  readonly ledger: Ledger;
  readonly fleet: () => Fleet;
  /** Who is at work in a process, as the code there sees time and chance. */
  readonly workerIn: (member: Member, what: string) => Worker;
  readonly onFate: (fate: BodyFate) => void;
  /** One has ended. */
  readonly onEnd: () => void;
}

interface Started {
  readonly member: Member;
  readonly worker: Worker;
  readonly signal: AbortSignal;
}

export class Bodies {
  readonly #parts: BodiesParts;
  readonly #started = new Set<Started>();
  isHealed = false;

  constructor(parts: BodiesParts) {
    this.#parts = parts;
  }

  /**
   * Some process that is not dead has begun one and not ended it. One that is void and waits for a step inside of it will
   * wait for ever.
   */
  get areUnderWay(): boolean {
    for (const started of this.#started) {
      const { member, worker, signal } = started;
      if (member.process.state === "dead") this.#started.delete(started);
      else if (!signal.aborted || worker.naps > 0) return true;
    }
    return false;
  }

  async run<Result>(
    member: Member,
    event: WorkflowEvent,
    context: StepContext,
    callback: StepCallback<Result>,
  ): Promise<Result> {
    const { works, ledger, narrator, workerIn, onEnd } = this.#parts;
    const { name } = context.step;
    const told = narrator.begins(member, event, context);
    const watch = ledger.begin(member, { event, context, path: "", seen: "" });
    const worker = workerIn(member, `Step "${name}" of ${nameOf(event)}`);
    const started: Started = { member, worker, signal: context.signal };
    this.#started.add(started);
    try {
      const result = await works.run(worker, () =>
        this.#befallen(member, context, told, () => callback(context)),
      );
      watch.end("returned");
      return result;
    } catch (error) {
      watch.end("threw");
      narrator.throws(member, event, name, error);
      throw error;
    } finally {
      this.#started.delete(started);
      told.end();
      onEnd();
    }
  }

  async #befallen<Result>(
    member: Member,
    context: StepContext,
    told: BodyInWords,
    work: () => Promise<Result> | Result,
  ): Promise<Result> {
    const { name } = context.step;
    const fate = this.#drawFate(name);
    const timeoutMs = timeoutOf(context);
    await this.#takeTime(member, "before", timeoutMs);
    if (fate === "killed before") await this.#kill(member);
    if (fate === "frozen before") await this.#freeze(member);
    if (fate === "fails before") throw new Error(`Simulated failure of "${name}" before it did its work.`);
    const result = await work();
    told.isDone = true;
    await this.#takeTime(member, "after", timeoutMs);
    if (fate === "killed after") await this.#kill(member);
    if (fate === "frozen after") await this.#freeze(member);
    if (fate === "fails after") throw new Error(`Simulated failure of "${name}" after it did its work.`);
    if (fate === "too slow" && Number.isFinite(timeoutMs)) await this.#pause(member, timeoutMs * 1.5);
    return result;
  }

  #drawFate(step: string): BodyFate {
    if (this.isHealed) return "undisturbed";
    const { choices, weather, onFate } = this.#parts;
    const fate = choices.weighted(`body "${step}"`, weather.bodies);
    onFate(fate);
    return fate;
  }

  /** A sound body stays within its timeout. */
  async #takeTime(member: Member, when: "before" | "after", timeoutMs: number): Promise<void> {
    const { choices, weather } = this.#parts;
    if (this.isHealed || weather.bodyMsMax === 0) return;
    const share = choices.below(`time ${when} work`, 5);
    if (share > 0) await this.#pause(member, Math.min((weather.bodyMsMax * share) / 4, timeoutMs / 4));
  }

  #pause(member: Member, ms: number): Promise<void> {
    return napping(
      new Promise((resolve) => {
        member.process.runtime.timer(resolve, ms);
      }),
    );
  }

  /** In a moment of its own, as everything that happens. */
  async #kill(member: Member): Promise<never> {
    const { world, fleet } = this.#parts;
    await napping(world.sleep(0));
    fleet().kill(member);
    return waiting(new Promise<never>(() => {}));
  }

  async #freeze(member: Member): Promise<void> {
    const { world, choices, weather, fleet } = this.#parts;
    const { lease } = weather.settings;
    await napping(world.sleep(0));
    fleet().freeze(member, choices.spread("frozen for", lease / 2, lease * 5));
    await this.#pause(member, 0);
  }
}

function timeoutOf({ config }: StepContext): number {
  try {
    return parseDuration(config.timeout, "timeout");
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

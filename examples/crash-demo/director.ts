/**
 * Runs the demo: starts workers, watches the order through the store, kills the worker at its cues and sends the event.
 * It never talks with a worker; both only use the same store.
 *
 *   worker at work -> killed at a cue -> a short pause -> next worker at work ... -> the order has ended
 */
import { setTimeout as delay } from "node:timers/promises";
import type { InstanceHandle } from "everstep";
import { type Cast, type Kill, type Look, runningStep } from "./progress.ts";
import type { WorkerProcess } from "./worker-process.ts";

export interface Scene {
  readonly instance: InstanceHandle;
  readonly plan: readonly string[];
  readonly killAt: readonly string[];
  readonly speed: number;
  readonly leaseSeconds: number | null;
  readonly startWorker: () => WorkerProcess;
  readonly show: (look: Look, cast: Cast) => void;
}

/** In milliseconds at speed 1. */
const pace = {
  look: 80,
  /** How far a body, a sleep or a wait has come when its worker is killed. */
  killAfter: { body: 500, wait: 900 },
  pauseAfterKill: 700,
  eventAfter: 1300,
  giveUpAfter: 100_000,
} as const;

export class Director {
  readonly #scene: Scene;
  readonly #cast: { workers: Cast["workers"][number][]; kills: Kill[]; leaseSeconds: number | null };
  readonly #targets: Set<string>;
  #worker: WorkerProcess | null = null;
  #eventIsSent = false;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#cast = { workers: [], kills: [], leaseSeconds: scene.leaseSeconds };
    this.#targets = new Set(scene.killAt);
  }

  /** Until the instance has ended. */
  async run(): Promise<{ readonly look: Look; readonly cast: Cast }> {
    const { speed, show } = this.#scene;
    const startedAt = Date.now();
    for (;;) {
      const look = await this.#look();
      this.#noticeContinuation(look);
      show(look, this.#cast);
      if (look.instance.completedAt !== null) return { look, cast: this.#cast };
      if (look.at - startedAt > pace.giveUpAfter / Math.min(1, speed))
        throw new Error("The order has not ended in time.");
      await this.#act(look);
      await delay(Math.max(10, pace.look / speed));
    }
  }

  async #look(): Promise<Look> {
    const { instance } = this.#scene;
    const details = await instance.details();
    const { steps } = await instance.history({ pageSize: 100 });
    return { at: Date.now(), instance: details, steps };
  }

  async #act(look: Look): Promise<void> {
    if (this.#worker === null) return this.#startWorkerWhenDue(look);
    if (this.#worker.isGone) return this.#takeNoteOfDeath(this.#worker);
    this.#moveMissedTargets(look);
    const target = this.#targetReached(look);
    if (target !== null) return this.#kill(this.#worker, target);
    if (this.#eventIsDue(look)) await this.#sendEvent();
  }

  // --- workers

  #startWorkerWhenDue({ at }: Look): void {
    const { speed, startWorker } = this.#scene;
    const killedAt = this.#cast.kills.at(-1)?.at ?? Number.NEGATIVE_INFINITY;
    if (at - killedAt < pace.pauseAfterKill / speed) return;
    this.#worker = startWorker();
    const { pid, startedAt } = this.#worker;
    this.#cast.workers.push({ pid, startedAt, continuedAt: null });
  }

  /** Whatever changed since a worker was started is its doing. */
  #noticeContinuation({ instance }: Look): void {
    const worker = this.#cast.workers.at(-1);
    const changedAt = instance.updatedAt.getTime();
    if (worker && this.#worker && changedAt >= worker.startedAt) worker.continuedAt ??= changedAt;
  }

  /** On a busy machine a step may be over before the demo has looked: then the next one has to do. */
  #moveMissedTargets({ steps }: Look): void {
    const { plan } = this.#scene;
    for (const target of this.#targets) {
      if (!steps.some((step) => step.name === target && step.settledAt !== null)) continue;
      this.#targets.delete(target);
      const next = plan[plan.indexOf(target) + 1];
      if (next !== undefined) this.#targets.add(next);
    }
  }

  /** The step in which the worker shall die now, if any. */
  #targetReached(look: Look): string | null {
    const { plan, speed } = this.#scene;
    const running = runningStep(plan, look);
    if (running && this.#targets.has(running.name)) {
      const since = Math.max(running.since, look.instance.updatedAt.getTime());
      return look.at - since >= pace.killAfter.body / speed ? running.name : null;
    }
    const waiting = look.steps.find((step) => step.type !== "do" && step.status === "waiting");
    if (!waiting || !this.#targets.has(waiting.name)) return null;
    return look.at - waiting.createdAt.getTime() >= pace.killAfter.wait / speed ? waiting.name : null;
  }

  async #kill(worker: WorkerProcess, target: string): Promise<void> {
    this.#targets.delete(target);
    await worker.kill();
    await this.#takeNoteOfDeath(worker);
  }

  /** By the demo's hand or by that of whoever watches it: what was hit is what the store says. */
  async #takeNoteOfDeath({ pid, killedBy, complaints }: WorkerProcess): Promise<void> {
    if (killedBy === null) throw new Error(`The worker ended by itself. ${complaints}`);
    this.#worker = null;
    const look = await this.#look();
    const running = runningStep(this.#scene.plan, look);
    const step = running?.name ?? look.instance.currentStep?.name ?? "";
    this.#cast.kills.push({ pid, signal: killedBy, at: look.at, step, cutOffBody: running !== null });
  }

  // --- the event

  #eventIsDue(look: Look): boolean {
    const wait = look.steps.find((step) => step.type === "waitForEvent" && step.status === "waiting");
    if (!wait || this.#eventIsSent || this.#targets.has(wait.name)) return false;
    return look.at - wait.createdAt.getTime() >= pace.eventAfter / this.#scene.speed;
  }

  async #sendEvent(): Promise<void> {
    this.#eventIsSent = true;
    await this.#scene.instance.sendEvent({ type: "picked-up", payload: { driver: "Robin" } });
  }
}

/** A person who steers instances while things fail: pauses and resumes, terminates and restarts. */
import type { App, InstanceHandle } from "everstep";
import type { ChaosWorkflows } from "./journey.ts";
import type { Random } from "./random.ts";
import type { Decision, Receipts } from "./receipts.ts";
import { pause } from "./time.ts";

export class Operator {
  readonly #app: App<ChaosWorkflows>;
  readonly #random: Random;
  readonly #receipts: Receipts;
  readonly #acts = new Set<Promise<unknown>>();
  #decisionCount = 0;

  constructor(app: App<ChaosWorkflows>, random: Random, receipts: Receipts) {
    this.#app = app;
    this.#random = random;
    this.#receipts = receipts;
  }

  async steerUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await pause(this.#random.between(200, 700));
      const known = this.#receipts.creations.filter(({ answer }) => answer === "acknowledged");
      // The latest ones are the most likely to be on their way.
      const recent = known.slice(-60);
      if (recent.length > 0) this.#go(this.#steer(this.#random.pick(recent).id));
    }
    await Promise.all(this.#acts);
  }

  /** Whoever is paused goes on. */
  async resumeAll(): Promise<void> {
    const { items } = await this.#app.workflows.JOURNEY.list({ status: "paused", pageSize: 100 });
    for (const { id } of items) {
      const journey = await this.#app.workflows.JOURNEY.get(id);
      await this.#decide("resume", journey, () => journey.resume());
    }
  }

  #go(work: Promise<unknown>): void {
    const act = work.finally(() => this.#acts.delete(act));
    this.#acts.add(act);
  }

  async #steer(id: string): Promise<void> {
    const random = this.#random.branch();
    const journey = await this.#app.workflows.JOURNEY.get(id).catch(() => undefined);
    if (!journey) return;
    const choice = random.float();
    if (choice < 0.6) return this.#pauseAndResume(journey, random.between(100, 5000));
    if (choice < 0.75) {
      await this.#decide("terminate", journey, (reason) => journey.terminate({ reason }));
    } else if (choice < 0.9) {
      await this.#decide("restart", journey, () => journey.restart());
    } else await this.#restartFromSomewhere(journey, random);
  }

  async #pauseAndResume(journey: InstanceHandle, ms: number): Promise<void> {
    await this.#decide("pause", journey, () => journey.pause());
    await pause(ms);
    await this.#decide("resume", journey, () => journey.resume());
  }

  async #restartFromSomewhere(journey: InstanceHandle, random: Random): Promise<void> {
    const steps = await journey.history({ pageSize: 100 }).then(
      (history) => history.steps,
      () => [],
    );
    // The word of an errand's end belongs to the run that heard it: a run that begins behind it would wait in vain.
    if (steps.length === 0 || steps.some(({ name }) => name.includes("errand"))) return;
    const from = random.pick(steps).stepKey;
    await this.#decide("restart", journey, () => journey.restart({ from }));
  }

  async #decide(
    kind: Decision["kind"],
    journey: InstanceHandle,
    act: (reason: string) => Promise<void>,
  ): Promise<void> {
    const reason = `decision ${++this.#decisionCount}`;
    const receipt = await this.#receipts.answered(`${kind} ${journey.id}`, () => act(reason), refusals);
    this.#receipts.decisions.push({ kind, journey: journey.id, reason, ...receipt });
  }
}

/** It ended, or somebody else was faster: what may well happen to an operator. */
const refusals = ["INSTANCE_TERMINAL", "INVALID_ARGUMENT", "STEP_NOT_FOUND"];

/** Those who want something from the instances: they create them, write letters to them and publish news. */
import type { App, InstanceHandle } from "everstep";
import { type Act, countLetters, drawActs, topics } from "./acts.ts";
import type { ChaosWorkflows } from "./journey.ts";
import type { Random } from "./random.ts";
import type { Receipts } from "./receipts.ts";
import { monotonic, pause } from "./time.ts";

export class Clients {
  readonly #app: App<ChaosWorkflows>;
  readonly #random: Random;
  readonly #receipts: Receipts;
  readonly #errands = new Set<Promise<unknown>>();
  #letterCount = 0;
  #publicationCount = 0;

  constructor(app: App<ChaosWorkflows>, random: Random, receipts: Receipts) {
    this.#app = app;
    this.#random = random;
    this.#receipts = receipts;
  }

  /** Creates so many journeys, evenly over the time, and writes to each of them. Does not wait for answers. */
  async createJourneys(count: number, overMs: number): Promise<void> {
    const began = monotonic();
    for (let at = 0; at < count; at++) {
      await pause(began + (overMs / count) * at - monotonic());
      this.#go(this.#createJourney(`j-${at}`, drawActs(this.#random)));
    }
  }

  async publishUntil(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      this.#go(this.#publish());
      await pause(this.#random.between(100, 400));
    }
  }

  /** One more for a journey that was restarted after it had taken its letters. */
  writeAgain(journey: InstanceHandle): void {
    this.#go(this.#write(journey));
  }

  /** Resolves when everything asked for was answered. */
  async settled(): Promise<void> {
    while (this.#errands.size > 0) await Promise.all(this.#errands);
  }

  #go(work: Promise<unknown>): void {
    const errand = work.finally(() => this.#errands.delete(errand));
    this.#errands.add(errand);
  }

  async #createJourney(id: string, acts: readonly Act[]): Promise<void> {
    const random = this.#random.branch();
    let journey: InstanceHandle | undefined;
    const receipt = await this.#receipts.answered(`create ${id}`, async () => {
      journey = await this.#app.workflows.JOURNEY.create({ id, params: { acts } });
    });
    this.#receipts.creations.push({ id, acts, ...receipt });
    if (!journey) return;
    for (let letter = countLetters(acts); letter > 0; letter--) {
      await pause(random.between(0, 2500));
      await this.#write(journey, random.chance(0.4) ? 2 : 1);
    }
  }

  /** The same letter may be sent twice, because its sender is not sure; at once or one after the other. */
  async #write(journey: InstanceHandle, times = 1): Promise<void> {
    const number = ++this.#letterCount;
    const letter = { id: `letter-${number}`, journey: journey.id, number };
    const send = async (): Promise<void> => {
      const event = { type: "letter", idempotencyKey: letter.id, payload: { number } };
      const receipt = await this.#receipts.answered(
        `letter ${number} to ${journey.id}`,
        () => journey.sendEvent(event),
        // When the second is right is for the audit to say.
        ["INSTANCE_TERMINAL", "IDEMPOTENCY_KEY_CONFLICT"],
      );
      this.#receipts.letters.push({ ...letter, ...receipt });
    };
    const first = send();
    if (times > 1 && number % 2 === 0) await first;
    await Promise.all([first, ...(times > 1 ? [send()] : [])]);
  }

  async #publish(): Promise<void> {
    const number = ++this.#publicationCount;
    const publication = { id: `news-${number}`, topic: this.#random.pick(topics), number };
    const times = this.#random.chance(0.3) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      let waiters: number | null = null;
      const receipt = await this.#receipts.answered(`publication ${number}`, async () => {
        const { id, topic } = publication;
        waiters = (await this.#app.publish(topic, { number }, { idempotencyKey: id })).waiters;
      });
      this.#receipts.publications.push({ ...publication, waiters, ...receipt });
    }
  }
}

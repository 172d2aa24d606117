/** The words that processes send each other about what they wrote: late, lost, doubled, and now and then about nothing. */
import { isTerminal } from "../../model/instance.ts";
import type { Nudge, NudgeListener, StoreOutcome } from "../../store/store.ts";
import type { StoreCall } from "../intercept-store.ts";
import type { TestProcess } from "../test-process.ts";
import type { Choices } from "./choices.ts";
import type { Weather } from "./weather.ts";
import type { World } from "./world.ts";

interface Subscriber {
  readonly process: TestProcess;
  readonly listener: NudgeListener;
}

export class Post {
  readonly #world: World;
  readonly #choices: Choices;
  readonly #weather: Weather;
  readonly #subscribers = new Set<Subscriber>();
  isHealed = false;

  constructor(world: World, choices: Choices, weather: Weather) {
    this.#world = world;
    this.#choices = choices;
    this.#weather = weather;
  }

  subscribe(process: TestProcess, listener: NudgeListener): () => void {
    const subscriber = { process, listener };
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Its connection breaks: it is told once, and hears nothing more. */
  hangUp(process: TestProcess): void {
    for (const subscriber of [...this.#subscribers]) {
      if (subscriber.process !== process) continue;
      this.#subscribers.delete(subscriber);
      process.deliver(() => subscriber.listener.onLost(new Error("The connection broke.")));
    }
  }

  /** A call was applied. */
  wrote(call: StoreCall, answer: unknown): void {
    const nudge = newsOf(call, answer);
    if (!nudge) return;
    for (const subscriber of this.#subscribers) {
      const lost = this.isHealed ? 0 : this.#weather.nudgesLost;
      if (this.#choices.chance("nudge lost", lost)) continue;
      const times = this.#choices.chance("nudge doubled", 0.05) ? 2 : 1;
      for (let time = 0; time < times; time++) this.#send(subscriber, nudge);
    }
  }

  #send(subscriber: Subscriber, nudge: Nudge): void {
    const delayMs = this.#choices.spread("nudge delay", 0.1, 2000);
    this.#world.after(delayMs, () => {
      if (this.#subscribers.has(subscriber))
        subscriber.process.deliver(() => subscriber.listener.onNudge(nudge));
    });
  }
}

function newsOf({ method, requests }: StoreCall, answer: unknown): Nudge | null {
  if (method === "release") return { due: true, changed: false, ended: false };
  if (method !== "write") return null;
  const outcomes = answer as readonly StoreOutcome[];
  const news = { due: false, changed: false, ended: false };
  for (const [at, request] of requests.entries()) {
    const outcome = outcomes[at];
    if (request.kind === "commit") {
      const { kind } = request.boundary.next;
      if (outcome?.kind !== "committed") continue;
      news.ended ||= kind === "complete" || kind === "error" || kind === "terminate";
      news.due ||= outcome.dueNow || request.alongside.length > 0 || request.announce !== undefined;
    } else if (request.kind === "change") {
      if (outcome?.kind !== "changed") continue;
      news.changed = true;
      news.due ||= !isTerminal(outcome.status);
      news.ended ||= isTerminal(outcome.status);
    } else news.due = true;
  }
  return news.due || news.changed || news.ended ? news : null;
}

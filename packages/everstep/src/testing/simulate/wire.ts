/** A process's way to the store: every call travels, and the seed decides what becomes of it. */
import type { NudgeListener, Store } from "../../store/store.ts";
import { storeFailure } from "../faulty-store.ts";
import { interceptStore, type StoreCall } from "../intercept-store.ts";
import type { TestProcess } from "../test-process.ts";
import type { Choices } from "./choices.ts";
import type { Post } from "./post.ts";
import type { Fate, Weather } from "./weather.ts";
import type { World } from "./world.ts";

export interface WireParts {
  readonly world: World;
  readonly choices: Choices;
  readonly weather: Weather;
  readonly post: Post;
  readonly process: TestProcess;
  readonly store: Store;
  /** A call was applied; whoever wants to look at the store does so before anything else happens. */
  readonly onApplied: (call: StoreCall, answer: unknown) => Promise<void>;
  readonly onFate: (fate: Fate, call: StoreCall) => void;
  /** The process dies of it. */
  readonly onCrash: () => void;
}

/** What becomes of one call in somebody's own hands: makes it when it sees fit, if at all, and answers its caller. */
export type Course = (apply: () => Promise<unknown>) => Promise<unknown>;

/** The caller's driver gives up on a call after this long. */
const patienceMs = 5000;

export class Wire {
  readonly #parts: WireParts;
  #cutUntil = 0;
  #isHealed = false;
  /** Fates that were decided beforehand, by the number of the call. */
  planned: ((call: StoreCall, number: number) => Fate | Course | null) | null = null;
  calls = 0;

  constructor(parts: WireParts) {
    this.#parts = parts;
  }

  /** From now on everything arrives. */
  heal(): void {
    this.#isHealed = true;
    this.#cutUntil = 0;
  }

  /** Nothing arrives for a while. */
  cut(forMs: number): void {
    const { world, post, process } = this.#parts;
    this.#cutUntil = world.elapsed + forMs;
    post.hangUp(process);
  }

  connect(): Store {
    const { store, process, world, weather, post } = this.#parts;
    // Beats are for people who look, and nobody does here: they would only be more calls to decide about.
    const { beat: _unheard, ...connected } = process.connect(
      interceptStore(store, (call, apply) =>
        call.method === "close" ? Promise.resolve() : this.#travel(call, apply),
      ),
    );
    // What intercepting leaves out. The store's clock is right; a question takes its time.
    const serverTime = async (): Promise<number> => {
      await this.#way();
      const time = world.now;
      await this.#way();
      return time;
    };
    const subscribe = async (listener: NudgeListener): Promise<() => void> => {
      await this.#way();
      if (this.#isCut) throw storeFailure("unavailable");
      return post.subscribe(process, listener);
    };
    return {
      ...connected,
      ...(weather.skewMs > 0 ? { serverTime: () => this.#within(serverTime()) } : {}),
      // Those that tell of news are servers, and servers take more than one write at a time.
      ...(weather.nudges
        ? { subscribe: (listener) => this.#within(subscribe(listener)), writesAtOnce: 2 }
        : {}),
    };
  }

  /** Nothing reaches a process that is frozen or dead. */
  #within<Result>(answer: Promise<Result>): Promise<Result> {
    const { process } = this.#parts;
    return new Promise((resolve, reject) => {
      answer.then(
        (value) => process.deliver(() => resolve(value)),
        (error) => process.deliver(() => reject(error)),
      );
    });
  }

  async #travel(call: StoreCall, apply: () => Promise<unknown>): Promise<unknown> {
    const fate = this.#fateOf(call);
    if (typeof fate === "function") return fate(() => this.#applied(call, apply));
    this.#parts.onFate(fate, call);
    await this.#way();
    if (this.#isCut) return this.#unanswered();
    switch (fate) {
      case "delivered":
        return this.#answered(await this.#applied(call, apply));
      case "refused":
        throw storeFailure("unavailable");
      case "contended":
        throw storeFailure("conflict");
      case "reply lost":
        await this.#applied(call, apply).catch(() => {});
        throw storeFailure("ambiguous");
      case "late":
        return this.#late(call, apply);
      case "crash before":
        this.#parts.onCrash();
        return never();
      case "crash after":
        await this.#applied(call, apply).catch(() => {});
        this.#parts.onCrash();
        return never();
    }
  }

  async #applied(call: StoreCall, apply: () => Promise<unknown>): Promise<unknown> {
    const answer = await apply();
    await this.#parts.onApplied(call, answer);
    this.#parts.post.wrote(call, answer);
    return answer;
  }

  async #answered(answer: unknown): Promise<unknown> {
    await this.#way();
    if (this.#isCut) return this.#unanswered();
    return answer;
  }

  async #late(call: StoreCall, apply: () => Promise<unknown>): Promise<never> {
    const { world, choices, weather } = this.#parts;
    const { lease } = weather.settings;
    world.after(choices.spread("late by", lease / 50, lease * 3), () => {
      this.#applied(call, apply).catch(() => {});
    });
    await world.sleep(choices.spread("gives up after", 1, patienceMs));
    throw storeFailure("ambiguous");
  }

  async #unanswered(): Promise<never> {
    const { world, choices } = this.#parts;
    await world.sleep(choices.spread("gives up after", 1, patienceMs));
    throw storeFailure("ambiguous");
  }

  get #isCut(): boolean {
    return this.#parts.world.elapsed < this.#cutUntil;
  }

  #fateOf(call: StoreCall): Fate | Course {
    const number = this.calls++;
    const planned = this.planned?.(call, number);
    if (planned) return planned;
    if (this.#isHealed) return "delivered";
    const { choices, weather } = this.#parts;
    const fate = choices.weighted(`fate of ${call.method}`, weather.fates);
    // Only what changes something can be applied late or contended for.
    return isWrite(call) || (fate !== "late" && fate !== "contended") ? fate : "refused";
  }

  #way(): Promise<void> {
    const { world, choices, weather } = this.#parts;
    return world.sleep(choices.spread("latency", 0.02, weather.latencyMsMax));
  }
}

const writing: readonly StoreCall["method"][] = [
  "write",
  "writeWithin",
  "claim",
  "renew",
  "release",
  "prune",
  "remove",
];

function isWrite({ method }: StoreCall): boolean {
  return writing.includes(method);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** A process's way to the store: every call travels, and the seed decides what becomes of it. */
import { requestBytes } from "../../model/bytes.ts";
import { StoreError } from "../../model/error.ts";
import type { NudgeListener, Store } from "../../store/store.ts";
import { storeFailure } from "../faulty-store.ts";
import { interceptStore, type StoreCall, type StoreMethod, type StoreVerb } from "../intercept-store.ts";
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
  /** It arrived, and nothing of it has taken effect. */
  readonly onApplying?: ((call: StoreCall) => void) | undefined;
  /** A call was applied; whoever wants to look at the store does so before anything else happens. */
  readonly onApplied: (call: StoreCall, answer: unknown) => Promise<void>;
  /** The answer has come to the process. */
  readonly onAnswered: (call: StoreCall, answer: unknown) => void;
  readonly onFate: (fate: Fate, call: StoreCall) => void;
  /** The process dies of it. */
  readonly onCrash: () => void;
}

/** What becomes of one call in somebody's own hands: makes it when it sees fit, if at all, and answers its caller. */
export type Course = (apply: () => Promise<unknown>) => Promise<unknown>;

/** The caller's driver gives up on a call after this long. */
const patienceMs = 5000;
/** And after this long at most, when a connection swallows what is sent on it. */
const driverPatienceMs = 16_000;
/** Ways to the store of one process. */
const connections = 3;

export class Wire {
  readonly #parts: WireParts;
  #cutUntil = 0;
  /** Its first connection swallows everything until then, or until somebody has waited long enough to replace it. */
  #silentUntil = 0;
  /** Answers to such calls are lost until then. */
  #deaf: { readonly verb: StoreVerb; readonly until: number } | null = null;
  /** Calls of each kind since a connection went silent. */
  readonly #asked = new Map<StoreMethod, number>();
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
    this.#silentUntil = 0;
    this.#deaf = null;
  }

  /** Nothing arrives for a while. */
  cut(forMs: number): void {
    const { world, post, process } = this.#parts;
    this.#cutUntil = world.elapsed + forMs;
    post.hangUp(process);
  }

  /** One of its connections goes silent for a while; the others work. */
  silence(forMs: number): void {
    this.#silentUntil = this.#parts.world.elapsed + forMs;
    this.#asked.clear();
  }

  /** What is asked with this verb takes effect, and nobody hears of it, for a while. */
  loseAnswers(verb: StoreVerb, forMs: number): void {
    this.#deaf = { verb, until: this.#parts.world.elapsed + forMs };
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
        return this.#answered(call, await this.#applied(call, apply));
      case "refused":
        throw storeFailure("unavailable");
      case "contended":
        throw storeFailure("conflict");
      case "reply lost":
        await this.#applied(call, apply).catch(() => {});
        throw storeFailure("ambiguous");
      case "late":
        return this.#late(call, apply);
      case "swallowed":
        return this.#swallowed();
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
    this.#refuseTooLarge(call);
    this.#parts.onApplying?.(call);
    const answer = await apply();
    await this.#parts.onApplied(call, answer);
    this.#parts.post.wrote(call, answer);
    return answer;
  }

  /** However often it is asked. */
  #refuseTooLarge({ requests }: StoreCall): void {
    const { writeBytesMax } = this.#parts.weather;
    if (writeBytesMax === null || requests.length === 0) return;
    const bytes = requests.reduce((sum, request) => sum + requestBytes(request), 0);
    if (bytes > writeBytesMax)
      throw new StoreError("too-large", "PAYLOAD_TOO_LARGE", `${bytes} bytes are more than the store takes.`);
  }

  async #answered(call: StoreCall, answer: unknown): Promise<unknown> {
    const { process, onAnswered } = this.#parts;
    await this.#way();
    if (this.#isCut) return this.#unanswered();
    process.deliver(() => onAnswered(call, answer));
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

  /** Calls of each kind go out on the connections in turn. */
  #isSilent({ method }: StoreCall): boolean {
    if (this.#parts.world.elapsed >= this.#silentUntil) return false;
    const asked = this.#asked.get(method) ?? 0;
    this.#asked.set(method, asked + 1);
    return asked % connections === 0;
  }

  #isDeaf({ verbs }: StoreCall): boolean {
    if (this.#deaf === null || this.#parts.world.elapsed >= this.#deaf.until) return false;
    return verbs.includes(this.#deaf.verb);
  }

  /** Nobody answers, until the driver has waited long enough and opens another connection. */
  async #swallowed(): Promise<never> {
    const { world } = this.#parts;
    await world.sleep(driverPatienceMs);
    this.#silentUntil = 0;
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
    if (this.#isSilent(call)) return "swallowed";
    if (this.#isDeaf(call)) return "reply lost";
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
];

function isWrite({ method }: StoreCall): boolean {
  return writing.includes(method);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/**
 * Answers that carry values of instances, which may be large. Only some are made at once, and only so many bytes wait for
 * clients to take them. Each client has a share of both, and what proves to be small never waits for what is large: whoever
 * may read can neither fill the memory nor keep others from their answers by taking its own slowly.
 */
import { EverstepError } from "../model/error.ts";
import type { Runtime } from "../model/runtime.ts";
import { FairLine } from "./fair-line.ts";
import { HeldAnswer } from "./held-answer.ts";

/** A page ends early where its values are large; a whole run may be as large as histories may be. */
export type ValueAnswerKind = "page" | "run";

/** Pages that are being made at once. None of them waits for anything but the store. */
const pagesMax = 16;
/** Runs, and pages that found no room, which are being made or wait for room. */
const largeMax = 2;

/** What is smaller is handed over as a whole, and not counted. */
const smallBytes = 256 * 1024;
/** What clients have not taken yet. A larger one than that is there alone. */
const heldBytesMax = 32 * 1024 * 1024;
/** Where others wait for room, whoever had this long gives way. */
const graceMs = 3000;

/** Who wants an answer, for as long as it is wanted. */
export class Asker {
  readonly client: string;
  readonly kind: ValueAnswerKind;
  /** It waits for others to take their answers. */
  isWaiting = false;
  readonly #gone = new AbortController();

  constructor(client: string, kind: ValueAnswerKind, signal: AbortSignal | null) {
    this.client = client;
    this.kind = kind;
    signal?.addEventListener("abort", () => this.giveUp(), { once: true });
    if (signal?.aborted) this.giveUp();
  }

  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  giveUp(): void {
    this.#gone.abort(tooManyLargeAnswers());
  }
}

interface Making<Made> {
  readonly make: () => Promise<Made>;
  readonly respond: (made: Made, body: (text: string) => BodyInit) => Response;
}

export class ValueAnswers {
  readonly #runtime: Pick<Runtime, "timer" | "monotonic">;
  readonly #pages: FairLine;
  readonly #large: FairLine;
  readonly #clientBytesMax: number;
  /** Who has had its answer longest first. */
  readonly #held = new Set<HeldAnswer>();
  /** Told when there may be room. */
  readonly #waiting = new Set<() => void>();

  /** Where nobody says who they are, all are one, and have everything. */
  constructor(runtime: Pick<Runtime, "timer" | "monotonic">, areAllOne: boolean) {
    const share = (max: number): number => (areAllOne ? max : max / 2);
    this.#runtime = runtime;
    this.#pages = new FairLine({ max: pagesMax, maxPerClient: share(pagesMax) });
    this.#large = new FairLine({ max: largeMax, maxPerClient: share(largeMax) });
    this.#clientBytesMax = share(heldBytesMax);
  }

  /** Makes the answer once there is room for it. Whoever does not want it any more cancels its body. */
  async answer<Made>(asker: Asker, making: Making<Made>): Promise<Response> {
    const atOnce = asker.kind === "page" ? await this.#page(asker, making) : null;
    return atOnce ?? this.#withRoom(asker, making);
  }

  /** Or null, if it is large and there is no room: nothing of it is kept, and its place is free for others. */
  async #page<Made>(asker: Asker, making: Making<Made>): Promise<Response | null> {
    const leave = await this.#pages.enter(asker.client, asker.signal);
    try {
      const { response, large } = await this.#made(asker, making);
      if (large === null) return response;
      if (this.#waiting.size === 0 && this.#inTheWayOf(large) === null) this.#hold(large);
      else large.giveUp();
      return large.isOver ? null : response;
    } finally {
      leave();
    }
  }

  async #withRoom<Made>(asker: Asker, making: Making<Made>): Promise<Response> {
    asker.isWaiting = true;
    const leave = await this.#large.enter(asker.client, asker.signal);
    try {
      asker.isWaiting = false;
      const { response, large } = await this.#made(asker, making);
      asker.isWaiting = true;
      if (large !== null) await this.#room(large, asker.signal);
      return response;
    } finally {
      asker.isWaiting = false;
      leave();
    }
  }

  async #made<Made>(
    { client }: Asker,
    { make, respond }: Making<Made>,
  ): Promise<{ readonly response: Response; readonly large: HeldAnswer | null }> {
    const made = await make();
    const large: HeldAnswer[] = [];
    const response = respond(made, (text) => {
      if (text.length < smallBytes) return text;
      const held = new HeldAnswer(this.#runtime, client, text, (answer) => this.#over(answer));
      large.push(held);
      return held.body;
    });
    return { response, large: large[0] ?? null };
  }

  /** All who have had theirs for long enough give way at once, as far as it is needed. */
  async #room(answer: HeldAnswer, signal: AbortSignal): Promise<void> {
    const giveUp = (): void => answer.giveUp();
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
    while (!answer.isOver) {
      const other = this.#inTheWayOf(answer);
      if (other === null) {
        this.#hold(answer);
        break;
      }
      if (other.heldMs >= graceMs) other.giveUp();
      else await this.#sign(graceMs - other.heldMs);
    }
    signal.removeEventListener("abort", giveUp);
    signal.throwIfAborted();
  }

  /** The oldest of its own client's, if that has its share; else of the client that has most; null if there is room. */
  #inTheWayOf({ client, bytes }: HeldAnswer): HeldAnswer | null {
    const byClient = new Map<string, number>();
    let all = 0;
    for (const held of this.#held) {
      all += held.bytes;
      byClient.set(held.client, (byClient.get(held.client) ?? 0) + held.bytes);
    }
    const own = byClient.get(client) ?? 0;
    if (own > 0 && own + bytes > this.#clientBytesMax) return this.#oldestOf(client);
    if (all === 0 || all + bytes <= heldBytesMax) return null;
    const [most] = [...byClient].sort(([, one], [, other]) => other - one);
    return most ? this.#oldestOf(most[0]) : null;
  }

  #oldestOf(client: string): HeldAnswer | null {
    for (const held of this.#held) if (held.client === client) return held;
    return null;
  }

  /** Resolves when an answer is over, or after this long. */
  #sign(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const told = (): void => {
        timer.cancel();
        this.#waiting.delete(told);
        resolve();
      };
      const timer = this.#runtime.timer(told, ms);
      this.#waiting.add(told);
    });
  }

  #hold(answer: HeldAnswer): void {
    this.#held.add(answer);
    answer.begin();
  }

  #over(answer: HeldAnswer): void {
    this.#held.delete(answer);
    for (const tell of [...this.#waiting]) tell();
  }
}

export function tooManyLargeAnswers(): EverstepError {
  return new EverstepError(
    "TOO_MANY_LARGE_ANSWERS",
    "Too many large answers are being made or taken at the moment. Take those you have asked for, and try again.",
  );
}

/**
 * Answers that carry values of instances, which may be large. Only some are made at once, and only so many bytes wait for
 * clients to take them: whoever may read can neither fill the memory with them nor keep others from theirs by taking them
 * slowly.
 */
import type { Runtime, Timer } from "../model/runtime.ts";

/** Places for answers that are being made; a whole run takes several. */
const placesMax = 16;
export const wholeRunPlaces = 8;

/** What is smaller is handed over as a whole, and not counted. */
const smallBytes = 256 * 1024;
const chunkBytes = 64 * 1024;
/** What clients have not taken yet. A larger one than that is there alone. */
const heldBytesMax = 32 * 1024 * 1024;
/** A client that takes nothing for this long is given up, and so is one that is not done by then. */
const stallMs = 60_000;
const takeMs = 5 * 60_000;
/** Where others wait for room, whoever had this long gives way. */
const graceMs = 3000;

type Release = () => void;

export class ValueAnswers {
  readonly #runtime: Pick<Runtime, "timer" | "monotonic">;
  readonly #waiting: { readonly places: number; readonly enter: (release: Release) => void }[] = [];
  readonly #held = new Set<HeldAnswer>();
  #free = placesMax;
  #heldBytes = 0;

  constructor(runtime: Pick<Runtime, "timer" | "monotonic">) {
    this.#runtime = runtime;
  }

  /** Makes the answer once there is room for it. Whoever does not want it any more cancels its body. */
  async answer<Made>(
    places: number,
    make: () => Promise<Made>,
    respond: (made: Made, body: (text: string) => BodyInit) => Response,
  ): Promise<Response> {
    const release = await this.#place(places);
    try {
      const made = await make();
      let large: HeldAnswer | null = null;
      const response = respond(made, (text) => {
        if (text.length < smallBytes) return text;
        large = new HeldAnswer(this.#runtime, text, (answer) => this.#over(answer));
        return large.body;
      });
      if (large !== null) await this.#hold(large);
      return response;
    } finally {
      release();
    }
  }

  /** First come, first served: a large one is not overtaken for ever by small ones. */
  #place(places: number): Promise<Release> {
    return new Promise((enter) => {
      this.#waiting.push({ places, enter });
      this.#admit();
    });
  }

  #admit(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || next.places > this.#free) return;
      this.#waiting.shift();
      this.#free -= next.places;
      next.enter(() => {
        this.#free += next.places;
        this.#admit();
      });
    }
  }

  /** Until there is room for it; so long it keeps the place it was made in. */
  async #hold(answer: HeldAnswer): Promise<void> {
    while (!answer.isOver && this.#heldBytes > 0 && this.#heldBytes + answer.bytes > heldBytesMax) {
      const [oldest] = this.#held;
      if (oldest === undefined) break;
      await oldest.overWithin(graceMs);
      oldest.giveUp();
    }
    if (answer.isOver) return;
    this.#held.add(answer);
    this.#heldBytes += answer.bytes;
    answer.begin();
  }

  #over(answer: HeldAnswer): void {
    if (this.#held.delete(answer)) this.#heldBytes -= answer.bytes;
  }
}

/** One that a client takes in pieces. */
class HeldAnswer {
  readonly bytes: number;
  readonly body: ReadableStream<Uint8Array>;
  readonly #runtime: Pick<Runtime, "timer" | "monotonic">;
  readonly #onOver: (answer: HeldAnswer) => void;
  #left: Uint8Array | null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #timer: Timer | null = null;
  #begun = 0;
  readonly #told: (() => void)[] = [];

  constructor(
    runtime: Pick<Runtime, "timer" | "monotonic">,
    text: string,
    onOver: (answer: HeldAnswer) => void,
  ) {
    this.#runtime = runtime;
    this.#onOver = onOver;
    this.#left = new TextEncoder().encode(text);
    this.bytes = this.#left.byteLength;
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#give(),
      cancel: () => this.#end(),
    });
  }

  get isOver(): boolean {
    return this.#left === null;
  }

  begin(): void {
    this.#begun = this.#runtime.monotonic();
    if (!this.isOver) this.#watch();
  }

  giveUp(): void {
    if (this.isOver) return;
    this.#end();
    this.#controller?.error(new Error("The client did not take its answer in time."));
  }

  /** Resolves when it is over, or has been taken for so long. */
  overWithin(ms: number): Promise<void> {
    const rest = ms - (this.#runtime.monotonic() - this.#begun);
    if (this.isOver || rest <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#runtime.timer(resolve, rest);
      this.#told.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #give(): void {
    if (this.#left === null) return;
    this.#watch();
    this.#controller?.enqueue(this.#left.subarray(0, chunkBytes));
    this.#left = this.#left.subarray(chunkBytes);
    if (this.#left.byteLength > 0) return;
    this.#end();
    this.#controller?.close();
  }

  #watch(): void {
    this.#timer?.cancel();
    const rest = this.#begun === 0 ? takeMs : takeMs - (this.#runtime.monotonic() - this.#begun);
    this.#timer = this.#runtime.timer(() => this.giveUp(), Math.max(0, Math.min(stallMs, rest)));
  }

  #end(): void {
    this.#timer?.cancel();
    this.#left = null;
    this.#onOver(this);
    for (const tell of this.#told.splice(0)) tell();
  }
}

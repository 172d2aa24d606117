/**
 * Answers that carry values of instances, which may be large. Only so many of them are there at once, from the first read
 * of the store until the client has taken the last byte: whoever may read cannot fill the memory with them.
 */
import type { Runtime, Timer } from "../model/runtime.ts";

/** Places for answers; one of the largest size takes as much memory as several pages. */
const placesMax = 16;
export const wholeRunPlaces = 8;

/** What is smaller is handed over as a whole, and no longer counted. */
const smallBytes = 256 * 1024;
const chunkBytes = 64 * 1024;
/** A client that takes nothing for this long is given up, and so is one that is not done by then. */
const stallMs = 60_000;
const takeMs = 5 * 60_000;

type Release = () => void;

export class ValueAnswers {
  readonly #runtime: Pick<Runtime, "timer" | "monotonic">;
  readonly #waiting: { readonly places: number; readonly enter: (release: Release) => void }[] = [];
  #free = placesMax;

  constructor(runtime: Pick<Runtime, "timer" | "monotonic">) {
    this.#runtime = runtime;
  }

  /** Makes the answer once there is room for it. Whoever does not want it any more cancels its body. */
  async answer<Made>(
    places: number,
    make: () => Promise<Made>,
    respond: (made: Made, body: (text: string) => BodyInit) => Response,
  ): Promise<Response> {
    const release = await this.#room(places);
    let isHeld = false;
    try {
      const made = await make();
      return respond(made, (text) => {
        if (text.length < smallBytes) return text;
        isHeld = true;
        return this.#inChunks(new TextEncoder().encode(text), release);
      });
    } finally {
      if (!isHeld) release();
    }
  }

  /** First come, first served: a large one is not overtaken for ever by small ones. */
  #room(places: number): Promise<Release> {
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
      next.enter(
        once(() => {
          this.#free += next.places;
          this.#admit();
        }),
      );
    }
  }

  #inChunks(bytes: Uint8Array, release: Release): ReadableStream<Uint8Array> {
    let left: Uint8Array | null = bytes;
    let timer: Timer | null = null;
    const begun = this.#runtime.monotonic();
    const over = (): void => {
      timer?.cancel();
      left = null;
      release();
    };
    const watch = (controller: ReadableStreamDefaultController): void => {
      timer?.cancel();
      const rest = takeMs - (this.#runtime.monotonic() - begun);
      timer = this.#runtime.timer(
        () => {
          over();
          controller.error(new Error("The client did not take its answer in time."));
        },
        Math.max(0, Math.min(stallMs, rest)),
      );
    };
    return new ReadableStream({
      start: watch,
      pull(controller) {
        if (left === null) return;
        watch(controller);
        controller.enqueue(left.subarray(0, chunkBytes));
        left = left.subarray(chunkBytes);
        if (left.byteLength > 0) return;
        over();
        controller.close();
      },
      cancel: over,
    });
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    act();
  };
}

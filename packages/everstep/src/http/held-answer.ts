/** A large answer that a client takes in pieces, and for which it has only so long. */
import type { Runtime, Timer } from "../model/runtime.ts";

const chunkBytes = 64 * 1024;
/** A client that takes nothing for this long is given up, and so is one that is not done by then. */
const stallMs = 60_000;
const takeMs = 5 * 60_000;

type Time = Pick<Runtime, "timer" | "monotonic">;

export class HeldAnswer {
  readonly client: string;
  readonly bytes: number;
  readonly body: ReadableStream<Uint8Array>;
  readonly #runtime: Time;
  readonly #onOver: (answer: HeldAnswer) => void;
  #left: Uint8Array | null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #timer: Timer | null = null;
  #begun: number | null = null;

  constructor(runtime: Time, client: string, text: string, onOver: (answer: HeldAnswer) => void) {
    this.#runtime = runtime;
    this.client = client;
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

  /** How long its client has had it. */
  get heldMs(): number {
    return this.#begun === null ? 0 : this.#runtime.monotonic() - this.#begun;
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
    const rest = takeMs - this.heldMs;
    this.#timer = this.#runtime.timer(() => this.giveUp(), Math.max(0, Math.min(stallMs, rest)));
  }

  #end(): void {
    this.#timer?.cancel();
    this.#left = null;
    this.#onOver(this);
  }
}

/**
 * All open streams of a handler. Whoever streams looks at the store when something may have changed: at once where this
 * process wrote it, soon where the store can tell, else after a second. Streams of the same thing share what they read.
 */
import type { AppParts } from "../../client/app-parts.ts";
import { EverstepError } from "../../model/error.ts";
import type { Timer } from "../../model/runtime.ts";
import { problemOf, toldOf } from "../problems.ts";
import { Sink } from "./sink.ts";

const pace = {
  /** How often signs of a change are looked for. */
  lookMs: 100,
  /** Without any sign the store is asked all the same. */
  askMs: 1000,
  /** Something is said this often, so that nobody in between takes the connection for dead. */
  aliveMs: 15_000,
} as const;

type Parts = Pick<AppParts, "runtime" | "group" | "store" | "nudges" | "runner" | "onProblem">;

/** One round of a stream: sends what is new, and says whether there may be more. */
export type Fill = (sink: Sink) => Promise<"more" | "over">;

export class Streams {
  readonly #parts: Parts;
  readonly #max: number;
  readonly #open = new Set<Sink>();
  /** Those that have sent everything there is, with the way to let them look again. */
  readonly #waiting = new Map<Sink, () => void>();
  /** What was read since the last sign of a change. */
  readonly #shared = new Map<string, Promise<unknown>>();
  #timer: Timer | null = null;
  #unhear: (() => void) | null = null;
  /** Grows with every sign that something may have changed. */
  #pulse = 0;
  #isNudged = false;
  #writes = 0;
  #mark: number | null = null;
  #askedAt = 0;
  #aliveAt = 0;

  constructor(parts: Parts, max: number) {
    this.#parts = parts;
    this.#max = max;
  }

  /** Answers with a stream that `fill` fills, round after round, until it says that it is over. */
  open(request: Request, fill: Fill): Response {
    if (this.#open.size >= this.#max) throw tooMany(this.#max);
    const sink = new Sink(() => this.#closed(sink));
    this.#open.add(sink);
    request.signal?.addEventListener("abort", () => sink.close(), { once: true });
    if (request.signal?.aborted) sink.close();
    this.#start();
    sink.write("retry: 1000\n\n");
    void this.#keepFilling(sink, fill);
    return new Response(sink.body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    });
  }

  /** What `read` gives, once for all streams that ask under this name in the same round. */
  shared<Value>(name: string, read: () => Promise<Value>): Promise<Value> {
    const known = this.#shared.get(name) as Promise<Value> | undefined;
    if (known) return known;
    const value = read();
    value.catch(() => {});
    this.#shared.set(name, value);
    return value;
  }

  async #keepFilling(sink: Sink, fill: Fill): Promise<void> {
    try {
      while (sink.isOpen) {
        await sink.ready();
        const seen = this.#pulse;
        if (!sink.isOpen || (await fill(sink)) === "over") break;
        if (seen === this.#pulse && sink.isOpen)
          await new Promise<void>((resolve) => this.#waiting.set(sink, resolve));
      }
    } catch (problem) {
      this.#tell(sink, problem);
    } finally {
      sink.close();
    }
  }

  /** In the stream itself: its answer has begun long ago. */
  #tell(sink: Sink, problem: unknown): void {
    sink.send({ event: "problem", data: problemOf(toldOf(problem, this.#parts)) });
  }

  #start(): void {
    if (this.#timer) return;
    this.#unhear ??= this.#parts.nudges.hear(() => {
      this.#isNudged = true;
    });
    this.#aliveAt = this.#parts.runtime.monotonic();
    this.#arm();
  }

  #arm(): void {
    this.#timer = this.#parts.runtime.timer(() => void this.#look(), pace.lookMs);
  }

  async #look(): Promise<void> {
    if (this.#parts.runner.isStopping) this.#endAll();
    const now = this.#parts.runtime.monotonic();
    if ((await this.#hasChanged()) || now - this.#askedAt >= pace.askMs) {
      this.#askedAt = now;
      this.#beat();
    }
    if (now - this.#aliveAt >= pace.aliveMs) {
      this.#aliveAt = now;
      for (const sink of this.#open) if (sink.hasRoom) sink.write(": ok\n\n");
    }
    if (this.#open.size > 0) this.#arm();
    else this.#rest();
  }

  /** Everybody looks again. */
  #beat(): void {
    this.#pulse += 1;
    this.#shared.clear();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const goOn of waiting) goOn();
  }

  /** A server that stops waits for its connections; those that are streams would stay for ever. */
  #endAll(): void {
    const stopping = new EverstepError("APP_STOPPED", "This app is stopping. Connect again.");
    for (const sink of [...this.#open]) {
      this.#tell(sink, stopping);
      sink.close();
    }
  }

  async #hasChanged(): Promise<boolean> {
    const { group, store } = this.#parts;
    // If the store cannot be asked, those who read from it say so.
    const mark = (await store.changeMark?.().catch(() => this.#mark)) ?? null;
    const hasChanged = this.#isNudged || group.writes !== this.#writes || mark !== this.#mark;
    this.#isNudged = false;
    this.#writes = group.writes;
    this.#mark = mark;
    return hasChanged;
  }

  #closed(sink: Sink): void {
    this.#open.delete(sink);
    const goOn = this.#waiting.get(sink);
    this.#waiting.delete(sink);
    goOn?.();
  }

  #rest(): void {
    this.#timer = null;
    this.#unhear?.();
    this.#unhear = null;
    this.#shared.clear();
  }
}

function tooMany(max: number): EverstepError {
  return new EverstepError(
    "TOO_MANY_STREAMS",
    `${max} streams are open already. Try again later, or raise http: { streamsMax }.`,
  );
}

/**
 * All open streams of a handler. One look tells for all of them what may have changed: whether anything was written (by
 * this process, or by others where the store can tell), and of which of the instances that are streamed, which the store is
 * asked once for all. Only what is another is read, one after the other (`ReadingLane`); streams of the same thing share it.
 */
import type { AppParts } from "../../client/app-parts.ts";
import { EverstepError } from "../../model/error.ts";
import type { InstanceRef } from "../../model/instance.ts";
import type { Timer } from "../../model/runtime.ts";
import { problemOf, toldOf } from "../problems.ts";
import { OpenStream, type StreamTerms } from "./open-stream.ts";
import { ReadingLane } from "./reading-lane.ts";
import { Sink } from "./sink.ts";

const pace = {
  /** How often signs of a change are looked for. */
  lookMs: 100,
  /** Without any sign the store is asked all the same. */
  askMs: 1000,
  /** A stream is read no sooner than this after it has sent something. */
  gapMs: 200,
  /** A stream of which nothing was heard is read this often at least: some of what it shows comes with time alone. */
  restMs: 15_000,
  /** Whether its reader may still have it is asked this often. */
  allowedMs: 60_000,
  /** Something is said this often, so that nobody in between takes the connection for dead. */
  aliveMs: 15_000,
} as const;

/** Instances that the store is asked about at once. */
const marksMax = 500;

type Parts = Pick<AppParts, "runtime" | "group" | "store" | "nudges" | "runner" | "onProblem">;

export interface StreamLimits {
  readonly max: number;
  readonly maxPerClient: number;
}

export class Streams {
  readonly #parts: Parts;
  readonly #limits: StreamLimits;
  readonly #lane: ReadingLane;
  readonly #open = new Map<Sink, OpenStream>();
  readonly #perClient = new Map<string, number>();
  /** To be read again as soon as its gap has passed. */
  readonly #stale = new Set<OpenStream>();
  /** What was read since something was found to be another, and at which moment that began. */
  readonly #shared = new Map<string, { readonly moment: number; readonly value: Promise<unknown> }>();
  #moments = 0;
  #timer: Timer | null = null;
  #unhear: (() => void) | null = null;
  #isNudged = false;
  #writes = 0;
  #mark: number | null = null;
  #askedAt = 0;
  #aliveAt = 0;

  constructor(parts: Parts, limits: StreamLimits) {
    this.#parts = parts;
    this.#limits = limits;
    this.#lane = new ReadingLane(parts.runtime);
  }

  /** Answers with a stream that is filled, round after round, until it is over. */
  open(request: Request, terms: StreamTerms): Response {
    this.#admit(terms.client);
    const sink = new Sink(() => this.#closed(stream));
    const stream = new OpenStream(sink, terms, this.#parts.runtime.monotonic());
    this.#open.set(sink, stream);
    request.signal?.addEventListener("abort", () => sink.close(), { once: true });
    if (request.signal?.aborted) sink.close();
    this.#start();
    sink.write("retry: 1000\n\n");
    void this.#keepFilling(stream);
    return new Response(sink.body, {
      headers: { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" },
    });
  }

  /** Now, to be told from what was before and comes after. */
  moment(): number {
    this.#moments += 1;
    return this.#moments;
  }

  /**
   * What `read` gives, once for all streams that ask under this name in the same round; nothing that was read before
   * `since`, when the stream was asked for: nobody may have looked for changes meanwhile.
   */
  shared<Value>(name: string, since: number, read: () => Promise<Value>): Promise<Value> {
    const known = this.#shared.get(name);
    if (known && known.moment > since) return known.value as Promise<Value>;
    const moment = this.moment();
    const value = read();
    value.catch(() => {});
    this.#shared.set(name, { moment, value });
    return value;
  }

  #admit(client: string): void {
    const { max, maxPerClient } = this.#limits;
    if (this.#open.size >= max) throw tooMany(max, "maxStreams");
    const own = this.#perClient.get(client) ?? 0;
    if (own >= maxPerClient) throw tooMany(maxPerClient, "maxStreamsPerClient");
    this.#perClient.set(client, own + 1);
  }

  async #keepFilling(stream: OpenStream): Promise<void> {
    const { sink, terms } = stream;
    try {
      while (sink.isOpen) {
        await sink.ready();
        stream.begin();
        const filled = await this.#lane.run(terms.client, async () =>
          sink.isOpen ? terms.fill(sink) : "over",
        );
        if (filled === "over") break;
        stream.readAt = this.#parts.runtime.monotonic();
        if (filled === "news") stream.sentAt = stream.readAt;
        stream.patienceMs = filled === "same" ? Math.min(2 * stream.patienceMs, pace.restMs) : pace.askMs;
        if (filled !== "again" && sink.isOpen) await stream.stale();
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
    const isTold = await this.#hasChanged();
    if (isTold || now - this.#askedAt >= pace.askMs) {
      this.#askedAt = now;
      await this.#findStale(isTold, now);
    }
    for (const stream of this.#stale) {
      if (now - stream.sentAt < pace.gapMs) continue;
      this.#stale.delete(stream);
      stream.readAgain();
    }
    this.#keepUp(now);
    if (this.#open.size > 0) this.#arm();
    else this.#rest();
  }

  /** Lists may be another whenever something was written; an instance when the store says so of it. */
  async #findStale(isTold: boolean, now: number): Promise<void> {
    const marks = await this.#marks();
    const isAnother = (stream: OpenStream, { workflowName, instanceId }: InstanceRef): boolean => {
      const mark = marks?.get(`${workflowName}/${instanceId}`);
      const isSame = marks !== null && mark === stream.mark;
      stream.mark = mark;
      return !isSame || now - stream.readAt >= pace.restMs;
    };
    const found = [...this.#open.values()].filter((stream) =>
      stream.terms.ref
        ? isAnother(stream, stream.terms.ref)
        : isTold || now - stream.readAt >= stream.patienceMs,
    );
    if (found.length === 0) return;
    this.#shared.clear();
    for (const stream of found) this.#stale.add(stream);
  }

  /** Of every instance that is streamed; null where the store cannot say. Whoever reads from it then says why. */
  async #marks(): Promise<ReadonlyMap<string, string | undefined> | null> {
    const { store } = this.#parts;
    if (!store.getMarks) return null;
    const refs = new Map<string, InstanceRef>();
    for (const { terms } of this.#open.values()) {
      if (terms.ref) refs.set(`${terms.ref.workflowName}/${terms.ref.instanceId}`, terms.ref);
    }
    const names = [...refs.keys()];
    const marks = new Map<string, string | undefined>();
    try {
      for (let at = 0; at < names.length; at += marksMax) {
        const part = names.slice(at, at + marksMax);
        const found = await store.getMarks(part.map((name) => refs.get(name) as InstanceRef));
        for (const [n, name] of part.entries()) marks.set(name, found[n]);
      }
      return marks;
    } catch {
      return null;
    }
  }

  /** What is due with time, whatever else happens. */
  #keepUp(now: number): void {
    for (const stream of this.#open.values()) {
      if (now - stream.allowedAt < pace.allowedMs) continue;
      stream.allowedAt = now;
      void this.#askWhetherAllowed(stream);
    }
    if (now - this.#aliveAt < pace.aliveMs) return;
    this.#aliveAt = now;
    for (const sink of this.#open.keys()) if (sink.hasRoom) sink.write(": ok\n\n");
  }

  async #askWhetherAllowed({ sink, terms }: OpenStream): Promise<void> {
    const refusal = await terms.refusal();
    if (refusal === undefined) return;
    this.#tell(sink, refusal);
    sink.close();
  }

  /** A server that stops waits for its connections; those that are streams would stay for ever. */
  #endAll(): void {
    const stopping = new EverstepError("APP_STOPPED", "This app is stopping. Connect again.");
    for (const sink of [...this.#open.keys()]) {
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

  #closed(stream: OpenStream): void {
    if (!this.#open.delete(stream.sink)) return;
    const { client } = stream.terms;
    const others = (this.#perClient.get(client) ?? 1) - 1;
    if (others > 0) this.#perClient.set(client, others);
    else this.#perClient.delete(client);
    this.#stale.delete(stream);
    stream.readAgain();
  }

  #rest(): void {
    this.#timer = null;
    this.#unhear?.();
    this.#unhear = null;
    this.#shared.clear();
  }
}

function tooMany(max: number, option: "maxStreams" | "maxStreamsPerClient"): EverstepError {
  const whose = option === "maxStreams" ? "" : " of yours";
  return new EverstepError(
    "TOO_MANY_STREAMS",
    `${max} streams${whose} are open already. Close some, try again later, or raise http: { ${option} }.`,
  );
}

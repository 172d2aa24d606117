/** One server, as the client reaches it: tries, again after passing failures, and says in the end what became of it. */
import { EverstepError } from "../model/error.ts";
import type { Runtime } from "../model/runtime.ts";
import { type Answer, notUnderstood, readAnswer, readFailure } from "./answer.ts";
import { Leash, TimeUp } from "./leash.ts";
import { afterTries, noAnswer } from "./no-answer.ts";
import { type Call, type Outgoing, outgoingOf } from "./outgoing.ts";
import { type ClientHeaders, joinHeaders } from "./request-headers.ts";
import { retryDelayMs } from "./retries.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ConnectionSettings {
  readonly mountUrl: string;
  readonly headers: ClientHeaders;
  readonly fetch: Fetch;
  /** Of one try, its answer read to the end. */
  readonly timeoutMs: number;
  readonly retries: number;
  readonly retryDelayMs: number;
  readonly runtime: Runtime;
}

/** A little more than the server takes at most. */
const longMs = 5 * 60_000 + 10_000;

export interface OpenStream {
  /** Null when there is nothing to be read and never will be. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  readonly leash: Leash;
}

export class Connection {
  readonly runtime: Runtime;
  readonly #settings: ConnectionSettings;

  constructor(settings: ConnectionSettings) {
    this.runtime = settings.runtime;
    this.#settings = settings;
  }

  /** The JSON of the answer. Problems are thrown as they are told. */
  async send<Result>(call: Call): Promise<Result> {
    const outgoing = this.#outgoing(call, { accept: "application/json" });
    const read = (response: Response): Promise<Answer<Result>> =>
      readAnswer(response, outgoing.url, this.runtime.now(), call.field ?? null);
    const tryOnce = async (): Promise<Answer<Result>> => {
      const leash = new Leash(this.runtime, call.signal);
      const timeoutMs = call.isLong ? Math.max(longMs, this.#settings.timeoutMs) : this.#settings.timeoutMs;
      return this.#try(outgoing, leash, timeoutMs, read).finally(() => leash.release());
    };
    return this.#repeatedly(tryOnce, outgoing, call, this.#settings.retries);
  }

  /** A stream of events, going on after the one with this id. Whoever gets it cuts its leash when done. */
  async open(call: Call, lastEventId: string, retries = this.#settings.retries): Promise<OpenStream> {
    const resume = lastEventId === "" ? {} : { "last-event-id": lastEventId };
    const outgoing = this.#outgoing(call, { accept: "text/event-stream", ...resume });
    const tryOnce = async (): Promise<Answer<OpenStream>> => {
      const leash = new Leash(this.runtime, call.signal);
      const read = (response: Response) => this.#stream(response, leash, outgoing);
      const answer = await this.#try(outgoing, leash, this.#settings.timeoutMs, read);
      if (answer.kind === "failed") leash.release();
      return answer;
    };
    return this.#repeatedly(tryOnce, outgoing, call, retries);
  }

  async #repeatedly<Result>(
    tryOnce: () => Promise<Answer<Result>>,
    outgoing: Outgoing,
    call: Call,
    retries: number,
  ): Promise<Result> {
    const { timeoutMs, retryDelayMs: delayMs } = this.#settings;
    const timing = { delayMs, mostMs: timeoutMs, float: () => this.runtime.float() };
    for (let failures = 1; ; failures++) {
      const answer = await tryOnce();
      if (answer.kind === "ok") return answer.body;
      if (!answer.isPassing) throw answer.error;
      const isLast = failures > retries || (call.isOnce && answer.isUncertain);
      if (isLast) throw afterTries(answer.error, outgoing, failures, call.about);
      if (answer.isUncertain) call.onUncertain?.();
      await this.#pause(retryDelayMs(failures, answer.retryAfterMs, timing), call.signal);
    }
  }

  /** Once. Throws only what the caller itself brought about: its signal, its headers. */
  async #try<Result>(
    outgoing: Outgoing,
    leash: Leash,
    timeoutMs: number,
    read: (response: Response) => Promise<Answer<Result>>,
  ): Promise<Answer<Result>> {
    const { fetch } = this.#settings;
    const headers = await this.#headers(outgoing, leash);
    const { url, method, body } = outgoing;
    const send = async (signal: AbortSignal): Promise<Answer<Result>> => {
      const init = { method, headers, redirect: "manual", signal } as const;
      return read(await fetch(url, body === undefined ? init : { ...init, body }));
    };
    const answer = await leash.within(timeoutMs, send).catch((problem: unknown) => {
      if (leash.signal.aborted && !(leash.signal.reason instanceof TimeUp)) throw leash.signal.reason;
      return noAnswer(problem);
    });
    // What is left of an answer that nobody wants is not waited for.
    if (answer.kind === "failed") leash.cut(answer.error);
    return answer;
  }

  async #headers({ headers: own }: Outgoing, leash: Leash): Promise<Headers> {
    const { headers, timeoutMs } = this.#settings;
    if (typeof headers !== "function") return joinHeaders(headers, own);
    const given = await leash.within(timeoutMs, headers).catch((problem: unknown) => {
      throw problem instanceof TimeUp ? headersTooLate(timeoutMs) : problem;
    });
    return joinHeaders(given, own);
  }

  async #stream(response: Response, leash: Leash, { url }: Outgoing): Promise<Answer<OpenStream>> {
    const failure = await readFailure(response, url, this.runtime.now());
    if (failure) return failure;
    if (response.status === 204) return { kind: "ok", body: { body: null, leash } };
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    if (!isStream || !response.body) return notUnderstood(response, url);
    return { kind: "ok", body: { body: response.body as NonNullable<OpenStream["body"]>, leash } };
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const leash = new Leash(this.runtime, signal);
    const hasPassed = await leash.pause(ms);
    leash.release();
    if (!hasPassed) throw leash.signal.reason;
  }

  #outgoing(call: Call, headers: Outgoing["headers"]): Outgoing {
    return outgoingOf(call, this.#settings.mountUrl, headers);
  }
}

function headersTooLate(timeoutMs: number): EverstepError {
  return new EverstepError(
    "INVALID_ARGUMENT",
    `The headers function of the client gave no headers within ${timeoutMs} ms, so nothing was sent.`,
  );
}

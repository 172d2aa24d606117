/** Makes the answer to a call that is allowed: at once or as a stream, within its time, and no more large ones than there is room for. */
import type { AppParts } from "../client/app-parts.ts";
import { EverstepError } from "../model/error.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import { etagOf, isKnownTag } from "./etag.ts";
import type { HandlerOptions } from "./http-options.ts";
import { LoopShare } from "./loop-share.ts";
import { wantsStream } from "./request-facts.ts";
import type { Answer, Call, Route } from "./route.ts";
import { Streams } from "./streams/streams.ts";
import { Asker, tooManyLargeAnswers, ValueAnswers } from "./value-answers.ts";

/** An answer takes this long at most, less than clients wait for it. */
const answerMs = 12_000;
const longAnswerMs = 5 * 60_000;

export class Answers {
  readonly #parts: AppParts;
  readonly #streams: Streams;
  readonly #values: ValueAnswers;
  readonly #share: LoopShare;

  constructor(parts: AppParts, { authorize, maxStreams, maxStreamsPerClient }: HandlerOptions) {
    const isOpen = authorize?.isOpen === true;
    this.#parts = parts;
    this.#streams = new Streams(parts, {
      max: maxStreams ?? 1000,
      // Where nobody says who they are, all would be one.
      maxPerClient: maxStreamsPerClient ?? (isOpen ? Infinity : 200),
    });
    this.#values = new ValueAnswers(parts.runtime, isOpen);
    this.#share = new LoopShare(parts.runtime);
  }

  async answer(route: Route, call: Call): Promise<Response> {
    const { request, query, client } = call;
    if (route.stream && request.method === "GET" && wantsStream(request)) {
      const { stream } = route;
      const opening = this.#share.run(() => stream(call, this.#streams));
      return this.#inTime(route, opening).catch((problem: unknown) => {
        dropBody(opening);
        throw problem;
      });
    }
    const kind = route.values?.(query) ?? null;
    const run = (): Promise<Answer> =>
      route.hook === "read" ? this.#share.run(() => route.run(call)) : route.run(call);
    if (kind === null) return this.#respond(request, route, await this.#inTime(route, run()));
    const asker = new Asker(client, kind, request.signal ?? null);
    const making = this.#values.answer(asker, {
      make: run,
      respond: (answer, body) => this.#respond(request, route, answer, body),
    });
    return this.#inTime(route, making).catch((problem: unknown) => {
      const told = asker.isWaiting ? tooManyLargeAnswers() : problem;
      asker.giveUp();
      dropBody(making);
      throw told;
    });
  }

  #respond(
    request: Request,
    route: Route,
    answer: Answer,
    body: (text: string) => BodyInit = (text) => text,
  ): Response {
    const text = JSON.stringify(answer.body);
    const headers: Record<string, string> = {
      "content-type": "application/json; charset=utf-8",
      ...answer.headers,
    };
    const status = answer.status ?? 200;
    if (route.method === "GET" && status === 200) {
      const etag = etagOf(text);
      headers.etag = etag;
      if (isKnownTag(request, etag)) return new Response(null, { status: 304, headers: { etag } });
    }
    return new Response(body(text), { status, headers });
  }

  /** A store that is out of reach is waited for by the app, but not for ever by who asked. */
  async #inTime<Outcome>(route: Route, work: Promise<Outcome>): Promise<Outcome> {
    const ms = route.isLong ? longAnswerMs : answerMs;
    const outcome = await withTimeout(this.#parts.runtime, ms, work);
    if (outcome === timedOut) throw tookTooLong(ms);
    return outcome as Outcome;
  }
}

/** Nobody reads what comes after all. */
function dropBody(late: Promise<Response>): void {
  void late.then(({ body }) => body?.cancel()).catch(() => {});
}

function tookTooLong(ms: number): EverstepError {
  return new EverstepError(
    "STORE_UNAVAILABLE",
    `There was no outcome within ${ms / 1000} seconds; it may still come. Ask, or repeat it with the same id or idempotency key.`,
  );
}

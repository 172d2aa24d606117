/** Turns a request into an answer: finds the route, asks whether it is allowed, reads what was sent, does it. */

import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import { partsOf } from "../client/app-parts.ts";
import { EverstepError } from "../model/error.ts";
import { checkNames, type NamesOf } from "../model/known-names.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import {
  type Authorize,
  type AuthorizeContext,
  actorOf,
  ask,
  checkAuthorize,
  type HookName,
  notConfigured,
} from "./authorize.ts";
import { readBody } from "./body.ts";
import { clientOf } from "./client-of.ts";
import type { Dashboard } from "./dashboard/dashboard.ts";
import { DashboardFiles } from "./dashboard/dashboard-files.ts";
import { etagOf, isKnownTag } from "./etag.ts";
import { healthOf } from "./health.ts";
import { kept, keptFor } from "./kept.ts";
import { LoopShare } from "./loop-share.ts";
import { mayDo, maySee } from "./may-do.ts";
import { isOpenToAll } from "./open-to-all.ts";
import { type CorsOptions, checkOrigins, corsHeaders, originRules, preflightHeaders } from "./origin.ts";
import { overviewOf } from "./overview.ts";
import { problemResponse, toldOf } from "./problems.ts";
import { readQuery } from "./query.ts";
import { factsFor, idempotencyKeyOf, wantsStream } from "./request-facts.ts";
import type { Answer, Call, CallHost, PathParams, Route } from "./route.ts";
import { Router } from "./router.ts";
import { routes } from "./routes/index.ts";
import { Streams } from "./streams/streams.ts";
import { Asker, tooManyLargeAnswers, ValueAnswers } from "./value-answers.ts";

export interface HttpOptions {
  /** Where it is mounted, if nobody takes that off before: "/api/workflows". */
  readonly basePath?: string;
  /** Answers POST /_runner/tick, for hosts without a loop. Default: no. */
  readonly tick?: boolean;
  /** Pages of other origins that may use it. Default: none. */
  readonly cors?: CorsOptions;
  /** The only values of Host that are answered, and of Origin's host; for what must stay on this machine. */
  readonly hosts?: readonly string[];
  /** Bytes of a body at most; a batch may have 16 MiB. Default: 1 MiB and a little. */
  readonly bodyBytesMax?: number;
  /** Streams open at once at most. Default: 1,000. */
  readonly streamsMax?: number;
  /** Of one client: whom hooks name with `{ actor }`, else who has the same Authorization or Cookie. Default: 200. */
  readonly streamsPerClientMax?: number;
  /** Serves it under /dashboard/: `import { dashboard } from "everstep/dashboard"`. Default: none. */
  readonly dashboard?: Dashboard;
  /** Answers POST /_dev/kill, and is then called to kill this process soon. Default: there is no such route. */
  readonly onKill?: () => void;
}

export interface HandlerOptions extends HttpOptions {
  readonly authorize?: Authorize;
}

const optionNames: NamesOf<HandlerOptions> = {
  basePath: true,
  tick: true,
  cors: true,
  hosts: true,
  bodyBytesMax: true,
  streamsMax: true,
  streamsPerClientMax: true,
  dashboard: true,
  onKill: true,
  authorize: true,
};

export type Handler = (request: Request) => Promise<Response>;

/** What a server has to know of a handler before others can reach it. */
export interface HandlerFacts {
  /** Everybody may do everything: `authorize: allowAll()`. */
  readonly isOpen: boolean;
  /** The same, found out by asking the hooks on behalf of nobody. */
  readonly isOpenToAll: () => Promise<boolean>;
  /** Under which names it answers, if not under all. */
  readonly hosts: readonly string[] | undefined;
}

/** A parameter of the largest size, and what stands around it. */
const bodyBytesMax = 1024 * 1024 + 64 * 1024;
/** An answer takes this long at most, less than clients wait for it. */
const answerMs = 12_000;
/** Everybody may ask whether it is ready, and the store is asked no more often than this. */
const readyMs = 1000;
const longAnswerMs = 5 * 60_000;

const common = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The HTTP API of an app as one function of the web's standard: for any server, under any path. */
export function createHandler(app: App, options: HandlerOptions = {}): Handler & HandlerFacts {
  const handler = new HttpHandler(app, options);
  const { authorize, hosts } = options;
  return Object.assign((request: Request) => handler.handle(request), {
    isOpen: authorize?.isOpen === true,
    isOpenToAll: () => isOpenToAll(authorize, partsOf(app).runtime),
    hosts,
  });
}

class HttpHandler {
  readonly #app: App;
  readonly #parts: AppParts;
  readonly #options: HandlerOptions;
  readonly #router: Router;
  readonly #rules: ReturnType<typeof originRules>;
  readonly #streams: Streams;
  readonly #dashboard: DashboardFiles | null;
  readonly #overview: CallHost["overview"];
  readonly #isReady: CallHost["isReady"];
  readonly #values: ValueAnswers;
  readonly #share: LoopShare;

  constructor(app: App, options: HandlerOptions) {
    this.#app = app;
    this.#parts = partsOf(app);
    this.#options = options;
    checkNames(options, optionNames, "http");
    checkAuthorize(options.authorize);
    for (const name of ["bodyBytesMax", "streamsMax", "streamsPerClientMax"] as const)
      checkMost(name, options[name]);
    const offered = routes.filter(({ isForDev }) => !isForDev || options.onKill);
    this.#router = new Router(offered, options.basePath);
    this.#rules = originRules(options.hosts, options.cors);
    this.#streams = new Streams(this.#parts, {
      max: options.streamsMax ?? 1000,
      // Where nobody says who they are, all would be one.
      perClientMax: options.streamsPerClientMax ?? (options.authorize?.isOpen ? Infinity : 200),
    });
    this.#dashboard = options.dashboard ? new DashboardFiles(options.dashboard) : null;
    this.#values = new ValueAnswers(this.#parts.runtime, options.authorize?.isOpen === true);
    this.#share = new LoopShare(this.#parts.runtime);
    const isWell = keptFor(this.#parts.runtime, readyMs, () => healthOf(app, this.#parts));
    this.#isReady = async () => (await isWell()).ok && !this.#parts.runner.isStopping;
    const mayKill = options.onKill !== undefined;
    this.#overview = kept(this.#parts.runtime, () => overviewOf(app, this.#parts, mayKill));
  }

  async handle(request: Request): Promise<Response> {
    const response = await this.#answered(request);
    const { headers } = response;
    for (const [name, value] of Object.entries(common)) if (!headers.has(name)) headers.set(name, value);
    for (const [name, value] of Object.entries(corsHeaders(request, this.#rules))) {
      // A hook's own answer may vary with more than the origin.
      if (name === "vary") headers.append(name, value);
      else headers.set(name, value);
    }
    return request.method === "HEAD" ? withoutBody(response) : response;
  }

  async #answered(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (problem) {
      return problemResponse(toldOf(problem, this.#parts));
    }
  }

  async #route(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const method = request.method === "HEAD" ? "GET" : request.method;
    checkOrigins(request, url, this.#rules, method !== "GET" && method !== "OPTIONS");
    const file = await this.#dashboard?.answer(request, {
      path: this.#router.ownPath(url.pathname),
      search: url.search,
    });
    if (file) return file;
    const found = this.#router.find(url.pathname);
    const allow = found.allow;
    if (method === "OPTIONS") return this.#preflight(request, allow);
    const match = found.of(method);
    if (!match) {
      const message = `${request.method.slice(0, 20)} is not offered here; ${allow} is.`;
      return problemResponse(new EverstepError("METHOD_NOT_ALLOWED", message), { allow });
    }
    return this.#serve(request, url, match.route, match.params, found.path);
  }

  #preflight(request: Request, allow: string): Response {
    const origin = request.headers.get("origin");
    const isAllowed = origin !== null && this.#rules.origins.has(origin);
    return new Response(null, { status: 204, headers: isAllowed ? preflightHeaders(allow) : { allow } });
  }

  async #serve(
    request: Request,
    url: URL,
    route: Route,
    params: Partial<PathParams>,
    path: string,
  ): Promise<Response> {
    const { runtime } = this.#parts;
    const { authorize = {} } = this.#options;
    if (route.action === "tick" && !this.#options.tick) throw tickDisabled();
    const context: AuthorizeContext = {
      request,
      action: route.action,
      method: route.method,
      path,
      ...params,
      runtime,
      state: new Map(),
    };
    const asking = { runtime, onProblem: this.#parts.onProblem };
    const refusedAtAll = async (context: AuthorizeContext): Promise<Response | undefined> => {
      if (route.hook === null) return;
      if (!authorize.request && !authorize[route.hook]) throw notConfigured(route.hook);
      return authorize.request && ask("request", authorize.request, context, asking);
    };
    const refused = await refusedAtAll(context);
    if (refused) return refused;
    const query = route.ignoresQuery ? {} : readQuery(url.searchParams, route.query);
    const body = route.body
      ? await readBody(request, route.body, this.#options.bodyBytesMax ?? route.bodyBytesMax ?? bodyBytesMax)
      : {};
    const refusedHere = async (context: AuthorizeContext): Promise<Response | undefined> => {
      const asked = async (name: HookName, facts: object): Promise<Response | undefined> => {
        const hook = authorize[name];
        return hook && ask(name, hook as (context: unknown) => void, { ...context, ...facts }, asking);
      };
      if (route.hook === null) return;
      const refused = await asked(route.hook, factsFor(route.hook, query, body));
      if (refused || !route.creates) return refused;
      if (!authorize.request && !authorize.instanceCreation) throw notConfigured("instanceCreation");
      const instances = route.creates({ path: params as PathParams, body });
      return asked("instanceCreation", { instances });
    };
    const refusedWithFacts = await refusedHere(context);
    if (refusedWithFacts) return refusedWithFacts;
    const actor = actorOf(context);
    const client = clientOf(request, actor);
    const call: Call = {
      app: this.#app,
      parts: this.#parts,
      request,
      path: params as PathParams,
      query,
      body,
      idempotencyKey: idempotencyKeyOf(request),
      actor,
      client,
      host: {
        may: (name, about) => mayDo(name, authorize, { ...context, ...about }),
        maySee: (instanceId) => maySee(instanceId, authorize, context),
        refusal: async () => {
          const now = { ...context, state: new Map() };
          return (await refusedAtAll(now)) || (await refusedHere(now)) ? noLonger() : undefined;
        },
        overview: this.#overview,
        isReady: this.#isReady,
        kill: this.#options.onKill,
      },
    };
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

/** A limit that is no number would be none at all. */
function checkMost(name: string, most: unknown): void {
  if (most === undefined || (typeof most === "number" && most >= 0)) return;
  throw new EverstepError(
    "INVALID_ARGUMENT",
    `http.${name} is ${String(most)}; it must be a number, at least 0.`,
  );
}

function withoutBody(response: Response): Response {
  void response.body?.cancel();
  return new Response(null, { status: response.status, headers: response.headers });
}

function noLonger(): EverstepError {
  return new EverstepError("FORBIDDEN", "You may not read this any longer.");
}

function tickDisabled(): EverstepError {
  return new EverstepError(
    "RUNNER_TICK_DISABLED",
    "Ticking over HTTP is switched off. Where a host has no loop of its own, switch it on with http: { tick: true } " +
      "and say who may with authorize: { runnerTick }.",
  );
}

function tookTooLong(ms: number): EverstepError {
  return new EverstepError(
    "STORE_UNAVAILABLE",
    `There was no outcome within ${ms / 1000} seconds; it may still come. Ask, or repeat it with the same id or idempotency-key.`,
  );
}

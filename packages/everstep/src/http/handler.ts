/**
 * Turns a request into an answer:
 *
 *   router.ts, routes/   finds the route
 *   admission.ts         asks whether it is allowed (authorize.ts), and reads what was sent (query.ts, body.ts)
 *   answers.ts           does it, and makes the answer: at once, or as a stream
 */
import type { App } from "../client/app.ts";
import { type AppParts, partsOf } from "../client/app-parts.ts";
import { EverstepError } from "../model/error.ts";
import { Admission } from "./admission.ts";
import { Answers } from "./answers.ts";
import { DashboardFiles } from "./dashboard/dashboard-files.ts";
import { hostFacts } from "./host-facts.ts";
import { checkHttp, type HandlerOptions } from "./http-options.ts";
import { isOpenToAll } from "./open-to-all.ts";
import { checkOrigins, corsHeaders, originRules, preflightHeaders } from "./origin.ts";
import { problemResponse, toldOf } from "./problems.ts";
import { Router } from "./router.ts";
import { routes } from "./routes/index.ts";

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
  readonly #parts: AppParts;
  readonly #router: Router;
  readonly #rules: ReturnType<typeof originRules>;
  readonly #dashboard: DashboardFiles | null;
  readonly #admission: Admission;
  readonly #answers: Answers;

  constructor(app: App, options: HandlerOptions) {
    checkHttp(options);
    const parts = partsOf(app);
    this.#parts = parts;
    const offered = routes.filter(({ isForDev }) => !isForDev || options.onKill);
    this.#router = new Router(offered, options.basePath);
    this.#rules = originRules(options.hosts, options.cors);
    this.#dashboard = options.dashboard ? new DashboardFiles(options.dashboard) : null;
    this.#admission = new Admission(app, parts, options, hostFacts(app, parts, options.onKill));
    this.#answers = new Answers(parts, options);
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
    const { route, params } = match;
    const admitted = await this.#admission.admit({ request, url, route, params, path: found.path });
    return admitted.refused ?? this.#answers.answer(route, admitted.call);
  }

  #preflight(request: Request, allow: string): Response {
    const origin = request.headers.get("origin");
    const isAllowed = origin !== null && this.#rules.origins.has(origin);
    return new Response(null, { status: 204, headers: isAllowed ? preflightHeaders(allow) : { allow } });
  }
}

function withoutBody(response: Response): Response {
  void response.body?.cancel();
  return new Response(null, { status: response.status, headers: response.headers });
}

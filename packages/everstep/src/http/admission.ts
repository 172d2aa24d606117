/** Asks whether a request is allowed and reads what it brings: nothing of it is read before somebody may send it. */
import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import { EverstepError } from "../model/error.ts";
import { type AuthorizeContext, actorOf, ask, type HookName, notConfigured } from "./authorize.ts";
import { readBody } from "./body.ts";
import type { HandlerOptions } from "./http-options.ts";
import { mayDo, maySee } from "./may-do.ts";
import { readQuery } from "./query.ts";
import { factsFor, idempotencyKeyOf } from "./request-facts.ts";
import type { Call, CallHost, PathParams, Route } from "./route.ts";

/** A parameter of the largest size, and what stands around it. */
const maxBodyBytes = 1024 * 1024 + 64 * 1024;

/** A request and the route it is for. */
export interface Asked {
  readonly request: Request;
  readonly url: URL;
  readonly route: Route;
  readonly params: Partial<PathParams>;
  /** The path below the mount. */
  readonly path: string;
}

/** The call to be made, or what a hook refused it with. */
export type Admitted = { readonly call: Call; readonly refused?: undefined } | { readonly refused: Response };

export class Admission {
  readonly #app: App;
  readonly #parts: AppParts;
  readonly #options: HandlerOptions;
  readonly #facts: Pick<CallHost, "overview" | "isReady" | "kill">;

  constructor(
    app: App,
    parts: AppParts,
    options: HandlerOptions,
    facts: Pick<CallHost, "overview" | "isReady" | "kill">,
  ) {
    this.#app = app;
    this.#parts = parts;
    this.#options = options;
    this.#facts = facts;
  }

  async admit({ request, url, route, params, path }: Asked): Promise<Admitted> {
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
    if (refused) return { refused };
    const query = route.ignoresQuery ? {} : readQuery(url.searchParams, route.query);
    const body = route.body
      ? await readBody(request, route.body, this.#options.maxBodyBytes ?? route.maxBodyBytes ?? maxBodyBytes)
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
    if (refusedWithFacts) return { refused: refusedWithFacts };
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
        ...this.#facts,
        may: (name, about) => mayDo(name, authorize, { ...context, ...about }),
        maySee: (instanceId) => maySee(instanceId, authorize, context),
        refusal: async () => {
          const now = { ...context, state: new Map() };
          return (await refusedAtAll(now)) || (await refusedHere(now)) ? noLonger() : undefined;
        },
      },
    };
    return { call };
  }
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

/**
 * Who asks: whom the hooks named. Where they name nobody, what the request may have proved it with; those who need no
 * proof are one. Headers alone would let one person be a thousand, with a cookie that nobody looks at.
 */
function clientOf({ headers }: Request, actor: string | undefined): string {
  if (actor !== undefined) return `actor ${actor}`;
  const authorization = headers.get("authorization");
  if (authorization === null) return `cookie ${headers.get("cookie") ?? ""}`;
  const [scheme = "", ...rest] = authorization.trim().split(/\s+/);
  return `authorization ${[scheme.toLowerCase(), ...rest].join(" ")}`;
}

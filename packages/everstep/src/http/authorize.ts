/** Who may do what: hooks that the host writes. Without one that covers a route, the route is closed. */
import { EverstepError } from "../model/error.ts";
import { meant } from "../model/known-names.ts";
import type { Runtime } from "../model/runtime.ts";
import { timedOut, withTimeout } from "../model/with-timeout.ts";
import { problemResponse } from "./problems.ts";

/** What a request is about to do, known before anything is read from the store. */
export interface AuthorizeContext {
  readonly request: Request;
  /** What it is about: `listInstances`, `terminate`. */
  readonly action: string;
  readonly method: string;
  /** Under the mount: `/workflows/order/instances`. */
  readonly path: string;
  readonly workflowName?: string;
  readonly instanceId?: string;
  readonly topic?: string;
  readonly runtime: Runtime;
  /** What hooks tell each other: the request hook may leave here who it is. */
  readonly state: Map<string, unknown>;
}

export interface AuthorizeInstanceCreationContext extends AuthorizeContext {
  /** One, or those of a batch. */
  readonly instances: readonly { readonly id?: string; readonly params?: unknown }[];
}

export interface AuthorizeReadContext extends AuthorizeContext {
  readonly query: Readonly<Record<string, unknown>>;
}

export interface AuthorizeManagementContext extends AuthorizeContext {
  readonly body: Readonly<Record<string, unknown>>;
}

export interface AuthorizeSendEventContext extends AuthorizeContext {
  /** `type` is missing for a publication, whose `topic` it has instead. */
  readonly event: { readonly type?: string; readonly payload?: unknown; readonly id?: string };
}

export interface AuthorizeRunnerTickContext extends AuthorizeContext {
  readonly maxInstances?: number;
  readonly maxSteps?: number;
}

/** Who it is, for a hook to allow with: what this person ends is recorded under this name. */
export interface Actor {
  readonly actor: string;
}

/** Returns nothing, or who it is, to allow. Returns or throws a Response to answer with it; throws anything else to refuse. */
export type AuthorizeHook<Context> = (
  context: Context,
) => void | Actor | Response | Promise<void | Actor | Response>;

export interface Authorize {
  /** Asked first, for every route. */
  readonly request?: AuthorizeHook<AuthorizeContext>;
  readonly instanceCreation?: AuthorizeHook<AuthorizeInstanceCreationContext>;
  readonly read?: AuthorizeHook<AuthorizeReadContext>;
  /** Pause, resume, terminate, restart and everything else that steers. */
  readonly management?: AuthorizeHook<AuthorizeManagementContext>;
  /** Events to an instance, and publications. */
  readonly sendEvent?: AuthorizeHook<AuthorizeSendEventContext>;
  readonly runnerTick?: AuthorizeHook<AuthorizeRunnerTickContext>;
  /** Everybody may do everything; set by `allowAll`. */
  readonly isOpen?: boolean;
}

export type HookName = Exclude<keyof Authorize, "request" | "isOpen">;

/** Everybody who can reach the address may see and steer everything. */
export function allowAll(): Authorize {
  return { request: () => {}, isOpen: true };
}

/** An answer for hooks to return. */
export function refuse(status: 401 | 403, message: string): Response {
  return status === 401
    ? problemResponse(new EverstepError("UNAUTHORIZED", message), { "www-authenticate": "Bearer" })
    : problemResponse(new EverstepError("FORBIDDEN", message));
}

/** A hook that has not answered by then has refused. */
const hookMs = 5000;

export interface Asking {
  readonly runtime: Runtime;
  readonly onProblem: (problem: unknown) => void;
}

/** The answer to give instead, if the hook refuses. What a hook that fails meant is not guessed. */
export async function ask<Context>(
  name: string,
  hook: AuthorizeHook<Context>,
  context: Context,
  { runtime, onProblem }: Asking,
): Promise<Response | undefined> {
  const refused = (why: string, cause?: unknown): Response => {
    onProblem(
      new EverstepError("FORBIDDEN", `authorize.${name} ${why}: the request was refused.`, { cause }),
    );
    return refuse(403, "You may not do this.");
  };
  try {
    const answer: unknown = await withTimeout(runtime, hookMs, (async () => hook(context))()).catch(
      responseOnly,
    );
    if (answer === undefined) return;
    if (isActor(answer))
      return void (context as Partial<AuthorizeContext>).state?.set(actorKey, answer.actor);
    if (answer instanceof Response) return copyOf(answer);
    if (answer === timedOut) return refused(`did not answer within ${hookMs} ms`);
    return refused(
      "returned something that is neither nothing or { actor } (to allow) nor a Response (to refuse)",
    );
  } catch (problem) {
    return refused("threw", problem);
  }
}

const actorKey = "actor";

function isActor(answer: unknown): answer is Actor {
  const { actor } = (answer ?? {}) as Partial<Actor>;
  return !(answer instanceof Response) && typeof actor === "string" && actor !== "";
}

/** Who the hooks said it is. */
export function actorOf({ state }: Pick<AuthorizeContext, "state">): string | undefined {
  const actor = state.get(actorKey);
  return typeof actor === "string" && actor !== "" ? actor : undefined;
}

function responseOnly(problem: unknown): Response {
  if (problem instanceof Response) return problem;
  throw problem;
}

/** A hook may keep one Response and give it every time, and to some of them nothing can be added. */
function copyOf(response: Response): Response {
  const { status, statusText, headers } = response;
  return new Response(response.clone().body, { status, statusText, headers });
}

/** A hook under a name that nobody asks for would let pass what it was written to refuse. */
export function checkAuthorize(authorize: Authorize | undefined): void {
  if (authorize === undefined) return;
  if (typeof authorize !== "object" || authorize === null) {
    throw new EverstepError("INVALID_ARGUMENT", "authorize takes hooks: { request, read, management, ... }.");
  }
  for (const [name, hook] of Object.entries(authorize)) {
    if (name === "isOpen" || hook === undefined) continue;
    if (!hookNames.includes(name)) {
      throw new EverstepError(
        "INVALID_ARGUMENT",
        `authorize.${name} is no hook, so it would refuse nothing. ${meant(name, hookNames)}`,
      );
    }
    if (typeof hook !== "function") {
      throw new EverstepError("INVALID_ARGUMENT", `authorize.${name} is a ${typeof hook}, not a function.`);
    }
  }
}

const hookNames: readonly string[] = [
  "request",
  "instanceCreation",
  "read",
  "management",
  "sendEvent",
  "runnerTick",
] satisfies readonly (HookName | "request")[];

export function notConfigured(hook: HookName): EverstepError {
  return new EverstepError(
    "AUTHORIZATION_NOT_CONFIGURED",
    `Nobody has said who may do this, so nobody may. Say it where the app is made: createWorkflows({ ..., ` +
      `authorize: bearerToken(process.env.EVERSTEP_TOKEN) }), a hook of your own ({ request, ${hook}, ... }), or, ` +
      `for a service that only you can reach, authorize: allowAll().`,
    { details: { hook } },
  );
}

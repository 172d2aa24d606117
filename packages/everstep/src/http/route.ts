import type { App } from "../client/app.ts";
import type { AppParts } from "../client/app-parts.ts";
import type { WireOverview } from "../wire/index.ts";
import type { Infer, Schema } from "../wire/schema.ts";
import type { AuthorizeInstanceCreationContext, HookName } from "./authorize.ts";
import type { QueryFields, QueryOf } from "./query.ts";
import type { Streams } from "./streams/streams.ts";
import type { ValueAnswerKind } from "./value-answers.ts";

export type Method = "GET" | "POST" | "DELETE";

/** One request that was allowed and understood. */
export interface Call<Query = any, Body = any> {
  readonly app: App;
  readonly parts: AppParts;
  readonly request: Request;
  readonly path: PathParams;
  readonly query: Query;
  readonly body: Body;
  /** A repeat with the same one has no further effect. */
  readonly idempotencyKey: string | undefined;
  /** Who asks, where a hook said so. */
  readonly actor: string | undefined;
  /** Whose share of streams and large answers it takes. */
  readonly client: string;
  readonly host: CallHost;
}

/** What a route may ask of the handler. */
export interface CallHost {
  /** Whether this request might do what the hook decides; nothing is known of what it would bring. */
  readonly may: (hook: HookName, about: { readonly workflowName?: string }) => Promise<boolean>;
  /** Asks the hooks once more, as time has passed: what is refused now, or undefined. */
  readonly refusal: () => Promise<unknown>;
  /** Whether this request may also see the instance, as if it had asked for it: what it ended with is not for everybody. */
  readonly maySee: (instanceId: string) => Promise<boolean>;
  readonly overview: () => Promise<WireOverview>;
  /** Whether it can serve, found out once a second at most. */
  readonly isReady: () => Promise<boolean>;
  /** Ends the process as a crash would; only where the host offers that. */
  readonly kill: (() => void) | undefined;
}

export interface PathParams {
  readonly workflowName: string;
  readonly instanceId: string;
  readonly topic: string;
  readonly stepIndex: string;
}

export interface Answer<Body = unknown> {
  readonly status?: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Route {
  /** What it is called in hooks, in the OpenAPI document and in tests. */
  readonly action: string;
  readonly method: Method;
  /** `/workflows/:workflowName/instances` */
  readonly path: string;
  /** Which hook decides beside the request hook; null for what everybody may know. */
  readonly hook: HookName | null;
  readonly summary: string;
  readonly query: QueryFields;
  readonly body: Schema<unknown> | null;
  /** May be larger than others'. */
  readonly maxBodyBytes?: number;
  readonly answer: {
    readonly status: number;
    readonly schema: Schema<unknown>;
    readonly also?: readonly number[];
  };
  /** Codes it may answer with, beside those every route has. */
  readonly codes: readonly string[];
  readonly run: (call: Call) => Promise<Answer>;
  /** The same as a stream of events, for who accepts text/event-stream. */
  readonly stream?: (call: Call, streams: Streams) => Promise<Response>;
  /** It may create these, so that who may create is asked too. */
  readonly creates?: (sent: Pick<Call, "path" | "body">) => AuthorizeInstanceCreationContext["instances"];
  /** May take longer than others. */
  readonly isLong?: boolean;
  /** Whatever is asked for in the query is not even read: probes come often, and from anybody. */
  readonly ignoresQuery?: boolean;
  /**
   * Its answer carries values of instances, so that only some are made at once: a page of them, all of a run, or none. What
   * is much work is made like a run.
   */
  readonly values?: (query: any) => ValueAnswerKind | null;
  /** Only there where the host has said what it does (`http: { onKill }`). */
  readonly isForDev?: boolean;
}

interface RouteTerms<Fields extends QueryFields, Body, Shown extends Schema<unknown>>
  extends Omit<Route, "query" | "body" | "answer" | "run" | "stream"> {
  readonly query?: Fields;
  readonly body?: Schema<Body, unknown>;
  readonly answer: Omit<Route["answer"], "schema"> & { readonly schema: Shown };
  readonly run: (call: Call<QueryOf<Fields>, Body>) => Promise<Answer<Infer<Shown>>>;
  readonly stream?: (call: Call<QueryOf<Fields>, Body>, streams: Streams) => Promise<Response>;
}

export function route<
  Shown extends Schema<unknown>,
  const Fields extends QueryFields = Record<never, never>,
  Body = unknown,
>(terms: RouteTerms<Fields, Body, Shown>): Route {
  return { ...terms, query: terms.query ?? {}, body: terms.body ?? null } as Route;
}

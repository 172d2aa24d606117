import type { IncomingMessage, ServerResponse } from "node:http";
import { problemResponse } from "../http/problems.ts";
import { EverstepError } from "../model/error.ts";
import { problemText } from "../model/problem-text.ts";
import type { Runtime } from "../model/runtime.ts";
import { systemRuntime } from "../system-runtime.ts";
import { type SendSettings, sendResponse } from "./send-response.ts";
import { type NodeRequest, webRequest } from "./web-request.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** An app, or any function of the web's standard. */
export type WebHandler = (Fetch | { readonly fetch: Fetch }) & {
  /** Everybody may do everything: `authorize: allowAll()`. */
  readonly isOpen?: boolean;
  /** The same of hooks that accept everything. */
  readonly isOpenToAll?: () => Promise<boolean>;
  /** Under which names it answers, if not under all. */
  readonly hosts?: readonly string[] | undefined;
};

export interface NodeHandlerOptions {
  /** Told of requests that failed although they should not. Default: console. */
  readonly onProblem?: (problem: unknown) => void;
  /** Milliseconds after which a client that takes nothing of its answer is cut off; default 60,000. */
  readonly writeTimeout?: number;
  /** Time; the system's unless given. */
  readonly runtime?: Partial<Runtime>;
}

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** For `node:http`, Express, Connect, and Fastify's raw requests. What it gives never rejects. */
export function toNodeHandler(handler: WebHandler, options: NodeHandlerOptions = {}): NodeHandler {
  return nodeHandler(handler, options);
}

export function nodeHandler(
  handler: WebHandler,
  { onProblem = reportProblem, writeTimeout = 60_000, runtime }: NodeHandlerOptions,
  closing?: AbortSignal,
): NodeHandler {
  const fetch = fetchOf(handler);
  const settings: SendSettings = {
    runtime: { ...systemRuntime, ...runtime },
    stallMs: writeTimeout,
    ...(closing ? { closing } : {}),
  };
  return async (request, to) => {
    const gone = new AbortController();
    // An error that nobody hears ends the process; that the client is gone is heard of by "close".
    to.on("error", () => {});
    to.once("close", () => {
      if (!to.writableFinished) gone.abort(new Error("The client went away before it had its answer."));
    });
    const report = (problem: unknown): void => {
      if (!gone.signal.aborted) quietly(() => onProblem(problem));
    };
    try {
      const response = await answer(fetch, request, gone.signal, report);
      await sendResponse(response, to, request, settings);
    } catch (problem) {
      report(problem);
      await sendFailure(to, request, settings);
    }
  };
}

export function fetchOf(handler: WebHandler): Fetch {
  if (typeof handler === "function") return handler;
  if (typeof handler?.fetch === "function") return (request) => handler.fetch(request);
  throw new EverstepError(
    "INVALID_ARGUMENT",
    "There is nothing to serve: pass the app that createWorkflows made, or a function (request) => response.",
  );
}

async function answer(
  fetch: Fetch,
  request: NodeRequest,
  signal: AbortSignal,
  report: (problem: unknown) => void,
): Promise<Response> {
  const web = requestOr(request, signal);
  if (!(web instanceof Request)) return web;
  try {
    return checked(await fetch(web));
  } catch (problem) {
    report(problem);
    return failed();
  }
}

/** The request, or the answer to what is none. */
function requestOr(request: NodeRequest, signal: AbortSignal): Request | Response {
  try {
    return webRequest(request, signal);
  } catch (problem) {
    if (problem instanceof EverstepError && problem.code === "INVALID_ARGUMENT") return refused(problem);
    // TRACE and its like, which the web has no request for.
    if (problem instanceof TypeError) return refused(methodNotAllowed());
    throw problem;
  }
}

function checked(response: unknown): Response {
  const { status, headers } = (response ?? {}) as Partial<Response>;
  if (typeof status === "number" && status >= 200 && typeof headers?.forEach === "function") {
    return response as Response;
  }
  throw new TypeError("The handler gave something that is no Response.");
}

/** The last resort: nothing of the inside, and never a half answer that looks whole. */
async function sendFailure(
  to: ServerResponse,
  request: IncomingMessage,
  settings: SendSettings,
): Promise<void> {
  if (to.headersSent) return void to.destroy();
  await sendResponse(failed(), to, request, settings).catch(() => void to.destroy());
}

function failed(): Response {
  return refused(
    new EverstepError("INTERNAL_ERROR", "Something failed that should not. The log of the server says more."),
  );
}

function refused(problem: EverstepError): Response {
  return problemResponse(problem, { "cache-control": "no-store", "x-content-type-options": "nosniff" });
}

function methodNotAllowed(): EverstepError {
  return new EverstepError("METHOD_NOT_ALLOWED", "This method is offered nowhere here.");
}

function reportProblem(problem: unknown): void {
  console.error(`everstep: ${problemText(problem)}`);
}

function quietly(act: () => void): void {
  try {
    act();
  } catch {
    // Whoever is told of problems must not make more of them.
  }
}

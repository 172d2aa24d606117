/** Every answer that a test sees is held against the table of routes and the OpenAPI document. */
import { expect } from "vitest";
import { openApi } from "../../../packages/everstep/src/http/openapi.ts";
import type { Match } from "../../../packages/everstep/src/http/router.ts";
import { Router } from "../../../packages/everstep/src/http/router.ts";
import { routes } from "../../../packages/everstep/src/http/routes/index.ts";
import type { Issue } from "../../../packages/everstep/src/wire/schema.ts";
import { type JsonSchema, mistakesIn } from "./json-schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: every answer is held against its schema; tests then look where they please
export type Json = any;

export interface Answer {
  readonly status: number;
  /** Of a problem. */
  readonly code?: string;
  readonly body: Json;
  readonly headers: Headers;
}

export const commonHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The answer, after everything about it that must always hold was checked. */
export async function checkedAnswer(
  request: { readonly method: string; readonly path: string },
  response: Response,
  options: { readonly basePath?: string } = {},
): Promise<Answer> {
  const said = `${request.method} ${request.path} ${response.status}`;
  for (const [name, value] of Object.entries(commonHeaders))
    expect(response.headers.get(name), said).toBe(value);
  const text = await response.text();
  const { status, headers } = response;
  if (text === "") {
    expect(request.method === "HEAD" || [204, 304].includes(status), said).toBe(true);
    return { status, body: null, headers };
  }
  expect(headers.get("content-type"), said).toBe("application/json; charset=utf-8");
  const body = JSON.parse(text);
  const match = matchOf(request, options.basePath);
  const code = body?.error?.code as string | undefined;
  if (match) expect(mistakesOfAnswer(match, status, body), `${said} ${text.slice(0, 300)}`).toEqual([]);
  else
    expect([
      "ROUTE_NOT_FOUND",
      "METHOD_NOT_ALLOWED",
      "INVALID_ARGUMENT",
      "HOST_NOT_ALLOWED",
      "ORIGIN_NOT_ALLOWED",
    ]).toContain(code);
  if (isProblem(status))
    expect(body, said).toEqual({ error: expect.objectContaining({ docs: docsOf(code) }) });
  return { status, body, headers, ...(code === undefined || !isProblem(status) ? {} : { code }) };
}

/** The route that a request is for, if there is one. */
export function matchOf(
  { method, path }: { readonly method: string; readonly path: string },
  basePath?: string,
): Match | undefined {
  try {
    const { pathname } = new URL(`http://localhost${path}`);
    return routerAt(basePath)
      .find(pathname)
      .of(method === "HEAD" ? "GET" : method);
  } catch {
    return undefined;
  }
}

const routers = new Map<string | undefined, Router>();

function routerAt(basePath: string | undefined): Router {
  const router = routers.get(basePath) ?? new Router(routes, basePath);
  routers.set(basePath, router);
  return router;
}

const document = openApi() as Json;

export const resolve = (ref: string): JsonSchema =>
  ref
    .replace(/^#\//, "")
    .split("/")
    .reduce((within, key) => within[key], document) as JsonSchema;

function mistakesOfAnswer({ route }: Match, status: number, body: Json): string[] {
  const path = route.path.replace(/:(\w+)/g, "{$1}");
  const operation = document.paths[path][route.method.toLowerCase()];
  const documented = operation.responses[String(status)];
  if (!documented) return [`${route.action} is not said to answer ${status} ${body?.error?.code}`];
  const issues: Issue[] = [];
  if (status === route.answer.status || route.answer.also?.includes(status)) {
    if (!isProblem(status) || !body?.error) route.answer.schema.read(body, "", issues);
  }
  const code = body?.error?.code;
  const isSaid =
    !isProblem(status) || code === undefined || documented.description.split(", ").includes(code);
  return [
    ...issues.map((issue) => `${issue.path} ${issue.message}`),
    ...mistakesIn(body, documented.content["application/json"].schema, resolve),
    ...(isSaid ? [] : [`${route.action} is not said to answer ${code}`]),
  ];
}

function isProblem(status: number): boolean {
  return status >= 400;
}

function docsOf(code: string | undefined): string {
  return `node_modules/everstep/docs/errors.md#${code?.toLowerCase()}`;
}

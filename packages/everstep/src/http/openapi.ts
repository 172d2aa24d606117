/** The OpenAPI document, made from the table of routes. */

import type { ErrorCode } from "../model/error.ts";
import * as schemas from "../wire/index.ts";
import type { JsonSchema, NamedSchema, Schema } from "../wire/schema.ts";
import { statusOf } from "./problems.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes/index.ts";

let made: JsonSchema | null = null;

export function openApi(): JsonSchema {
  made ??= {
    openapi: "3.1.0",
    info: {
      title: "everstep",
      version: "1",
      description: "See and steer workflows. Paths are relative to where the handler is mounted.",
    },
    servers: [{ url: "." }],
    security: [{ bearer: [] }],
    paths: paths(),
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: components(),
    },
  };
  return made;
}

function paths(): JsonSchema {
  const found: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    found[path] ??= {};
    found[path][route.method.toLowerCase()] = operation(route);
  }
  return found;
}

function operation(route: Route): JsonSchema {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
  const inPath = names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
  const inQuery = Object.entries(route.query).map(([name, { json, about, isList }]) => ({
    name,
    in: "query",
    required: false,
    description: about,
    schema: json,
    ...(isList ? { style: "form", explode: true } : {}),
  }));
  const idempotency =
    route.hook === "management" || route.hook === "sendEvent"
      ? [
          {
            name: "idempotency-key",
            in: "header",
            required: false,
            description: "A repeat with the same key has no further effect.",
            schema: { type: "string", maxLength: 200 },
          },
        ]
      : [];
  return {
    operationId: route.action,
    summary: route.summary,
    ...(route.stream ? { description: streamed, "x-event-stream": true } : {}),
    ...(route.hook === null ? { security: [] } : {}),
    parameters: [...inPath, ...inQuery, ...idempotency],
    ...(route.body
      ? { requestBody: { required: isBodyRequired(route.body), content: jsonContent(route.body) } }
      : {}),
    responses: responses(route),
  };
}

/**
 * As a second media type of the answer, a stream would make every generated client return a union of the page and a string.
 */
const streamed = "With `Accept: text/event-stream` the answer is a stream of server-sent events.";

function isBodyRequired(body: Schema<unknown>): boolean {
  return "required" in body.json;
}

function responses(route: Route): JsonSchema {
  const { status, schema, also = [] } = route.answer;
  const good = { description: "OK", content: jsonContent(schema) };
  const byStatus = new Map<number, string[]>();
  for (const code of [...always(route), ...route.codes]) {
    const of = statusOf(code as ErrorCode);
    byStatus.set(of, [...(byStatus.get(of) ?? []), code]);
  }
  const problems = [...byStatus].map(([of, codes]) => [
    String(of),
    { description: codes.join(", "), content: jsonContent(schemas.problem) },
  ]);
  return {
    ...Object.fromEntries(problems),
    ...Object.fromEntries([status, ...also].map((each) => [String(each), good])),
    ...(route.method === "GET" ? { "304": { description: "Not modified (If-None-Match)." } } : {}),
  };
}

/** What every route may answer with. */
function always({ hook, body, stream, values }: Route): readonly ErrorCode[] {
  return [
    ...(["INVALID_ARGUMENT", "HOST_NOT_ALLOWED", "ORIGIN_NOT_ALLOWED", "INTERNAL_ERROR"] as const),
    ...(hook ? (["UNAUTHORIZED", "AUTHORIZATION_NOT_CONFIGURED", "FORBIDDEN"] as const) : []),
    ...(hook ? outOfService : []),
    ...(body ? (["INVALID_BODY", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const) : []),
    ...(stream ? (["TOO_MANY_STREAMS"] as const) : []),
    ...(values ? (["TOO_MANY_LARGE_ANSWERS"] as const) : []),
  ];
}

const outOfService: readonly ErrorCode[] = [
  "STORE_UNAVAILABLE",
  "STORE_BUSY",
  "STORE_FULL",
  "STORE_READ_ONLY",
  "STORE_CLOSED",
  "APP_STOPPED",
];

function jsonContent(schema: Schema<unknown>): JsonSchema {
  return { "application/json": { schema: schema.json } };
}

function components(): JsonSchema {
  return Object.fromEntries(
    Object.values(schemas).flatMap((schema: Schema<unknown> | NamedSchema<unknown>) =>
      "name" in schema ? [[schema.name, schema.inner]] : [],
    ),
  );
}

/** The OpenAPI document: sound in itself, and in line with the routes. Real answers are held against it in every test. */
import { allowAll } from "everstep";
import { describe, expect, test } from "vitest";
import { routes } from "../../packages/everstep/src/http/routes/index.ts";
import type { Issue } from "../../packages/everstep/src/wire/schema.ts";
import { type Json, resolve } from "./support/checked-answer.ts";
import { mistakesIn } from "./support/json-schema.ts";
import { nearlyRight } from "./support/random-requests.ts";
import { sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const { app } = createWatched({ authorize: allowAll() });
const document: Json = await (await app.fetch(new Request("http://localhost/openapi.json"))).json();

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly operation: Json;
}

const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as object).map(([method, operation]) => ({ path, method, operation })),
);

/** Every object in it, with where it is. */
function* objectsIn(value: Json, path = "#"): Generator<readonly [path: string, value: Json]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value];
  for (const [key, item] of Object.entries(value)) yield* objectsIn(item, `${path}/${key}`);
}

describe("the document", () => {
  test("is OpenAPI 3.1, with a title, a version, and a server relative to where it is", () => {
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: { title: "everstep", version: expect.any(String) },
      servers: [{ url: "." }],
      components: { securitySchemes: { bearer: { type: "http", scheme: "bearer" } } },
    });
    const known = ["openapi", "info", "servers", "security", "paths", "components"];
    expect(Object.keys(document).filter((key) => !known.includes(key))).toEqual([]);
  });

  test("has every route and nothing else, each under a name of its own", () => {
    const ofRoutes = routes.map(
      ({ method, path, action }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")} ${action}`,
    );
    const ofDocument = operations.map(
      ({ method, path, operation }) => `${method.toUpperCase()} ${path} ${operation.operationId}`,
    );
    expect(ofDocument.sort()).toEqual(ofRoutes.sort());
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(routes.length);
  });

  test("refers to nothing that is not there, and describes nothing that is not used", () => {
    const refs = [...objectsIn(document)].flatMap(([, { $ref }]) => (typeof $ref === "string" ? [$ref] : []));
    for (const ref of refs) expect(resolve(ref), ref).toBeTypeOf("object");
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect(names.filter((name) => !refs.includes(name))).toEqual([]);
    expect(refs.length).toBeGreaterThan(100);
  });

  test("has schemas made of words that are known, and enums that are not empty", () => {
    const roots = operations.flatMap(({ path, method, operation }) => [
      ...operation.parameters.map(({ schema, name }: Json) => [`${method} ${path} ${name}`, schema]),
      ...Object.entries({ body: operation.requestBody, ...operation.responses }).flatMap(
        ([part, { content } = {} as Json]: Json) =>
          Object.entries(content ?? {}).map(([type, { schema }]: Json) => [
            `${method} ${path} ${part} ${type}`,
            schema,
          ]),
      ),
    ]);
    for (const [where, schema] of [...roots, ...Object.entries(document.components.schemas)])
      for (const value of [null, 1, "x", [], {}])
        expect(() => mistakesIn(value, schema, resolve), where).not.toThrow();
  });
});

describe.each(operations)("$method $path", ({ path, method, operation }) => {
  const route = routes.find(({ action }) => action === operation.operationId)!;

  test("has its parameters: those in the path, those in the query, and a key where repeats are safe", () => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name}`);
    const inQuery = Object.keys(route.query).map((name) => `query ${name}`);
    const takesKey = route.hook === "management" || route.hook === "sendEvent";
    const inHeader = takesKey ? ["header idempotency-key"] : [];
    expect(operation.parameters.map(({ name, in: place }: Json) => `${place} ${name}`)).toEqual([
      ...inPath,
      ...inQuery,
      ...inHeader,
    ]);
    for (const { in: place, required, description, schema } of operation.parameters) {
      expect(required).toBe(place === "path");
      expect(schema.type).toBeTypeOf("string");
      if (place === "query") expect(description.length).toBeGreaterThan(5);
    }
    expect(operation.summary).toMatch(/\.$/);
  });

  test("says what it answers: the good, each problem by its code, and what is protected", () => {
    const { responses } = operation;
    for (const [status, { description }] of Object.entries<Json>(responses)) {
      expect(status).toMatch(/^[2-5]\d\d$/);
      expect(description).toBeTypeOf("string");
    }
    expect(responses[String(route.answer.status)].content["application/json"].schema).toEqual(
      route.answer.schema.json,
    );
    const said = Object.values<Json>(responses).flatMap(({ description }) => description.split(", "));
    const isGood = (code: string) => route.answer.also?.includes(503) && /^STORE|^APP/.test(code);
    expect(route.codes.filter((code) => !said.includes(code) && !isGood(code))).toEqual([]);
    expect(operation.security).toEqual(route.hook === null ? [] : undefined);
    expect("304" in responses).toBe(method === "get");
    expect(Object.keys(responses[String(route.answer.status)].content)).toEqual(["application/json"]);
    expect(operation["x-event-stream"] === true).toBe(route.stream !== undefined);
  });

  test("takes the bodies that the document allows, and no others", () => {
    if (!route.body) return expect(operation.requestBody).toBeUndefined();
    const { schema } = operation.requestBody.content["application/json"];
    const sample = sampleRequests.find((each) => each.route === route)?.body;
    expect(mistakesIn(sample, schema, resolve)).toEqual([]);
    for (const body of [sample, ...nearlyRight, [], null, "x", 7]) {
      const issues: Issue[] = [];
      route.body.read(body, "", issues);
      expect(issues.length === 0, JSON.stringify(body)).toBe(mistakesIn(body, schema, resolve).length === 0);
    }
    const isEmptyFine = mistakesIn({}, schema, resolve).length === 0;
    expect(operation.requestBody.required).toBe(!isEmptyFine);
  });
});

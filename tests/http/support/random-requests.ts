/** Requests of all kinds, most of them nearly right: what is wholly wrong is refused at the first door already. */
import fc from "fast-check";
import { routes } from "../../../packages/everstep/src/http/routes/index.ts";

export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface Known {
  /** Ids that there are, by workflow. */
  readonly instances: readonly (readonly [workflowName: string, instanceId: string])[];
  /** Cursors that were given. */
  readonly cursors: readonly string[];
}

const oddTexts = [
  ...["", ".", "..", "%2e%2e", "..%2f", "a/b", "a%2Fb", "a?b#c", "%", "%zz", "%00", "%c0%ae", "%ff", "%25"],
  ...["__proto__", "constructor", "instances", "batch", "-", " ", "'; drop table run; --", "\u202e", "😀"],
  ...["x".repeat(101), "x".repeat(5000), "null", "undefined", "NaN", "0", "-1", "1e9", "true", "[]", "{}"],
];

export function randomRequests(known: Known): fc.Arbitrary<RandomRequest> {
  const text = fc.oneof(
    fc.constantFrom(...oddTexts),
    fc.string({ maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  const cursor = fc.oneof(
    fc.constantFrom(...known.cursors),
    flipped(fc.constantFrom(...known.cursors)),
    text,
  );
  return fc.record({
    method: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("GET", "POST") },
      { weight: 1, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "QUERY") },
    ),
    path: fc.oneof(
      { weight: 8, arbitrary: routePaths(known, text, cursor) },
      { weight: 1, arbitrary: anyPaths(text) },
    ),
    headers: headers(text),
    body: bodies(text),
  });
}

function routePaths(
  { instances }: Known,
  text: fc.Arbitrary<string>,
  cursor: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc
    .record({
      route: fc.constantFrom(...routes),
      ref: fc.constantFrom(...instances),
      odd: rarely(2, fc.tuple(fc.nat(5), text)),
      query: fc.option(
        fc.array(fc.tuple(fc.constantFrom(...queryNames), queryValues(text, cursor)), { maxLength: 3 }),
      ),
      isShort: fc.boolean(),
    })
    .map(({ route, ref: [workflowName, instanceId], odd, query, isShort }) => {
      const filled = route.path
        .replace(":workflowName", workflowName)
        .replace(":instanceId", instanceId)
        .replace(":topic", "news")
        .replace(":stepIndex", "0");
      const segments = filled.split("/").slice(isShort && filled.startsWith("/workflows/") ? 2 : 1);
      if (odd) segments[odd[0] % segments.length] = encodedOr(odd[1]);
      const search = (query ?? []).map(([name, value]) => `${name}=${encodedOr(value)}`).join("&");
      return `/${segments.join("/")}${search === "" ? "" : `?${search}`}`;
    });
}

const queryNames = [...new Set(routes.flatMap(({ query }) => Object.keys(query))), "x", "__proto__"];

function queryValues(text: fc.Arbitrary<string>, cursor: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const words = [
    "asc",
    "desc",
    "true",
    "false",
    "active",
    "waiting,paused",
    "meta",
    "info",
    "order",
    "1",
    "2",
    "100",
    "0.5",
  ];
  return fc.oneof(fc.constantFrom(...words), cursor, text);
}

function anyPaths(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(text, { maxLength: 7 }).map((segments) => `/${segments.map(encodedOr).join("/")}`);
}

/** There once, for as many times that it is not. */
function rarely<Value>(times: number, given: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> {
  return fc.oneof({ weight: times, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: given });
}

/** As a careful client writes it, unless it is written in a careless way already. */
function encodedOr(text: string): string {
  return text.includes("%")
    ? text.replace(/[^\x21-\x7e]/g, "")
    : encodeURIComponent(Buffer.from(text).toString());
}

/** One bit of one byte is another. */
function flipped(cursor: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(cursor, fc.nat(), fc.nat(6)).map(([given, at, bit]) => {
    const bytes = Buffer.from(given);
    const place = at % bytes.length;
    bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
    return bytes.toString("latin1");
  });
}

function headers(text: fc.Arbitrary<string>): fc.Arbitrary<Readonly<Record<string, string>>> {
  const value = text.map((each) =>
    each
      .replace(/[^\x20-\x7e]/g, "")
      .trim()
      .slice(0, 300),
  );
  return fc
    .record({
      "content-type": fc.oneof(
        { weight: 8, arbitrary: fc.constant("application/json") },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            "text/plain",
            "application/json; charset=utf-8",
            "application/json;charset=utf-16",
            "",
            "multipart/form-data",
          ),
        },
      ),
      "content-encoding": rarely(15, fc.constantFrom("gzip", "identity", "br")),
      "idempotency-key": rarely(6, value),
      accept: rarely(
        6,
        fc.constantFrom("text/event-stream", "application/json", "*/*", "text/event-stream;q=0.1, */*"),
      ),
      "last-event-id": rarely(
        8,
        fc.oneof(value, fc.constantFrom("1-1", "1-0", "2-1", "1-99999999999999999999")),
      ),
      "if-none-match": rarely(10, value),
      origin: rarely(
        15,
        fc.constantFrom("null", "http://localhost", "http://evil.example", "http://localhost.evil.example"),
      ),
      "sec-fetch-site": rarely(15, fc.constantFrom("same-origin", "cross-site", "none", "x")),
      authorization: rarely(10, value),
      "content-length": rarely(5, fc.constantFrom("0", "5", "9999999999", "999999999999", "-1", "x")),
    })
    .map((all) =>
      Object.fromEntries(
        Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ),
    );
}

export const nearlyRight: readonly unknown[] = [
  ...[
    {},
    { id: "new-one" },
    { id: "new-two", params: { amount: 1 } },
    { params: [1, { a: null }], ifExists: "return" },
  ],
  ...[
    { instances: [{ id: "b-1" }, { id: "b-2", params: {} }] },
    { instances: [{ id: "b-3" }, {}] },
    { instances: [] },
  ],
  ...[
    { reason: "enough" },
    { from: "approval" },
    { from: { name: "charge", count: 1 } },
    { step: "approval" },
  ],
  ...[
    { newId: "forked" },
    { delay: "1 hour" },
    { delay: -5 },
    { when: { statuses: ["complete"] }, params: 1 },
  ],
  ...[
    { type: "approved", payload: { by: "x" } },
    { type: "noted", idempotencyKey: "event-1" },
    { payload: "news", idempotencyKey: "publication-1" },
  ],
  ...[
    { maxInstances: 1 },
    { maxSteps: 1 },
    { startAt: "2026-01-01T00:00:00Z" },
    { deadline: 1, retention: "1 day" },
  ],
  ...[
    { runNumber: 9 },
    { status: "complete" },
    { startAt: 8.64e15 },
    { startAt: 9e15 },
    { retention: "400 years" },
  ],
];

function bodies(text: fc.Arbitrary<string>): fc.Arbitrary<RandomRequest["body"]> {
  const right = fc.constantFrom(...nearlyRight);
  const field = fc.tuple(
    right,
    fc.constantFrom("id", "params", "type", "from", "step", "reason", "when", "x", "__proto__"),
    fc.jsonValue(),
  );
  return fc.oneof(
    { weight: 6, arbitrary: right.map((value) => JSON.stringify(value)) },
    { weight: 5, arbitrary: field.map(([value, key, other]) => withField(value, key, other)) },
    {
      weight: 2,
      arbitrary: fc.tuple(right, fc.nat()).map(([value, at]) => JSON.stringify(value).slice(0, at % 20)),
    },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc.nat(100).map((depth) => `{"params":${"[".repeat(depth)}${"]".repeat(depth)}}`),
    },
    { weight: 1, arbitrary: text.map((each) => JSON.stringify({ id: each, type: each, params: each })) },
    { weight: 2, arbitrary: fc.constant(undefined) },
  );
}

/** Written by hand: a key named __proto__ would not survive an object. */
function withField(value: unknown, key: string, other: unknown): string {
  const inside = JSON.stringify(value).slice(1, -1);
  return `{${inside}${inside === "" ? "" : ","}${JSON.stringify(key)}:${JSON.stringify(other)}}`;
}

/** Bodies that are too much, too deep, in disguise, or bring more than they may. */
import { gzipSync } from "node:zlib";
import { allowAll } from "everstep";
import { serve } from "everstep/node";
import { describe, expect, test } from "vitest";
import type { Json } from "./support/checked-answer.ts";
import { converse } from "./support/raw-request.ts";
import { everyRoute, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const writes = sampleRequests.filter(({ route }) => route.method === "POST");

async function begin(http = {}) {
  const watched = createWatched({ authorize: allowAll(), http: { ...everyRoute, ...http } });
  await watched.app.workflows.ORDER.create({ id: "waiting-1" });
  await watched.app.tick();
  const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: body as string,
      duplex: "half",
    } as RequestInit);
    const response = await watched.app.fetch(request);
    const answer: Json = await response.json();
    return { status: response.status, code: answer.error?.code, answer };
  };
  return { ...watched, send };
}

const deep = (depth: number, open = "[", close = "]") =>
  `{"params":${open.repeat(depth)}${close.repeat(depth)}}`;
const utf8 = (...bytes: number[]) =>
  new Uint8Array([...Buffer.from('{"params":"'), ...bytes, ...Buffer.from('"}')]);

describe("SEC-12 a body that", () => {
  const refusals: readonly (readonly [string, string | Uint8Array, string, Record<string, string>?])[] = [
    ["is nested in arrays", deep(100_000), "INVALID_BODY"],
    ["is nested in objects", `{"params":${'{"a":'.repeat(100)}1${"}".repeat(100)}}`, "INVALID_BODY"],
    ["is nested without an end", "[".repeat(100_000), "INVALID_BODY"],
    [
      "has a million keys",
      `{"params":{${Array.from({ length: 250_000 }, (_, n) => `"${n}":0`).join()}}}`,
      "BODY_TOO_LARGE",
    ],
    ["has a lot of nothing", `{"params":[${"0,".repeat(250_000)}0]}`, "INVALID_BODY"],
    [
      "is squeezed",
      gzipSync(Buffer.alloc(10_000_000, 32)),
      "UNSUPPORTED_MEDIA_TYPE",
      { "content-encoding": "gzip" },
    ],
    ["is squeezed twice", "x", "UNSUPPORTED_MEDIA_TYPE", { "content-encoding": "gzip, br" }],
    ["is squeezed without saying so", gzipSync('{"id":"z"}'), "INVALID_BODY"],
    ["is half a character", utf8(0xc3), "INVALID_BODY"],
    ["is an overlong slash", utf8(0xc0, 0xaf), "INVALID_BODY"],
    ["is a surrogate in UTF-8", utf8(0xed, 0xa0, 0x80), "INVALID_BODY"],
    ["is UTF-16", Buffer.from('{"id":"z"}', "utf16le"), "INVALID_BODY"],
    [
      "says it is UTF-16",
      '{"id":"z"}',
      "UNSUPPORTED_MEDIA_TYPE",
      { "content-type": "application/json; charset=utf-16" },
    ],
    ["is not JSON", "{id: 1}", "INVALID_BODY"],
    ["is more than one JSON", '{"id":"z"}{"id":"y"}', "INVALID_BODY"],
    ["has a NUL after it", '{"id":"z"}\u0000', "INVALID_BODY"],
    ["has numbers that are none", '{"params":NaN}', "INVALID_BODY"],
    ["has a number beyond all numbers", '{"params":{"n":[1e999]}}', "INVALID_BODY"],
    ["has a number below all numbers", '{"params":-1E+400}', "INVALID_BODY"],
    ["has a number of a thousand digits", `{"params":${"9".repeat(1000)}}`, "INVALID_BODY"],
    ["is only blanks", "   ", "INVALID_BODY"],
  ];

  test.each(refusals.map(([what, body, code, headers = {}]) => ({ what, body, code, headers })))(
    "$what is refused, and nothing is kept of it",
    async ({ body, code, headers }) => {
      const { send, contents } = await begin();
      const before = contents();
      for (const { path, route } of writes) {
        // A batch may be larger than others.
        const isLarger = route.action === "createBatch" && code === "BODY_TOO_LARGE";
        expect((await send(path, body, headers)).code, route.action).toBe(isLarger ? "INVALID_BODY" : code);
      }
      expect(contents()).toBe(before);
    },
  );

  test("begins with a byte order mark is read without it", async () => {
    const { send } = await begin();
    expect((await send("/order/instances", '\ufeff{"id":"bom"}')).answer.id).toBe("bom");
  });

  test("names a key twice means the last one", async () => {
    const { send, app } = await begin();
    await send("/order/instances", '{"id":"first","id":"last","params":{"a":1,"a":2}}');
    expect((await app.workflows.ORDER.at("last").details()).params).toEqual({ a: 2 });
    await expect(app.workflows.ORDER.at("first").status()).rejects.toMatchObject({
      code: "INSTANCE_NOT_FOUND",
    });
  });

  test("is nested as deep as is allowed comes back as it was", async () => {
    const { send, app } = await begin();
    expect((await send("/order/instances", deep(60).replace("{", '{"id":"deep",'))).status).toBe(201);
    expect(JSON.stringify((await app.workflows.ORDER.at("deep").details()).params)).toBe(
      "[".repeat(60) + "]".repeat(60),
    );
  });
});

describe("SEC-13 a body that is too large", () => {
  test("is refused by what it announces, before any of it is read", async () => {
    const { send } = await begin();
    const body = new ReadableStream(
      { pull: () => Promise.reject(new Error("It was read.")) },
      { highWaterMark: 0 },
    );
    for (const { path } of writes) {
      const { status, code } = await send(path, body, { "content-length": "999999999" });
      expect([status, code]).toEqual([413, "BODY_TOO_LARGE"]);
    }
  });

  test("is refused as soon as it is, without reading on", async () => {
    const { send } = await begin({ maxBodyBytes: 10_000 });
    let chunks = 0;
    let isCancelled = false;
    const endless = new ReadableStream(
      {
        pull(controller) {
          chunks += 1;
          controller.enqueue(new Uint8Array(1000).fill(32));
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const { status, code, answer } = await send("/order/instances", endless);
    expect([status, code, answer.error.details]).toEqual([413, "BODY_TOO_LARGE", { maxBytes: 10_000 }]);
    expect([chunks, isCancelled]).toEqual([11, true]);
  });

  test("is measured by a limit that is a number, or there is no handler", () => {
    for (const most of [Number.NaN, -1, "1000", null])
      for (const name of ["maxBodyBytes", "maxStreams", "maxStreamsPerClient"])
        expect(() => createWatched({ http: { [name]: most } })).toThrow(`http.${name} is`);
  });

  test("breaks off in the middle is a mistake of who sent it", async () => {
    const { send, contents } = await begin();
    const before = contents();
    const broken = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('{"id":"x"')),
      pull: () => Promise.reject(new Error("The connection broke.")),
    });
    expect(await send("/order/instances", broken)).toMatchObject({ status: 400, code: "INVALID_BODY" });
    expect(contents()).toBe(before);
  });

  test("over a socket: an endless one is answered and cut off, one of another length than announced is none", async () => {
    const { app, contents } = await begin({ maxBodyBytes: 10_000 });
    const before = contents();
    const { url, close } = await serve(app, { port: 0, requestTimeout: 2000, headersTimeout: 1000 });
    const head = (more: string) =>
      `POST /order/instances HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`;
    const chunk = `400\r\n${" ".repeat(1024)}\r\n`;
    const endless = await converse(url, (socket) => {
      socket.write(head("Transfer-Encoding: chunked"));
      const speak = (): void => void (socket.destroyed || socket.write(chunk, speak));
      speak();
    });
    expect(endless.status).toBe(413);
    const announced = await converse(url, (socket) => socket.write(head("Content-Length: 99999999")));
    expect(announced.status).toBe(413);
    const both = await converse(url, (socket) =>
      socket.write(head("Content-Length: 5\r\nTransfer-Encoding: chunked")),
    );
    expect(both.status).toBe(400);
    const shorter = await converse(url, (socket) => socket.end(`${head("Content-Length: 50")}{"id":"x"}`));
    expect([0, 400]).toContain(shorter.status);
    expect(contents()).toBe(before);
    await close();
  });
});

describe("SEC-18, R-098 keys that mean something to JavaScript are data over HTTP", () => {
  const text =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"a":[{"__proto__":[1]}]}';

  test("in params and in events, at every depth, there and back", async () => {
    const { app, send } = await begin();
    await send("/order/instances", `{"id":"odd","params":${text}}`);
    await send("/order/instances/odd/events", `{"type":"noted","payload":${text}}`);
    await send("/order/instances/batch", `{"instances":[{"id":"odd-2","params":${text}}]}`);
    const get = async (path: string) => (await app.fetch(new Request(`http://localhost${path}`))).text();
    for (const id of ["odd", "odd-2"])
      expect(await get(`/order/instances/${id}`)).toContain(`"params":${text}`);
    expect(await get("/order/instances/odd/history")).toContain(`"payload":${text}`);
    expect((await app.workflows.QUICK.create({ id: "q", params: JSON.parse(text) })).id).toBe("q");
    await app.tick();
    expect(await get("/quick/instances/q")).toContain(`"output":${text}`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("as fields of a body they are fields that nobody knows", async () => {
    const { send, contents } = await begin();
    const before = contents();
    for (const { path, route } of writes) {
      for (const key of ["__proto__", "constructor", "toString"]) {
        const { status, code } = await send(path, `{"${key}":{"id":"x"}}`);
        expect([status, code], route.action).toEqual([400, "INVALID_ARGUMENT"]);
      }
    }
    expect(contents()).toBe(before);
  });
});

describe("SEC-22 nobody can give what is the engine's to say", () => {
  const smuggled = {
    runNumber: 7,
    status: "complete",
    output: "stolen",
    error: { name: "Error", message: "planted" },
    createdAt: "2020-01-01T00:00:00Z",
    updatedAt: 1,
    completedAt: 1,
    dueAt: 1,
    deadLetter: true,
    parent: { workflowName: "order", instanceId: "x" },
    history: [],
    lease: { owner: "thief", until: 9e15 },
    workflowName: "other",
    tx: {},
    system: true,
    forStep: "charge",
    bufferMax: 1,
  };

  test.each(Object.entries(smuggled))("%s is refused in every body, and by name", async (field, value) => {
    const { send, contents } = await begin();
    const before = contents();
    for (const { path, body, route } of writes) {
      const { code, answer } = await send(path, JSON.stringify({ ...(body as object), [field]: value }));
      expect([code, answer.error.message], route.action).toEqual([
        "INVALID_ARGUMENT",
        expect.stringContaining(field),
      ]);
    }
    const inBatch = await send(
      "/order/instances/batch",
      JSON.stringify({ instances: [{ id: "b", [field]: value }] }),
    );
    expect(inBatch.code).toBe("INVALID_ARGUMENT");
    expect(contents()).toBe(before);
  });
});

/** How a request goes on when it does not go well. */
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ScriptedAnswer,
  ScriptedServer,
  type ScriptedStream,
} from "../../../../tests/support/scripted-server.ts";
import { createFakeRuntime, type FakeRuntime } from "../testing/fake-runtime.ts";
import { type Client, type ClientOptions, createClient, EverstepError } from "./index.ts";

let server: ScriptedServer;
let runtime: FakeRuntime;

beforeEach(async () => {
  server = await ScriptedServer.open();
  runtime = createFakeRuntime();
});
afterEach(() => server.close());

function clientWith(options: Partial<ClientOptions> = {}): Client {
  return createClient({ url: server.url, runtime: { ...runtime, float: () => 0 }, ...options });
}

/** The client has nothing to do for exactly this long. */
async function waitsFor(ms: number): Promise<void> {
  await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + ms);
  await runtime.advance(ms);
}

const fine = { json: { workflows: [] } };
const problem = (status: number, code: string, headers = {}, details = {}) => ({
  status,
  headers,
  json: { error: { code, message: `It is ${code}.`, details, docs: "" } },
});

describe("a passing failure is tried again", () => {
  test.each<[string, ScriptedAnswer]>([
    ["no answer", "drop"],
    ["500", problem(500, "INTERNAL_ERROR")],
    ["a proxy's 502", { status: 502, text: "<html>Bad Gateway</html>" }],
    ["503", problem(503, "STORE_UNAVAILABLE")],
    ["429", problem(429, "EVENT_BUFFER_FULL")],
    [
      "an answer that breaks off",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write('{"workflows":', () => response.destroy());
      },
    ],
  ])("twice, after 500 and 1000 ms: %s", async (_what, failure) => {
    server.script(failure, failure, fine);
    const workflows = clientWith().workflows();
    await waitsFor(500);
    await waitsFor(1000);
    expect(await workflows).toEqual([]);
    expect(server.requests).toHaveLength(3);
  });

  test("when no answer has come within the timeout, and the request is cut", async () => {
    server.script("hang", fine);
    const workflows = clientWith({ timeout: 2000 }).workflows();
    await runtime.waitUntil(() => server.requests.length === 1);
    await waitsFor(2000);
    await runtime.waitUntil(() => server.requests[0]?.isGone());
    await waitsFor(500);
    expect(await workflows).toEqual([]);
  });

  test("but an audit or an export may take minutes", async () => {
    const instance = clientWith().workflow("order").get("o-1");
    for (const act of [() => clientWith().verify(), () => instance.exportHistory()]) {
      server.script("hang", {
        json: { summary: "", violations: [], warnings: [], unreadable: [], format: "" },
      });
      const before = server.requests.length;
      const done = act();
      await runtime.waitUntil(() => server.requests.length === before + 1);
      await waitsFor(310_000);
      await waitsFor(500);
      await done;
    }
  });

  test("when the answer has begun and does not end within the timeout", async () => {
    server.script((response) => void response.writeHead(200).write('{"workflows'), fine);
    const workflows = clientWith().workflows();
    await runtime.waitUntil(() => server.requests.length === 1);
    await waitsFor(15_000);
    await waitsFor(500);
    expect(await workflows).toEqual([]);
  });

  test("when the server says so, but not later than the timeout", async () => {
    server.script(
      problem(503, "STORE_BUSY", { "retry-after": "7" }),
      problem(503, "STORE_BUSY", { "retry-after": "3600" }),
      fine,
    );
    const workflows = clientWith().workflows();
    await waitsFor(7000);
    await waitsFor(15_000);
    expect(await workflows).toEqual([]);
  });

  test("as often and as soon as the caller says", async () => {
    server.script("drop", "drop");
    const workflows = clientWith({ retries: 1, retryDelay: 20 }).workflows();
    workflows.catch(() => {});
    await waitsFor(20);
    await expect(workflows).rejects.toMatchObject({ code: "CONNECTION_FAILED", details: { tries: 2 } });
  });

  test("with the same body and the same key, and headers that are asked for anew", async () => {
    let asked = 0;
    const headers = async () => ({ authorization: `Bearer ${++asked}` });
    server.script("drop", problem(500, "INTERNAL_ERROR"), { json: { ok: true } });
    const terminated = clientWith({ headers }).workflow("order").get("o-1").terminate({ reason: "x" });
    await waitsFor(500);
    await waitsFor(1000);
    await terminated;
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer 1",
      "Bearer 2",
      "Bearer 3",
    ]);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    expect(new Set(server.requests.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
  });

  test.each([
    [
      "an event",
      (client: Client) => client.workflow("order").get("o-1").sendEvent({ type: "x" }),
      { status: {} },
    ],
    ["a publication", (client: Client) => client.publish("x", 1), { waiters: 0 }],
    ["a new instance", (client: Client) => client.workflow("order").create(), { id: "" }],
    ["a batch", (client: Client) => client.workflow("order").createBatch([{}]), { instances: [] }],
    ["a fork", (client: Client) => client.workflow("order").get("o-1").fork(), { id: "" }],
  ])("with the same id or key: %s", async (_what, act, json) => {
    server.script("drop", { json });
    const done = act(clientWith());
    await waitsFor(500);
    await done;
    const [first, second] = server.requests;
    expect(first!.body).toMatch(/"(id|newId|idempotencyKey)":"/);
    expect(second!.body).toBe(first!.body);
  });
});

describe("restartOrCreate, which would restart what it has created,", () => {
  test.each<[string, ScriptedAnswer]>([
    ["no answer", "drop"],
    ["500", problem(500, "INTERNAL_ERROR")],
  ])("is not tried again after %s", async (_what, failure) => {
    server.script(failure);
    await expect(clientWith().workflow("order").restartOrCreate("o-1")).rejects.toBeInstanceOf(EverstepError);
    expect(server.requests).toHaveLength(1);
  });

  test("is tried again when it was refused for the moment", async () => {
    server.script(problem(429, "EVENT_BUFFER_FULL"), { json: { outcome: "created" } });
    const done = clientWith().workflow("order").restartOrCreate("o-1");
    await waitsFor(500);
    expect(await done).toEqual({ outcome: "created" });
  });
});

describe("other failures are not tried again", () => {
  test.each([
    [400, "INVALID_BODY"],
    [401, "UNAUTHORIZED"],
    [403, "FORBIDDEN"],
    [404, "INSTANCE_NOT_FOUND"],
    [409, "INSTANCE_TERMINAL"],
    [413, "PAYLOAD_TOO_LARGE"],
  ])("%i %s is thrown with what the server said", async (status, code) => {
    server.script(problem(status, code, {}, { why: "so" }));
    const failed = await clientWith()
      .workflows()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(EverstepError);
    expect(failed).toMatchObject({ code, message: `It is ${code}.`, details: { why: "so", status } });
    expect(server.requests).toHaveLength(1);
  });

  test("a code that this version does not know is passed on", async () => {
    server.script(problem(409, "FROM_THE_FUTURE"));
    await expect(clientWith().workflows()).rejects.toMatchObject({ code: "FROM_THE_FUTURE" });
  });

  test.each<[string, Exclude<ScriptedAnswer, string | ScriptedStream | ((...args: never) => void)>]>([
    ["a page of somebody else", { status: 200, text: "<html>", headers: { "content-type": "text/html" } }],
    ["JSON of somebody else", { json: { hello: "world" } }],
    ["JSON that is no object", { json: [1] }],
    ["no content", { status: 204, text: "" }],
    ["a 404 of somebody else", { status: 404, text: "not found" }],
    ["a problem of somebody else", { status: 400, json: { error: "bad" } }],
    ["a problem with an odd code", { status: 400, json: { error: { code: "bad code", message: "" } } }],
  ])("%s is not understood, and said to be so", async (_what, answer) => {
    server.script(answer);
    await expect(clientWith().workflows()).rejects.toMatchObject({
      code: "ANSWER_NOT_UNDERSTOOD",
      message: expect.stringContaining("/workflows"),
      details: { status: answer.status ?? 200 },
    });
  });
});

describe("when nobody answers", () => {
  test("the error says who was asked, how often, why it failed and what to do", async () => {
    const { url } = server;
    await server.close();
    const failed = createClient({ url, retries: 1, retryDelay: 1 }).workflows();
    await expect(failed).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringMatching(
        /^No answer to GET http:\S+\/workflows, tried 2 times: connect ECONNREFUSED .* Is the server running/,
      ),
      details: { url: `${url}/workflows`, tries: 2 },
    });
    server = await ScriptedServer.open();
  });

  test("a write may have been carried out, and the error names the instance to look for", async () => {
    server.script("drop");
    const failed = clientWith({ retries: 0 }).workflow("order").create();
    await expect(failed).rejects.toMatchObject({
      code: "CONNECTION_FAILED",
      message: expect.stringContaining("may have been carried out"),
      details: { workflowName: "order", instanceId: expect.any(String) },
    });
  });

  test("the last answer of a server that keeps failing is thrown", async () => {
    server.script(problem(503, "STORE_UNAVAILABLE"));
    const failed = clientWith({ retries: 0 }).workflows();
    await expect(failed).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", details: { status: 503 } });
  });
});

describe("redirects are refused, so that credentials stay where they belong (SEC-28)", () => {
  test.each([301, 302, 303, 307, 308])("%i to another origin", async (status) => {
    const elsewhere = await ScriptedServer.open();
    const location = `${elsewhere.url}/workflows`;
    server.script({ status, headers: { location }, text: "" });
    const failed = clientWith({ headers: { authorization: "Bearer secret" } }).workflows();
    await expect(failed).rejects.toMatchObject({
      code: "ANSWER_NOT_UNDERSTOOD",
      message: expect.stringContaining(`redirects to ${location}`),
      details: { location },
    });
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests).toHaveLength(1);
    await elsewhere.close();
  });

  test("and what else would come is not waited for", async () => {
    server.script((response) => void response.writeHead(302, { location: "/x" }).write("more is to come"));
    await expect(clientWith().workflows()).rejects.toThrow("redirects to /x");
    await runtime.waitUntil(() => server.requests[0]?.isGone());
  });

  test("of streams too", async () => {
    server.script({ status: 302, headers: { location: "http://127.0.0.1:1/x" }, text: "" });
    const next = clientWith().watchInstances()[Symbol.asyncIterator]().next();
    await expect(next).rejects.toThrow("redirects to http://127.0.0.1:1/x");
  });

  test("also where a browser does not say where to, or a fetch has followed already", async () => {
    const opaque = {
      type: "opaqueredirect",
      status: 0,
      ok: false,
      headers: new Headers(),
      redirected: false,
    };
    const followed = {
      ...opaque,
      type: "basic",
      status: 200,
      ok: true,
      redirected: true,
      url: "http://other/",
    };
    const answering = (response: object) => clientWith({ fetch: async () => response as Response });
    await expect(answering(opaque).workflows()).rejects.toThrow("redirects elsewhere");
    await expect(answering(followed).workflows()).rejects.toThrow("redirects to http://other/");
  });
});

describe("the caller's signal", () => {
  test("ends the request under way", async () => {
    server.script("hang");
    const controller = new AbortController();
    const workflows = clientWith().workflows({ signal: controller.signal });
    workflows.catch(() => {});
    await runtime.waitUntil(() => server.requests.length === 1);
    controller.abort(new Error("enough"));
    await expect(workflows).rejects.toThrow("enough");
    await runtime.waitUntil(() => server.requests[0]?.isGone());
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("ends the wait for the next try", async () => {
    server.script("drop");
    const controller = new AbortController();
    const workflows = clientWith().workflows({ signal: controller.signal });
    workflows.catch(() => {});
    await runtime.waitUntil(() => runtime.nextTimerAt() === runtime.now() + 500);
    controller.abort(new Error("enough"));
    await expect(workflows).rejects.toThrow("enough");
    expect(runtime.nextTimerAt()).toBeNull();
  });

  test("that has been given before lets nothing be sent", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(clientWith().workflows({ signal })).rejects.toThrow("enough");
    expect(server.requests).toEqual([]);
  });
});

describe("headers", () => {
  test("that fail fail the call as they did, and nothing is sent", async () => {
    const headers = () => Promise.reject(new Error("no token"));
    await expect(clientWith({ headers }).workflows()).rejects.toThrow("no token");
    expect(server.requests).toEqual([]);
  });

  test("with line breaks are refused, and nothing is sent (SEC-9)", async () => {
    const failed = clientWith({ headers: { authorization: "a\r\nx-admin: 1" } }).workflows();
    await expect(failed).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(server.requests).toEqual([]);
  });

  test("that are never given are not waited for without end", async () => {
    const failed = clientWith({ headers: () => new Promise(() => {}) }).workflows();
    failed.catch(() => {});
    await waitsFor(15_000);
    await expect(failed).rejects.toThrow("gave no headers within 15000 ms");
  });

  test("are not shown by the client, nor by its errors", async () => {
    server.script("drop", problem(401, "UNAUTHORIZED"));
    const client = clientWith({ headers: { authorization: "Bearer canary" }, retries: 0 });
    const errors = [await client.workflows().catch(String), await client.workflows().catch((error) => error)];
    const shown = [client, client.workflow("order"), client.workflow("order").get("o-1"), ...errors];
    expect(inspect(shown, { depth: 20, showHidden: true }) + JSON.stringify(shown)).not.toContain("canary");
  });
});

test("no timer is left when an answer has come", async () => {
  server.script(fine);
  await clientWith().workflows();
  expect(runtime.nextTimerAt()).toBeNull();
});

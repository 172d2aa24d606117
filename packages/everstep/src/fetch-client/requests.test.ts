/** Which request each call makes, and what it gives back. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedServer } from "../../../../tests/support/scripted-server.ts";
import { type Client, createClient, EverstepError } from "./index.ts";

let server: ScriptedServer;
let client: Client;

beforeAll(async () => {
  server = await ScriptedServer.open("/api/flows");
  client = createClient({ url: `${server.url}/` });
});
afterAll(() => server.close());

const order = () => client.workflow("order");
const instance = () => order().get("o-1");
const page = { instances: [], hasNextPage: false };
const details = { id: "o-1", details: { status: "active" }, meta: { runNumber: 1 } };

type Case = [request: string, act: () => Promise<unknown>, answer: object, expected?: unknown];

test.each<Case>([
  ["/workflows", () => client.workflows(), { workflows: [{ name: "order" }] }, [{ name: "order" }]],
  ["/workflows/order", () => order().details(), { name: "order" }],
  ["/workflows/order/instances", () => order().list(), page],
  [
    "/workflows/order/instances?status=active&status=waiting&pageSize=5&cursor=c&order=asc&deadLetter=true&include=meta",
    () =>
      order().list({
        status: ["active", "waiting"],
        pageSize: 5,
        cursor: "c",
        order: "asc",
        deadLetter: true,
        meta: true,
      }),
    page,
  ],
  ["/workflows/order/instances/o-1", () => instance().details(), details],
  ["/workflows/order/instances/o-1", () => instance().status(), details, { status: "active" }],
  [
    "/workflows/order/instances/o-1/history?runNumber=2&includeLogs=true&logLevel=warn",
    () => instance().history({ runNumber: 2, includeLogs: true, logLevel: "warn" }),
    { steps: [], events: [] },
  ],
  ["/workflows/order/instances/o-1/logs?level=info", () => instance().logs({ level: "info" }), { logs: [] }],
  ["/workflows/order/instances/o-1/runs", () => instance().runs(), { runs: [details] }, [details]],
  ["/workflows/order/instances/o-1/why", () => instance().why(), { reason: "no-runner" }],
  [
    "/workflows/order/instances/o-1/export?runNumber=3",
    () => instance().exportHistory({ runNumber: 3 }),
    { format: "everstep-history" },
  ],
  [
    "/instances?createdFrom=2026-01-31T12%3A00%3A00.000Z&createdBefore=1800000000000&idPrefix=o-&brief=true",
    () =>
      client.instances({
        createdFrom: new Date("2026-01-31T12:00:00Z"),
        createdBefore: 1_800_000_000_000,
        idPrefix: "o-",
        brief: true,
      }),
    page,
  ],
  ["/topics?pageSize=2", () => client.topics({ pageSize: 2 }), { topics: [], hasNextPage: false }],
  ["/overview", () => client.overview(), { counts: {} }],
  ["/runners", () => client.runners(), { runners: [{ id: "r" }] }, [{ id: "r" }]],
  [
    "/activity?minutes=5&workflowName=order",
    () => client.activity({ minutes: 5, workflowName: "order" }),
    { buckets: [] },
  ],
  ["/access?workflowName=order", () => client.access({ workflowName: "order" }), { management: false }],
  ["/instances?status=errored", () => client.instances({ status: "errored" }), page],
  ["/dead-letters?workflowName=order", () => client.deadLetters({ workflowName: "order" }), page],
  ["/counts", () => client.counts(), { counts: { active: 1 } }, { active: 1 }],
  ["/counts?workflowName=order", () => client.counts("order"), { counts: { active: 1 } }, { active: 1 }],
  ["/topics/a%3Ab/waiters?pageSize=2", () => client.waiters("a:b", { pageSize: 2 }), { waiters: [] }],
  [
    "/verify?limit=10&doubts=true",
    () => client.verify({ limit: 10, doubts: true }),
    { summary: "", violations: [], warnings: [], unreadable: [] },
  ],
  ["/healthz", () => client.health(), { store: "ok" }],
  ["/openapi.json", () => client.openapi(), { openapi: "3.1.0" }],
])("GET %s", async (request, act, answer, expected = answer) => {
  server.script({ json: answer });
  expect(await act()).toEqual(expected);
  const { method, url, headers } = server.requests.at(-1)!;
  expect([method, url]).toEqual(["GET", `/api/flows${request}`]);
  expect(headers.accept).toBe("application/json");
});

type Write = [request: string, act: () => Promise<unknown>, body: object, answer: object, expected?: unknown];
const ok = { ok: true };

test.each<Write>([
  ["/workflows/order/instances/o-1/pause", () => instance().pause(), {}, ok],
  ["/workflows/order/instances/o-1/resume", () => instance().resume(), {}, ok],
  [
    "/workflows/order/instances/o-1/terminate",
    () => instance().terminate({ reason: "x" }),
    { reason: "x" },
    ok,
  ],
  ["/workflows/order/instances/o-1/restart", () => instance().restart(), {}, ok],
  ["/workflows/order/instances/o-1/restart", () => instance().restart({ from: "pay" }), { from: "pay" }, ok],
  [
    "/workflows/order/instances/o-1/rewind",
    () => instance().rewind({ name: "pay", count: 2 }),
    { step: { name: "pay", count: 2 } },
    ok,
  ],
  [
    "/workflows/order/instances/o-1/retry-failed-step",
    () => instance().retryFailedStep({ delay: "1 minute" }),
    { delay: "1 minute" },
    ok,
  ],
  ["/workflows/order/instances/o-1/skip-sleep", () => instance().skipSleep(), {}, ok],
])("POST %s carries a key that makes it safe to repeat", async (request, act, body, answer) => {
  server.script({ json: answer }, { json: answer });
  await act();
  await act();
  const [first, second] = server.requests.slice(-2);
  expect([first!.method, first!.url]).toEqual(["POST", `/api/flows${request}`]);
  expect(first!.headers["content-type"]).toBe("application/json");
  expect(JSON.parse(first!.body)).toEqual(body);
  expect(first!.headers["idempotency-key"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(second!.headers["idempotency-key"]).not.toBe(first!.headers["idempotency-key"]);
});

test("a process is killed once: no answer is not taken for a refusal", async () => {
  server.script({ json: ok }, "drop");
  await client.kill();
  const { method, url, body } = server.requests.at(-1)!;
  expect([method, url, body]).toEqual(["POST", "/api/flows/_dev/kill", "{}"]);
  const count = server.requests.length;
  await expect(client.kill()).rejects.toBeInstanceOf(EverstepError);
  expect(server.requests).toHaveLength(count + 1);
});

test("a key of the caller's own is sent as it is", async () => {
  server.script({ json: ok });
  await instance().pause({ idempotencyKey: "ticket-7" });
  expect(server.requests.at(-1)!.headers["idempotency-key"]).toBe("ticket-7");
  const broken = instance().pause({ idempotencyKey: "a\r\nx-admin: 1" });
  await expect(broken).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

describe("what is created", () => {
  const created = { status: 201, json: { id: "o-1", details: { status: "active" } } };
  const body = () => JSON.parse(server.requests.at(-1)!.body);

  test("has the id and everything else the caller says", async () => {
    server.script(created);
    const startAt = new Date("2026-01-01");
    const options = {
      id: "o-1",
      params: { n: 1 },
      ifExists: "return",
      startAt,
      retention: "7 days",
    } as const;
    const one = await order().create(options);
    expect([one.workflowName, one.id]).toEqual(["order", "o-1"]);
    expect(server.requests.at(-1)!.url).toBe("/api/flows/workflows/order/instances");
    expect(body()).toEqual({ ...options, startAt: "2026-01-01T00:00:00.000Z" });
  });

  test("has an id of the client's without one", async () => {
    server.script(created);
    const one = await order().create();
    expect(body()).toEqual({ id: one.id });
    expect(one.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("in a batch: the answer has what is new", async () => {
    server.script({ json: { instances: [{ id: "b", details: { status: "active" } }] } });
    const batch = await order().createBatch([{ id: "a", params: 1 }, { id: "b" }]);
    expect(batch.map(({ id }) => id)).toEqual(["b"]);
    expect(server.requests.at(-1)!.url).toBe("/api/flows/workflows/order/instances/batch");
    expect(body()).toEqual({ instances: [{ id: "a", params: 1 }, { id: "b" }] });
  });

  test("by a fork is another instance", async () => {
    server.script(created, created);
    expect((await instance().fork({ newId: "o-2", from: "pay" })).id).toBe("o-2");
    expect(body()).toEqual({ newId: "o-2", from: "pay" });
    const other = await instance().fork();
    expect(body()).toEqual({ newId: other.id });
  });

  test("or restarted, as the server finds it", async () => {
    const answer = { outcome: "restarted", id: "o-1", details: { status: "active" } };
    server.script({ json: answer });
    const when = { statuses: ["errored"] } as const;
    expect(await order().restartOrCreate("o-1", { params: 1, when })).toEqual(answer);
    const { url, headers } = server.requests.at(-1)!;
    expect(url).toBe("/api/flows/workflows/order/instances/o-1/restart-or-create");
    expect(headers["idempotency-key"]).toBeDefined();
    expect(body()).toEqual({ params: 1, when });
  });
});

describe("events", () => {
  const body = () => JSON.parse(server.requests.at(-1)!.body);

  test("are sent with an id, so that they arrive once", async () => {
    server.script({ json: { status: { status: "waiting" } } }, { json: { status: { status: "waiting" } } });
    expect(await instance().sendEvent({ type: "paid", payload: { sum: 1 } })).toEqual({ status: "waiting" });
    expect(server.requests.at(-1)!.url).toBe("/api/flows/workflows/order/instances/o-1/events");
    expect(body()).toEqual({
      type: "paid",
      payload: { sum: 1 },
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    await instance().sendEvent({ type: "paid", idempotencyKey: "e-1" });
    expect(body()).toEqual({ type: "paid", idempotencyKey: "e-1" });
  });

  test("are published with a key, so that they arrive once", async () => {
    server.script({ json: { waiters: 2 } }, { json: { waiters: 0 } });
    expect(await client.publish("prices:eur", 7)).toEqual({ waiters: 2 });
    expect(server.requests.at(-1)!.url).toBe("/api/flows/topics/prices%3Aeur");
    expect(body()).toEqual({ payload: 7, idempotencyKey: expect.any(String) });
    await client.publish("prices", undefined, { idempotencyKey: "p-1" });
    expect(body()).toEqual({ idempotencyKey: "p-1" });
  });
});

test("types of params and output come from the caller, or from the definition", () => {
  type Order = {
    readonly name: string;
    readonly "~types"?: { readonly params: { id: number }; readonly output: string };
  };
  const typed = client.workflow<Order>("order");
  const output = async (): Promise<string | undefined> => (await typed.get("o-1").result()).output;
  // @ts-expect-error the params are missing
  const without = () => typed.create();
  // @ts-expect-error the params are others
  const wrong = () => client.workflow<{ id: number }, string>("order").create({ params: { id: "1" } });
  expect([output, without, wrong]).toHaveLength(3);
});

describe("nothing is sent", () => {
  const count = () => server.requests.length;

  test.each<[string, () => unknown, string]>([
    ["for an instance whose id leads elsewhere", () => order().get("../x"), "INVALID_INSTANCE_ID"],
    ["for a workflow whose name leads elsewhere", () => client.workflow(".."), "INVALID_WORKFLOW_NAME"],
    [
      "for a new instance whose id leads elsewhere",
      () => order().create({ id: "a/b" }),
      "INVALID_INSTANCE_ID",
    ],
    ["for a batch with such an id", () => order().createBatch([{ id: "." }]), "INVALID_INSTANCE_ID"],
    ["for a fork with such an id", () => instance().fork({ newId: "" }), "INVALID_INSTANCE_ID"],
    ["to restart such an id", () => order().restartOrCreate(".."), "INVALID_INSTANCE_ID"],
    ["to a topic that leads elsewhere", () => client.publish("a/../b"), "INVALID_TOPIC"],
    ["for waiters of such a topic", () => client.waiters(".."), "INVALID_TOPIC"],
    ["for params that are no JSON", () => order().create({ params: 1n }), "VALUE_NOT_SERIALIZABLE"],
    ["for a batch that is none", () => order().createBatch({} as never), "INVALID_ARGUMENT"],
    ["for an event that is none", () => instance().sendEvent(undefined as never), "INVALID_EVENT_TYPE"],
  ])("%s", async (_what, act, code) => {
    const before = count();
    await expect((async () => act())()).rejects.toMatchObject({ name: "EverstepError", code });
    expect(count()).toBe(before);
  });
});

test.each([
  ["timeout", 0, "INVALID_DURATION"],
  ["timeout", Number.POSITIVE_INFINITY, "INVALID_DURATION"],
  ["retries", -1, "INVALID_ARGUMENT"],
  ["retries", 1.5, "INVALID_ARGUMENT"],
  ["retryDelay", "soon", "INVALID_DURATION"],
  ["fetch", "fetch", "INVALID_ARGUMENT"],
])("createClient refuses a %s of %j", (name, value, code) => {
  const create = (): unknown => createClient({ url: server.url, [name]: value });
  expect(create).toThrow(expect.objectContaining({ code, message: expect.stringContaining(name) }));
});

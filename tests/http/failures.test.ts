/** What callers hear when something fails inside: a code, a reference, and nothing else. */
import { allowAll, createHandler, EverstepError } from "everstep";
import { type StoreVerb, storeFailure } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { StoreError } from "../../packages/everstep/src/model/error.ts";
import { everyRoute, requestOf, type SampleRequest, sampleRequests } from "./support/sample-requests.ts";
import { createWatched } from "./support/watched-app.ts";

const secret = 'select * from "run" at postgres://admin:hunter2@db.internal:5432/prod';

async function begin() {
  const watched = createWatched();
  await watched.app.workflows.ORDER.create({ id: "waiting-1" });
  await watched.app.workflows.FLAKY.create({ id: "failed-1" });
  await watched.app.tick();
  await watched.runtime.advance("2 minutes");
  await watched.app.tick();
  watched.problems.length = 0;
  const handler = createHandler(watched.app, { authorize: allowAll(), ...everyRoute });
  return {
    ...watched,
    /** Every call to the store fails with this. */
    break: (error: unknown) => watched.store.plan(() => () => Promise.reject(error)),
    async ask(sample: SampleRequest, headers = {}) {
      const answer = handler(requestOf(sample, headers));
      await watched.runtime.advance("1 minute");
      const response = await answer;
      const text = await response.text();
      return { status: response.status, text, error: JSON.parse(text).error, headers: response.headers };
    },
  };
}

/** Those that need no store to answer. */
const storeless = ["listWorkflows", "access", "kill", "openapi", "live"];
const needy = sampleRequests.filter(({ route }) => !["ready", "health", ...storeless].includes(route.action));

const failures: readonly (readonly [string, () => unknown, number, string])[] = [
  ["fails for good", () => new StoreError("fatal", "STORE_FAILED", secret), 500, "INTERNAL_ERROR"],
  ["throws what no store should", () => new TypeError(secret), 500, "INTERNAL_ERROR"],
  ["throws text", () => secret, 500, "INTERNAL_ERROR"],
  ["says a row cannot be read", () => new EverstepError("HISTORY_UNREADABLE", secret), 500, "INTERNAL_ERROR"],
  ["has no room", () => new StoreError("fatal", "STORE_FULL", secret), 503, "STORE_FULL"],
  ["may only be read", () => new StoreError("fatal", "STORE_READ_ONLY", secret), 503, "STORE_READ_ONLY"],
  ["was closed", () => new StoreError("fatal", "STORE_CLOSED", secret), 503, "STORE_CLOSED"],
  [
    "takes nothing that large",
    () => new StoreError("too-large", "PAYLOAD_TOO_LARGE", secret),
    413,
    "PAYLOAD_TOO_LARGE",
  ],
];

describe.each(failures)("SEC-30 a store that %s", (_how, make, status, code) => {
  // An audit lists what it could not read, which is what it is for.
  const isListed = (action: string) => action === "verify" && code === "INTERNAL_ERROR";
  test.each(needy.filter(({ route }) => !isListed(route.action)))("$route.action", async (sample) => {
    const world = await begin();
    world.break(make());
    const { error, text, ...answer } = await world.ask(sample);
    expect([answer.status, error.code]).toEqual([status, code]);
    for (const part of ["select", "hunter2", "db.internal", "postgres", "\\n", ".ts:"])
      expect(text).not.toContain(part);
    const told = world.problems.filter((problem) =>
      String((problem as Error).message).includes(error.details.reference),
    );
    expect(told).toHaveLength(1);
    expect(String((told[0] as Error).message)).toContain(secret);
  });
});

describe("SEC-30 a store that is out of reach", () => {
  test.each(needy)("$route.action says so in time, and when to come back", async (sample) => {
    const world = await begin();
    world.break(storeFailure("unavailable"));
    const { status, error, headers } = await world.ask(sample);
    expect([status, error.code, headers.get("retry-after")]).toEqual([503, "STORE_UNAVAILABLE", "2"]);
  });

  test.each(needy.filter(({ route }) => !route.isLong))(
    "$route.action does not wait for ever",
    async (sample) => {
      const world = await begin();
      world.store.plan(() => () => new Promise(() => {}));
      const { status, error } = await world.ask(sample);
      expect([status, error.code]).toEqual([503, "STORE_UNAVAILABLE"]);
      expect(error.message).toContain("no outcome within 12 seconds; it may still come");
    },
  );

  test.each(needy.filter(({ route }) => route.stream))(
    "a stream of $route.action does not open",
    async (sample) => {
      const world = await begin();
      let comeBack = (): void => {};
      const back = new Promise<void>((resolve) => {
        comeBack = resolve;
      });
      world.store.plan(() => (apply) => back.then(apply));
      const { status, error } = await world.ask(sample, { accept: "text/event-stream" });
      expect([status, error.code]).toEqual([503, "STORE_UNAVAILABLE"]);
      comeBack();
      await world.runtime.advance("1 minute");
      // What opened too late was closed again: nobody looks any more.
      expect(world.runtime.nextTimerAt()).toBeNull();
    },
  );

  test("what has no store to ask is answered all the same", async () => {
    const world = await begin();
    world.break(storeFailure("unavailable"));
    for (const sample of sampleRequests.filter(({ route }) => storeless.includes(route.action)))
      expect((await world.ask(sample)).status, sample.route.action).toBe(200);
  });

  test("an app that was stopped says so", async () => {
    const world = await begin();
    await world.app.stop();
    for (const sample of needy) {
      const { status, error } = await world.ask(sample);
      expect([status, error.code], sample.route.action).toEqual([503, "APP_STOPPED"]);
    }
  });
});

describe("SEC-26 whether the service is well", () => {
  const [health, live, ready] = ["health", "live", "ready"].map(
    (action) => sampleRequests.find(({ route }) => route.action === action)!,
  ) as [SampleRequest, SampleRequest, SampleRequest];

  test("everybody may know that it lives and is ready, and nothing else", async () => {
    const { app } = await begin();
    const closed = createHandler(app);
    for (const sample of [live, ready]) {
      const response = await closed(requestOf(sample));
      expect([response.status, await response.text()]).toEqual([200, '{"ok":true}']);
    }
    expect((await closed(requestOf(health))).status).toBe(403);
  });

  test.each([
    ["is out of reach", () => storeFailure("unavailable")],
    ["fails", () => new TypeError(secret)],
    ["says nothing", () => null],
  ])(
    "a store that %s makes it not ready, with nothing said about why but to those who may know",
    async (_how, make) => {
      const world = await begin();
      const error = make();
      world.store.plan(() => () => (error === null ? new Promise(() => {}) : Promise.reject(error)));
      expect(await world.ask(ready)).toMatchObject({ status: 503, text: '{"ok":false}' });
      expect(await world.ask(live)).toMatchObject({ status: 200, text: '{"ok":true}' });
      const { status, text } = await world.ask(health);
      expect([status, JSON.parse(text)]).toMatchObject([
        503,
        { ok: false, store: { reachable: false, migrationsPending: null } },
      ]);
      expect(text).not.toContain("hunter2");
    },
  );

  test("an app that stops is not ready any more", async () => {
    const world = await begin();
    await world.app.stop();
    expect(await world.ask(ready)).toMatchObject({ status: 503 });
    expect(await world.ask(live)).toMatchObject({ status: 200 });
  });
});

describe("SEC-31 reads are bounded", () => {
  test.each(sampleRequests.filter(({ route }) => Object.hasOwn(route.query, "pageSize")))(
    "$route.action gives a hundred entries at most, and asks the store for no more",
    async (sample) => {
      const world = await begin();
      const limits: unknown[] = [];
      world.store.plan(({ args }) => {
        limits.push(...args.map((each) => (each as { limit?: number } | undefined)?.limit));
        return null;
      });
      const { status, error } = await world.ask({ ...sample, path: `${sample.path}?pageSize=101` });
      expect([status, error.code]).toEqual([400, "INVALID_ARGUMENT"]);
      expect((await world.ask({ ...sample, path: `${sample.path}?pageSize=100` })).status).toBe(200);
      expect(limits.filter((limit) => typeof limit === "number" && limit > 500)).toEqual([]);
    },
  );

  test("counting asks for counts, not for rows", async () => {
    const world = await begin();
    const verbs: StoreVerb[] = [];
    world.store.plan((call) => {
      verbs.push(...call.verbs);
      return null;
    });
    for (const sample of sampleRequests.filter(({ route }) =>
      ["counts", "getWorkflow"].includes(route.action),
    ))
      await world.ask(sample);
    expect(new Set(verbs)).toEqual(new Set(["countByStatus"]));
  });
});

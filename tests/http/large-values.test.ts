/** Whoever may read must not be able to fill the memory, however large the values are. */
import { type Authorize, allowAll } from "everstep";
import { describe, expect, test } from "vitest";
import type { Json } from "./support/checked-answer.ts";
import { createWatched } from "./support/watched-app.ts";

const mebibyte = 1024 * 1024;
const large = "x".repeat(mebibyte - 1000);

async function begin(instances: number, authorize: Authorize = allowAll()) {
  const { app, runtime, problems } = createWatched({ authorize });
  for (let n = 0; n < instances; n++) await app.workflows.QUICK.create({ id: `q-${n}`, params: large });
  while ((await app.tick()).processed > 0);
  const ask = (path: string, init?: RequestInit): Promise<Response> =>
    app.fetch(new Request(`http://localhost${path}`, init));
  const get = async (path: string): Promise<{ bytes: number; body: Json }> => {
    const text = await (await ask(path)).text();
    return { bytes: text.length, body: JSON.parse(text) };
  };
  return { app, ask, get, runtime, problems };
}

describe("lists", () => {
  test("are brief unless values are asked for; then pages end early and go on behind their cursor", async () => {
    const { get } = await begin(12);
    for (const list of [
      "/instances",
      "/workflows/quick/instances",
      "/workflows/quick/instances?include=meta",
    ]) {
      const path = `${list}${list.includes("?") ? "&" : "?"}pageSize=100`;
      const brief = await get(path);
      expect(brief.body.instances, list).toHaveLength(12);
      expect(brief.bytes, list).toBeLessThan(20_000);
      const ids: string[] = [];
      let cursor = "";
      do {
        const page = await get(`${path}&brief=false${cursor}`);
        expect(page.bytes, list).toBeLessThan(15 * mebibyte);
        expect(page.body.instances[0].details.output.length, list).toBe(large.length);
        ids.push(...page.body.instances.map(({ id }: Json) => id));
        cursor = page.body.hasNextPage ? `&cursor=${page.body.cursor}` : "";
      } while (cursor !== "");
      expect(ids, list).toEqual(Array.from({ length: 12 }, (_, n) => `q-${11 - n}`));
    }
  });

  test("of runs and streams of lists are always brief", async () => {
    const { app, ask, get } = await begin(1);
    await app.workflows.QUICK.at("q-0").restart();
    const runs = await get("/workflows/quick/instances/q-0/runs");
    expect([runs.body.runs.length, runs.bytes < 5000]).toEqual([2, true]);
    const headers = { accept: "text/event-stream" };
    const refused = await app.fetch(new Request("http://localhost/instances?brief=false", { headers }));
    expect((await refused.json()).error.code).toBe("INVALID_ARGUMENT");
    expect((await ask("/instances?brief=false")).status).toBe(200);
  });

  test("of steps, events and lines end early too", async () => {
    const { app, get } = await begin(0);
    await app.workflows.ORDER.create({ id: "o" });
    const instance = app.workflows.ORDER.at("o");
    for (let n = 0; n < 10; n++)
      await instance.sendEvent({ type: "other", payload: large, idempotencyKey: `e-${n}` });
    const path = "/workflows/order/instances/o/history?pageSize=100";
    const { bytes, body } = await get(path);
    expect(bytes).toBeLessThan(15 * mebibyte);
    expect([body.events.length < 10, body.eventsHasNextPage]).toEqual([true, true]);
    const rest = await get(`${path}&eventsCursor=${body.eventsCursor}`);
    const ids = [...body.events, ...rest.body.events].map(({ id }: Json) => id);
    expect(ids).toEqual(Array.from({ length: 10 }, (_, n) => `e-${n}`));
  });
});

test("of large answers that nobody takes only so many are made; others wait until one is given up", async () => {
  const { ask } = await begin(1);
  const path = "/workflows/quick/instances/q-0";
  const taken = await Promise.all(Array.from({ length: 16 }, () => ask(path)));
  let isThere = false;
  const next = ask(path).then((response) => {
    isThere = true;
    return response;
  });
  // Whatever is not large, and whatever is about the service, is answered all the same.
  expect((await ask("/instances")).status).toBe(200);
  expect((await ask("/livez")).status).toBe(200);
  expect(isThere).toBe(false);
  await taken[0]?.body?.cancel();
  expect((await (await next).json()).details.output).toBe(large);
  const bodies = await Promise.all(taken.slice(1).map((response) => response.text()));
  expect(new Set(bodies.map(({ length }) => length)).size).toBe(1);
  expect((await ask(path)).status).toBe(200);
});

test("who takes large answers slowly keeps nobody from small ones, and gives way to who waits for room", async () => {
  const { app, ask, runtime } = await begin(1);
  await app.workflows.QUICK.create({ id: "small", params: "s" });
  while ((await app.tick()).processed > 0);
  const slow = "/workflows/quick/instances/q-0";
  const exports = await Promise.all([1, 2].map(() => ask(`${slow}/export`)));
  const pages = await Promise.all(Array.from({ length: 14 }, () => ask(slow)));
  expect((await ask("/workflows/quick/instances/small")).status).toBe(200);
  // Nobody gives up anything, so whoever has had longest has to.
  const more = Array.from({ length: 4 }, () => ask(slow).then((response) => response.text()));
  await runtime.advance("3 seconds");
  for (const text of await Promise.all(more)) expect(text.length).toBeGreaterThan(mebibyte);
  await expect(exports[0]?.text()).rejects.toThrow("did not take its answer in time");
  for (const { body } of [...exports.slice(1), ...pages]) await body?.cancel().catch(() => {});
});

describe("one client that takes no answer", () => {
  /** Everybody may, and says who it is. */
  const authorize = { request: () => {} };
  const operator = { headers: { authorization: "Bearer operator" } };
  const screen = { headers: { authorization: "Bearer screen" } };

  test("keeps nobody else from theirs, large or small", async () => {
    const { app, ask, problems } = await begin(1, authorize);
    await app.workflows.QUICK.create({ id: "small", params: "s" });
    while ((await app.tick()).processed > 0);
    const one = "/workflows/quick/instances/q-0";
    const gone = new AbortController();
    const slow = ["/export", "", "/export", "/history"].flatMap((what) =>
      Array.from({ length: 6 }, () => ask(`${one}${what}`, { ...screen, signal: gone.signal })),
    );
    await Promise.race(slow);
    const small = "/workflows/quick/instances/small";
    for (const path of [small, `${small}/history`, `${small}/export`, one, `${one}/export`]) {
      const response = await ask(path, operator);
      expect([path, response.status]).toEqual([path, 200]);
      await response.text();
    }
    // What is small, it gets itself too.
    expect((await ask(small, screen)).status).toBe(200);
    gone.abort();
    for (const response of await Promise.all(slow)) await response.body?.cancel();
    expect((await (await ask(`${one}/export`, screen)).text()).length).toBeGreaterThan(mebibyte);
    expect(problems).toEqual([]);
  });

  test("is told that there are too many, not that the store is out of reach", async () => {
    const { app, ask, runtime } = await begin(0, authorize);
    await app.workflows.ORDER.create({ id: "o" });
    const instance = app.workflows.ORDER.at("o");
    for (let n = 0; n < 13; n++)
      await instance.sendEvent({ type: "other", payload: large, idempotencyKey: `e-${n}` });
    const one = "/workflows/order/instances/o";
    const exports = Array.from({ length: 8 }, () => ask(`${one}/export`, screen));
    await Promise.race(exports);
    let isThere = false;
    const page = ask(`${one}/history`, screen).finally(() => {
      isThere = true;
    });
    // Each of its answers is given up for the next one, but that takes longer than it waits.
    while (!isThere) await runtime.advance("1 second");
    const told = await page;
    expect([told.status, told.headers.get("retry-after")]).toEqual([503, "3"]);
    expect((await told.json()).error.code).toBe("TOO_MANY_LARGE_ANSWERS");
    expect((await (await ask(`${one}/history`, operator)).json()).events.length).toBeGreaterThan(3);
    for (const each of exports) void each.then(({ body }) => body?.cancel()).catch(() => {});
  });
});

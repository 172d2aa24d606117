import { expect, test } from "vitest";
import type { Json } from "../support/checked-answer.ts";
import { instancesOf, type World } from "../support/world.ts";

const nobody = { status: 404, code: "WORKFLOW_NOT_FOUND" };

export function overview(world: () => World): void {
  test("the overview says how it all is, as counts and the oldest of what is open", async () => {
    const path = await world().made("order");
    const { body } = await world().get("/overview");
    expect(body).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      now: new Date(world().runtime.now()).toISOString(),
      counts: (await world().get("/counts")).body.counts,
      store: { name: world().store.name, guarantees: expect.any(Array), warnings: expect.any(Array) },
      runner: { running: false },
      mayKill: true,
    });
    expect(body.store.guarantees).toContainEqual(
      expect.objectContaining({ name: "durable", has: expect.any(Boolean) }),
    );
    const waiting = (await world().get("/instances?status=waiting&order=asc&pageSize=1")).body.instances[0];
    expect(body.oldestWaiting).toEqual({
      workflowName: waiting.meta.workflowName,
      instanceId: waiting.id,
      createdAt: waiting.meta.createdAt,
    });
    await world().post(`${path}/terminate`);
  });

  test("what is due and taken by nobody is overdue, and what is tried again soon is counted", async () => {
    await world().run();
    const before = (await world().get("/overview")).body;
    await world().post(instancesOf("quick"), { id: world().id("overdue") });
    const { overdue } = (await world().get("/overview")).body;
    expect(overdue.count).toBe(before.overdue.count + 1);
    expect(overdue.oldestDueAt).not.toBeNull();
    await world().run();
    await world().made("flaky");
    const { retries, deadLetters } = (await world().get("/overview")).body;
    expect(retries.count).toBe(before.retries.count + 1);
    expect(Date.parse(retries.nextAt)).toBeGreaterThan(world().runtime.now());
    await world().pass("1 minute");
    const after = (await world().get("/overview")).body;
    expect(after.deadLetters).toEqual({ count: deadLetters.count + retries.count, isMore: false });
  });

  test("what is only scheduled is counted apart, and is not the oldest that is active", async () => {
    await world().run();
    const before = (await world().get("/overview")).body;
    const id = world().id("later");
    const startAt = world().runtime.now() + 3_600_000;
    await world().post(instancesOf("quick"), { id, startAt });
    const { scheduled, counts, oldestActive } = (await world().get("/overview")).body;
    expect(scheduled).toEqual({ count: before.scheduled.count + 1, isMore: false });
    expect(counts.active).toBe(before.counts.active + 1);
    expect(oldestActive).toEqual(before.oldestActive);
    await world().pass("1 hour");
    expect((await world().get("/overview")).body.scheduled.count).toBe(before.scheduled.count);
    await world().run();
  });

  test("the processes that run instances are listed", async () => {
    await world().run();
    const { body } = await world().get("/runners");
    expect(Object.keys(body)).toEqual(["runners"]);
    for (const runner of body.runners) expect(["running", "silent", "stopped"]).toContain(runner.state);
  });

  test("what was done is told by time, in stretches of the same length, empty ones included", async () => {
    const { body } = await world().get("/activity?minutes=30");
    expect(Date.parse(body.to) - Date.parse(body.from)).toBe(body.bucketMs * body.buckets.length);
    expect(body.buckets.length).toBeLessThanOrEqual(120);
    expect(Object.keys(body.buckets[0]).sort()).toEqual(
      ["at", "complete", "errored", "failedAttempts", "steps", "terminated"].sort(),
    );
    expect((await world().get("/activity?minutes=10080&workflowName=quick")).status).toBe(200);
    expect(await world().get("/activity?workflowName=nobody")).toMatchObject(nobody);
    for (const minutes of ["0", "10081", "1.5", "x", "-1"])
      expect(await world().get(`/activity?minutes=${minutes}`), minutes).toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });

  test("who may do everything hears so", async () => {
    const all = { instanceCreation: true, management: true, sendEvent: true, now: expect.any(String) };
    expect((await world().get("/access")).body).toEqual(all);
    expect((await world().get("/access?workflowName=order")).body).toEqual(all);
    expect(await world().get("/access?workflowName=nobody")).toMatchObject(nobody);
  });

  test("whoever may kill the process is answered", async () => {
    expect((await world().post("/_dev/kill")).body).toEqual({ ok: true });
    expect(await world().post("/_dev/kill", { now: true })).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("topics that somebody waits on are listed with how many, by name, page by page", async () => {
    const [first, second] = [world().id("topic-a"), world().id("topic-b")];
    const paths = [
      await world().made("listener", { topic: first }),
      await world().made("listener", { topic: first }),
      await world().made("listener", { topic: second }),
    ];
    const found: Json[] = [];
    let cursor = "";
    do {
      const { body } = await world().get(`/topics?pageSize=1${cursor}`);
      found.push(...body.topics);
      cursor = body.hasNextPage ? `&cursor=${body.cursor}` : "";
    } while (cursor !== "");
    const names = found.map(({ topic }) => topic);
    expect(names).toEqual(names.toSorted());
    expect(found).toEqual(
      expect.arrayContaining([
        { topic: first, waiters: 2 },
        { topic: second, waiters: 1 },
      ]),
    );
    expect(await world().get("/topics?cursor=x")).toMatchObject({ code: "INVALID_CURSOR" });
    for (const path of paths) await world().post(`${path}/terminate`);
    const { body } = await world().get("/topics?pageSize=100");
    expect(body.topics.map(({ topic }: Json) => topic)).not.toContain(first);
  });

  test("instances are found by when they were created, by how their id begins, in brief unless asked for whole", async () => {
    const prefix = world().id("Found");
    await world().made("quick", { much: "x" }, `${prefix}-1`);
    await world().pass("1 minute");
    const between = world().runtime.now();
    await world().pass("1 minute");
    await world().made("quick", { much: "y" }, `${prefix}-2`);
    await world().made("order", {}, `${prefix}-3`);
    const ids = async (list: string, query: string) =>
      (await world().get(`${list}?idPrefix=${prefix}-&order=asc&${query}`)).body.instances.map(
        ({ id }: Json) => id,
      );
    for (const list of ["/instances", instancesOf("quick")]) {
      const later = list === "/instances" ? [`${prefix}-2`, `${prefix}-3`] : [`${prefix}-2`];
      expect(await ids(list, ""), list).toEqual([`${prefix}-1`, ...later]);
      expect(await ids(list, `createdFrom=${between}`), list).toEqual(later);
      const iso = encodeURIComponent(new Date(between).toISOString());
      expect(await ids(list, `createdBefore=${iso}`), list).toEqual([`${prefix}-1`]);
      expect(await ids(list, `createdFrom=${between}&createdBefore=${between}`), list).toEqual([]);
    }
    expect((await world().get(`/instances?idPrefix=${prefix.toLowerCase()}-`)).body.instances).toEqual([]);
    const [whole] = (await world().get(`/instances?idPrefix=${prefix}-1&brief=false`)).body.instances;
    const [brief] = (await world().get(`/instances?idPrefix=${prefix}-1`)).body.instances;
    expect(whole).toMatchObject({ details: { output: { much: "x" } }, meta: { params: { much: "x" } } });
    const { params: _, ...meta } = whole.meta;
    expect(brief).toEqual({ id: whole.id, details: { status: "complete" }, meta });
    const [plain] = (await world().get(`${instancesOf("quick")}?idPrefix=${prefix}-1`)).body.instances;
    expect(plain).toEqual({ id: whole.id, details: { status: "complete" } });
  });

  test.each(["createdFrom=yesterday", "createdBefore=-1", "createdFrom=2026-01-01", "brief=1"])(
    "a list with %s is refused",
    async (query) => {
      expect(await world().get(`/instances?${query}`)).toMatchObject({ code: "INVALID_ARGUMENT" });
    },
  );

  test("an attempt that failed says when the next one was due; the last one has none", async () => {
    const path = await world().made("flaky");
    const due = new Date(world().runtime.now() + 60_000).toISOString();
    const errors = async () => (await world().get(`${path}/history`)).body.steps[0].errors;
    expect(await errors()).toMatchObject([{ attempt: 1, retryAt: due }]);
    await world().pass("1 minute");
    expect(await errors()).toMatchObject([
      { attempt: 1, retryAt: due },
      { attempt: 2, retryAt: null },
    ]);
  });
}

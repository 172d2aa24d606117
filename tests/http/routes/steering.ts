import { expect, test } from "vitest";
import type { Json } from "../support/checked-answer.ts";
import { instancesOf, type World } from "../support/world.ts";

type Status = "active" | "waiting" | "paused" | "complete" | "errored" | "terminated";

/** An instance in each status there is. */
const bringTo: Readonly<Record<Status, (world: World) => Promise<string>>> = {
  async active(world) {
    const id = world.id("active");
    await world.post(instancesOf("order"), { id });
    return `${instancesOf("order")}/${id}`;
  },
  waiting: (world) => world.made("order"),
  async paused(world) {
    const path = await world.made("order");
    await world.post(`${path}/pause`);
    return path;
  },
  complete: (world) => world.made("quick"),
  async errored(world) {
    const path = await world.made("flaky");
    await world.pass("1 minute");
    return path;
  },
  async terminated(world) {
    const path = await world.made("order");
    await world.post(`${path}/terminate`);
    return path;
  },
};

const statuses = Object.keys(bringTo) as Status[];
const ended = ["complete", "errored", "terminated"];

/** What each verb answers, by the status it finds. */
const verbs: Readonly<Record<string, (status: Status) => string>> = {
  pause: (status) => (ended.includes(status) ? "409 INSTANCE_TERMINAL" : "200"),
  resume: () => "200",
  terminate: (status) => (ended.includes(status) ? "409 INSTANCE_TERMINAL" : "200"),
  restart: () => "200",
  fork: () => "201",
  "retry-failed-step": (status) => (status === "errored" ? "200" : "409 INSTANCE_NOT_ERRORED"),
  "skip-sleep": () => "200",
  "restart-or-create": () => "200",
  events: (status) => (ended.includes(status) ? "409 INSTANCE_TERMINAL" : "200"),
};

const afterwards: Readonly<Record<string, (status: Status) => string>> = {
  pause: (status) => (ended.includes(status) ? status : "paused"),
  resume: (status) => (status === "paused" ? "active" : status),
  terminate: (status) => (ended.includes(status) ? status : "terminated"),
  restart: () => "active",
  "retry-failed-step": (status) => (status === "errored" ? "active" : status),
  "restart-or-create": () => "active",
  // An event that somebody waits for makes the instance due, which is active.
  events: (status) => (status === "waiting" ? "active" : status),
};

export function steering(world: () => World): void {
  test.each(Object.entries(verbs))(
    "165, 171 %s answers by the status it finds, in every status",
    async (verb, expected) => {
      for (const status of statuses) {
        const path = await bringTo[status](world());
        expect((await world().get(path)).body.details.status).toBe(status);
        const body = verb === "events" ? { type: "approved" } : {};
        const answer = await world().post(`${path}/${verb}`, body);
        expect([answer.status, answer.code].join(" ").trim(), `${verb} when ${status}`).toBe(
          expected(status),
        );
        const { details } = (await world().get(path)).body;
        const after = afterwards[verb]?.(status) ?? status;
        const others = verb === "events" && status === "waiting" ? ["active", "waiting"] : [after];
        expect(others, `${verb} when ${status}: now ${details.status}`).toContain(details.status);
      }
    },
  );

  test("a paused instance stays where it is until it is resumed, and then goes on", async () => {
    const path = await world().made("order");
    expect((await world().post(`${path}/pause`)).body).toEqual({ ok: true });
    await world().post(`${path}/events`, { type: "approved", payload: "ann" });
    await world().run();
    expect((await world().get(path)).body.details).toEqual({ status: "paused" });
    expect((await world().post(`${path}/resume`)).body).toEqual({ ok: true });
    await world().run();
    expect((await world().get(path)).body.details).toMatchObject({
      status: "complete",
      output: { by: "ann" },
    });
  });

  test("delete removes what has ended, and what has not only by force", async () => {
    for (const status of statuses) {
      const path = await bringTo[status](world());
      const isEnded = ended.includes(status);
      const { createdAt } = (await world().get(path)).body.meta;
      const other = new Date(Date.parse(createdAt) - 1).toISOString();
      expect(await world().ask("DELETE", `${path}?force=true&createdAt=${other}`)).toMatchObject({
        status: 404,
      });
      const plain = await world().ask("DELETE", path);
      expect([plain.status, plain.code].join(" ").trim(), status).toBe(
        isEnded ? "200" : "409 INSTANCE_NOT_TERMINAL",
      );
      if (!isEnded) {
        expect((await world().get(path)).body.details.status).toBe(status);
        const forced = await world().ask("DELETE", `${path}?force=true&createdAt=${createdAt}`);
        expect([forced.status, forced.body]).toEqual([200, { ok: true }]);
      }
      expect(await world().get(path)).toMatchObject({ status: 404, code: "INSTANCE_NOT_FOUND" });
      expect(await world().ask("DELETE", path)).toMatchObject({ status: 404, code: "INSTANCE_NOT_FOUND" });
    }
    expect(await world().ask("DELETE", "/workflows/nothing/instances/a")).toMatchObject({
      code: "WORKFLOW_NOT_FOUND",
    });
    expect(await world().ask("DELETE", `${instancesOf("order")}/-x`)).toMatchObject({
      code: "INVALID_INSTANCE_ID",
    });
  });

  test("a reason to terminate is kept with the instance", async () => {
    const path = await world().made("order");
    expect((await world().post(`${path}/terminate`, { reason: "sold out" })).body).toEqual({ ok: true });
    const { details, meta } = (await world().get(path)).body;
    expect(details).toEqual({ status: "terminated" });
    expect(meta.terminationReason).toEqual({ source: "user", message: "sold out" });
  });

  test("a restart begins the next run and keeps the one before", async () => {
    const path = await world().made("quick", "x");
    expect((await world().post(`${path}/restart`)).body).toEqual({ ok: true });
    await world().run();
    const { body } = await world().get(`${path}/runs`);
    expect(body.runs.map(({ meta }: Json) => meta.runNumber)).toEqual([2, 1]);
  });

  test.each([
    ["restart", { from: "approval" }],
    ["restart", { from: { name: "approval", type: "waitForEvent" } }],
    ["rewind", { step: "approval" }],
  ])("165 %s %j keeps what was recorded before that step", async (verb, body) => {
    const path = await world().made("order", { amount: 9 });
    expect(await world().post(`${path}/${verb}`, body)).toMatchObject({ status: 200, body: { ok: true } });
    const { body: history } = await world().get(`${path}/history`);
    expect(history.runNumber).toBe(2);
    expect(history.steps.map(({ name, result }: Json) => [name, result])).toEqual([
      ["charge", { amount: 9 }],
    ]);
  });

  test("165 a fork is a new instance that begins with what the other recorded, and the other stays", async () => {
    const path = await world().made("order", { amount: 4 });
    const newId = world().id("fork");
    const { status, body } = await world().post(`${path}/fork`, { from: "approval", newId });
    expect([status, body]).toEqual([201, { id: newId, details: { status: "active" } }]);
    const { body: history } = await world().get(`${instancesOf("order")}/${newId}/history`);
    expect(history.steps.map(({ name }: Json) => name)).toEqual(["charge"]);
    expect((await world().get(path)).body.meta.runNumber).toBe(1);
    expect(await world().post(`${path}/fork`, { newId })).toMatchObject({
      status: 409,
      code: "INSTANCE_ID_ALREADY_EXISTS",
    });
    expect(await world().post(`${path}/fork`, { newId: "a/b" })).toMatchObject({
      status: 400,
      code: "INVALID_INSTANCE_ID",
    });
  });

  test("the failed step gets one more attempt, at once or after a delay", async () => {
    const path = await bringTo.errored(world());
    await world().post(`${path}/retry-failed-step`, { delay: "10 minutes" });
    expect((await world().get(path)).body.meta).toMatchObject({
      runNumber: 1,
      dueAt: new Date(world().runtime.now() + 600_000).toISOString(),
    });
    await world().pass("10 minutes");
    const { body } = await world().get(`${path}/history`);
    expect(body.steps[0]).toMatchObject({ status: "errored", attempts: 3 });
    expect(await world().post(`${path}/retry-failed-step`, { delay: "soon" })).toMatchObject({
      code: "INVALID_DURATION",
    });
  });

  test("what failed outside of any step has no failed step to retry", async () => {
    const path = await world().made("doomed");
    expect(await world().post(`${path}/retry-failed-step`)).toMatchObject({
      status: 409,
      code: "FAILED_STEP_NOT_RETRYABLE",
    });
  });

  test("a skipped sleep is over, and the one after it is not", async () => {
    const path = await world().made("sleeper");
    await world().post(`${path}/skip-sleep`);
    await world().run();
    expect((await world().get(path)).body.meta.currentStep).toMatchObject({
      name: "second nap",
      status: "waiting",
    });
    await world().post(`${path}/skip-sleep`);
    await world().run();
    expect((await world().get(path)).body.details).toEqual({ status: "complete", output: "rested" });
  });

  test("restart-or-create creates, restarts what fits the condition, and leaves the rest alone", async () => {
    const path = `${instancesOf("quick")}/${world().id("roc")}`;
    const ask = async (body: unknown) => (await world().post(`${path}/restart-or-create`, body)).body;
    const id = path.split("/").at(-1);
    expect(await ask({ params: 1 })).toEqual({ outcome: "created", id, details: { status: "active" } });
    await world().run();
    const kept = { outcome: "unchanged", id, details: { status: "complete", output: 1 } };
    expect(await ask({ params: 2, when: { statuses: ["errored"] } })).toEqual(kept);
    expect(await ask({ params: 2, when: { runNumber: 7 } })).toEqual(kept);
    expect(await ask({ when: { statuses: ["complete"], runNumber: 1 } })).toMatchObject({
      outcome: "restarted",
    });
    expect((await world().get(path)).body.meta).toMatchObject({ runNumber: 2, params: 1 });
    const large = { params: "x".repeat(2000) };
    expect(await world().post(`${path}/restart-or-create`, large)).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    });
    expect(await world().post(`${path}/restart-or-create`, { retention: "x" })).toMatchObject({
      code: "INVALID_DURATION",
    });
    const counted = `${instancesOf("counted")}/x/restart-or-create`;
    expect(await world().post(counted)).toMatchObject({ code: "WORKFLOW_PARAMS_INVALID" });
  });
}

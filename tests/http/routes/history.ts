import { expect, test } from "vitest";
import type { Json } from "../support/checked-answer.ts";
import type { World } from "../support/world.ts";

export function history(world: () => World): void {
  test("165 a history has steps and events of the run, and logs only when asked for", async () => {
    const path = await world().made("order", { amount: 2 });
    await world().post(`${path}/events`, { type: "noted" });
    const { body } = await world().get(`${path}/history`);
    expect(Object.keys(body).sort()).toEqual([
      "events",
      "eventsHasNextPage",
      "runNumber",
      "steps",
      "stepsHasNextPage",
    ]);
    expect(body.steps.map(({ name, status }: Json) => [name, status])).toEqual([
      ["charge", "completed"],
      ["approval", "waiting"],
    ]);
    expect(body.steps[0]).toMatchObject({ type: "do", attempts: 1, result: { amount: 2 }, errors: [] });
    const { body: full } = await world().get(`${path}/history?includeLogs=true`);
    expect(
      full.logs.map(({ message, level, category, stepKey, attempt }: Json) => [
        message,
        level,
        category,
        stepKey,
        attempt,
      ]),
    ).toEqual([
      ["begun", "info", "workflow", null, null],
      ["asking the bank", "debug", "payments", "charge", 1],
      ["waiting", "warn", "people", null, null],
    ]);
    expect(full.logs[0]).toEqual({
      id: "1-1",
      runNumber: 1,
      stepKey: null,
      attempt: null,
      level: "info",
      category: "workflow",
      message: "begun",
      data: { of: path.split("/").at(-1) },
      isReplay: false,
      createdAt: expect.any(String),
    });
  });

  test("one step is shown by its index, with its result, of this run or of one before", async () => {
    const path = await world().made("order", { amount: 5 });
    const { steps } = (await world().get(`${path}/history`)).body;
    for (const step of steps) expect((await world().get(`${path}/steps/${step.index}`)).body).toEqual(step);
    expect(steps[0].result).toEqual({ amount: 5 });
    await world().post(`${path}/restart`);
    expect(await world().get(`${path}/steps/0`)).toMatchObject({ code: "STEP_NOT_FOUND" });
    expect((await world().get(`${path}/steps/0?runNumber=1`)).body).toEqual(steps[0]);
    await world().run();
  });

  test("171 logs are filtered by level and by category, in the history and by themselves", async () => {
    const path = await world().made("chatty", { steps: 12 });
    const messages = async (query: string, key = "logs") =>
      (await world().get(`${path}/${query}`)).body[key].map(({ message }: Json) => message);
    const even = [0, 2, 4, 6, 8, 10].map((n) => `line ${n}`);
    expect(await messages("history?includeLogs=true&logLevel=info")).toEqual(even);
    expect(await messages("logs?level=info")).toEqual(even);
    const third = ["line 0", "line 3", "line 6", "line 9"];
    expect(await messages("history?includeLogs=true&logCategory=a")).toEqual(third);
    expect(await messages("logs?category=a&order=desc")).toEqual(third.toReversed());
    expect(await messages("logs?category=a&level=error")).toEqual(["line 3", "line 9"]);
    expect(await messages("logs?category=nobody")).toEqual([]);
  });

  test("each run has its own history, the current one unless another is named", async () => {
    const path = await world().made("quick", 1);
    const waiting = await world().made("order", { amount: 5 });
    await world().post(`${waiting}/restart`);
    const { body: first } = await world().get(`${waiting}/history?runNumber=1&includeLogs=true`);
    expect([first.runNumber, first.steps.length, first.logs.length]).toEqual([1, 2, 3]);
    const { body: second } = await world().get(`${waiting}/history?includeLogs=true`);
    const messages = second.logs.map(({ category, message }: Json) => [category, message]);
    expect([second.runNumber, second.steps, messages]).toEqual([2, [], [["operator", "Restarted."]]]);
    expect((await world().get(`${path}/logs?runNumber=1`)).body).toEqual({ logs: [], hasNextPage: false });
  });

  test("a failed attempt is in the history with its error and its place, and so is the step's end", async () => {
    const path = await world().made("flaky");
    await world().pass("1 minute");
    const { steps } = (await world().get(`${path}/history`)).body;
    expect(steps).toHaveLength(1);
    expect(steps[0]).toMatchObject({ status: "errored", attempts: 2, error: { message: "no answer 2" } });
    expect(steps[0].errors.map(({ message, attempt }: Json) => [message, attempt])).toEqual([
      ["no answer 1", 1],
      ["no answer 2", 2],
    ]);
    expect(steps[0].errors[0].stack).toContain("workflows.ts");
  });

  test("an export is a document that can be replayed without the store", async () => {
    const path = await world().made("order");
    const { status, body } = await world().get(`${path}/export`);
    expect([status, body.workflowName ?? body.instance?.workflowName]).toEqual([200, "order"]);
    const { replayHistory } = await import("everstep");
    const { workflows } = await import("../support/workflows.ts");
    expect(await replayHistory(body, workflows.ORDER)).toMatchObject({ classification: "identical" });
    await world().post(`${path}/restart`);
    expect((await world().get(`${path}/export?runNumber=1`)).status).toBe(200);
  });

  test.each([
    ["history?stepsCursor=x", "INVALID_CURSOR"],
    ["history?eventsCursor=x", "INVALID_CURSOR"],
    ["history?includeLogs=true&logsCursor=x", "INVALID_CURSOR"],
    ["logs?cursor=x", "INVALID_CURSOR"],
    ["history?includeLogs=yes", "INVALID_ARGUMENT"],
    ["history?logLevel=fatal", "INVALID_ARGUMENT"],
    ["logs?level=", "INVALID_ARGUMENT"],
    ["history?cursor=x", "INVALID_ARGUMENT"],
    ["runs?pageSize=1", "INVALID_ARGUMENT"],
  ])("166 GET %s is refused with %s", async (query, code) => {
    const path = await world().made("quick");
    expect(await world().get(`${path}/${query}`)).toMatchObject({ status: 400, code });
  });
}

import { describe, expect, test } from "vitest";
import { held, stagesOn, told } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

describe("the author's own writes", () => {
  const write = (): void => {};

  test("travel with their step, which is handed over after its commit", async () => {
    const seen: string[] = [];
    const stage = stageOf(async (step) => {
      await step.do("order", async ({ mutate }) => {
        mutate(write);
      });
      seen.push("order known");
    });
    stage.hold();
    await stage.play();
    expect(stage.commits).toMatchObject([{ mutations: { mutate: [write] } }]);
    expect(stage.boundaries.map(told)).toEqual(["order completed, continue"]);
    expect(seen).toEqual([]);
    stage.letGo();
    await stage.held[0]?.answer();
    expect(seen).toEqual(["order known"]);
  });

  test("a conflict fails the step without a retry, and author code may catch it", async () => {
    const stage = stageOf((step) =>
      step
        .do("order", async ({ mutate }) => {
          mutate(write);
        })
        .catch((error) => error.code),
    );
    let refused = 0;
    stage.answer = ({ mutations }) =>
      mutations && ++refused
        ? { kind: "mutation-failed", conflict: true, error: new Error("duplicate key") }
        : stage.committed();
    await stage.play();
    expect(refused).toBe(1);
    expect(stage.step("order")).toMatchObject({
      status: "errored",
      attempts: 1,
      error: { code: "MUTATION_CONFLICT", message: expect.stringContaining("duplicate key") },
    });
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: '"MUTATION_CONFLICT"' } });
    // The refused commit may still arrive, so its number is not used again.
    expect(stage.boundaries.map(({ number, after }) => [number, after])).toEqual([
      [1, undefined],
      [2, 0],
    ]);
  });

  test("a refusal leaves what its neighbours wrote, once", async () => {
    const [order, neighbour] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.allSettled([
        step.do("order", async ({ mutate }) => {
          mutate(write);
          await order.promise;
        }),
        step.do("neighbour", () => neighbour.promise),
        step.sleep("nap", "1 hour"),
      ]),
    );
    stage.hold();
    await stage.play();
    neighbour.resolve(1);
    await stage.runtime.settle();
    order.resolve(1);
    await stage.runtime.settle();
    await stage.held[0]?.answer();
    expect(stage.boundaries.map(told)).toEqual([
      "nap waiting, continue",
      "neighbour completed, order completed, continue",
    ]);
    stage.letGo();
    await stage.held[1]?.answer({
      kind: "mutation-failed",
      conflict: true,
      error: new Error("duplicate key"),
    });
    expect(stage.last).toMatchObject({ number: 3, after: 1, next: { kind: "suspend" } });
    expect(told(stage.last)).toBe("neighbour completed, order errored, suspend");
  });

  test("of a failed attempt are never applied; those of the attempt that succeeded are", async () => {
    const first = (): void => {};
    const second = (): void => {};
    const stage = stageOf((step) =>
      step.do("order", async ({ attempt, mutate }) => {
        mutate(attempt === 1 ? first : second);
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations?.mutate)).toEqual([undefined, [second], undefined]);
  });

  test("onTerminalError applies when the step has failed for good, not while retries remain", async () => {
    const stage = stageOf((step) =>
      step.do("order", { retries: { limit: 1 } }, async ({ onTerminalError }) => {
        onTerminalError.mutate(write);
        throw new Error("down");
      }),
    );
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations)).toEqual([null]);
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ mutations }) => mutations?.mutate)).toEqual([undefined, [write], undefined]);
  });

  test("two steps with writes commit one after the other", async () => {
    const bodies = [held(), held()];
    const stage = stageOf((step) =>
      Promise.all(
        bodies.map((body, at) =>
          step.do(`s${at}`, async ({ mutate }) => {
            mutate(write);
            await body.promise;
          }),
        ),
      ),
    );
    await stage.play();
    for (const body of bodies) body.resolve(1);
    await stage.runtime.settle();
    expect(stage.commits.map(({ mutations, boundary }) => [told(boundary), mutations !== null])).toEqual([
      ["s0 completed, continue", true],
      ["s1 completed, continue", true],
      ["complete", false],
    ]);
  });

  test("of a step the function did not wait for are not made", async () => {
    const [quick, order] = [held(), held()];
    const stage = stageOf((step) =>
      Promise.race([
        step.do("quick", () => quick.promise),
        step.do("order", async ({ mutate }) => {
          mutate(write);
          await order.promise;
        }),
      ]),
    );
    await stage.play();
    quick.resolve(1);
    order.resolve(2);
    await stage.runtime.settle();
    expect(stage.boundaries.map(told)).toEqual(["quick completed, complete"]);
    expect(stage.commits.map(({ mutations }) => mutations)).toEqual([null]);
  });

  test("are not lost with a neighbour's when a turn winds down", async () => {
    const bodies = [held(), held()];
    const writes = [(): void => {}, (): void => {}];
    const stage = stageOf((step) =>
      Promise.allSettled(
        bodies.map((body, at) =>
          step.do(`s${at}`, async ({ mutate }) => {
            mutate(writes[at] as () => void);
            await body.promise;
          }),
        ),
      ),
    );
    await stage.play();
    stage.hold();
    stage.turn.windDown();
    for (const body of bodies) {
      body.resolve(1);
      await stage.runtime.settle();
    }
    await stage.held[0]?.answer({
      kind: "mutation-failed",
      conflict: true,
      error: new Error("duplicate key"),
    });
    for (let at = 1; at < stage.held.length; at++) await stage.held[at]?.answer();
    const carried = stage.commits
      .filter(({ boundary }) =>
        boundary.steps.some(({ key, status }) => key === "s1" && status === "completed"),
      )
      .map(({ mutations }) => mutations?.mutate);
    expect(carried).toEqual([[writes[1]]]);
    expect(stage.step("s0").status).toBe("errored");
    expect(stage.step("s1").status).toBe("completed");
  });

  test("instances started and events sent by a step travel with its record, those of a failed attempt do not", async () => {
    const stage = stageOf((step) =>
      step.do("spawn", async ({ attempt, startWorkflow, sendEvent }) => {
        startWorkflow("child", { id: `child-${attempt}`, params: { n: 1 } });
        sendEvent({ workflow: "child", id: "other" }, { type: "hello", payload: attempt });
        if (attempt === 1) throw new Error("down");
      }),
    );
    await stage.play();
    await stage.runtime.advance(10_000);
    await stage.play();
    expect(stage.commits.map(({ alongside }) => alongside.length)).toEqual([0, 2]);
    expect(stage.commits[1]?.alongside).toMatchObject([
      { kind: "create", workflowName: "child", instanceId: "child-2", parent: { workflowName: "story" } },
      { kind: "sendEvent", workflowName: "child", instanceId: "other", type: "hello" },
    ]);
  });
});

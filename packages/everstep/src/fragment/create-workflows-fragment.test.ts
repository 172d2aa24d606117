import { afterEach, describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import { refuse } from "../http/authorize.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createWorkflowsFragment } from "./create-workflows-fragment.ts";
import type { WorkflowsFragmentConfig, WorkflowsFragmentOptions } from "./fragment-config.ts";
import { fragnoRuntime } from "./fragno-runtime.ts";

const quick = defineWorkflow({ name: "quick" }, async () => "done");
const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const fragment of open.splice(0)) await fragment.stop();
});

type Config = Omit<WorkflowsFragmentConfig, "runtime" | "workflows">;

function host(config: Config = {}, options: Partial<WorkflowsFragmentOptions> = {}) {
  const runtime = fragnoRuntime(createFakeRuntime());
  const fragment = createWorkflowsFragment(
    { workflows: { QUICK: quick }, runtime, ...config },
    { store: memory(), onProblem: () => {}, ...options },
  );
  open.push(fragment);
  /** `200`, or `403 FORBIDDEN`. */
  const ask = async (method: string, path: string, body?: unknown): Promise<string> => {
    const response = await fragment.fetch(
      new Request(`http://host${path}`, {
        method,
        ...(body === undefined
          ? {}
          : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      }),
    );
    const answer = (await response.json()) as { error?: { code: string } };
    return answer.error ? `${response.status} ${answer.error.code}` : String(response.status);
  };
  return { fragment, ask };
}

const mount = "/api/workflows";
const instances = `${mount}/workflows/quick/instances`;
const allow = () => {};

describe("the routes", () => {
  test("are closed until somebody says who may use them", async () => {
    const { ask } = host();
    expect(await ask("GET", `${mount}/workflows`)).toBe("403 AUTHORIZATION_NOT_CONFIGURED");
    expect(await ask("POST", instances, {})).toBe("403 AUTHORIZATION_NOT_CONFIGURED");
  });

  test("are mounted under /api/workflows, or where the host says", async () => {
    const { fragment, ask } = host({ authorizeRequest: allow });
    expect(fragment.mountRoute).toBe("/api/workflows");
    expect(await ask("GET", `${mount}/workflows`)).toBe("200");
    const elsewhere = host({ authorizeRequest: allow }, { mountRoute: "/wf" });
    expect(await elsewhere.ask("GET", "/wf/workflows")).toBe("200");
    expect(await elsewhere.ask("GET", "/other/workflows")).toBe("404 ROUTE_NOT_FOUND");
  });

  test("each are open to whom their own hook lets in, and no others", async () => {
    const one = { id: "a" };
    const asked: readonly [keyof Config, string, string, object?][] = [
      ["authorizeInstanceCreation", "POST", instances, one],
      ["authorizeRead", "GET", `${instances}/a`],
      ["authorizeManagement", "POST", `${instances}/a/pause`, {}],
      ["authorizeSendEvent", "POST", `${instances}/a/events`, { type: "x" }],
      ["authorizeRunnerTick", "POST", `${mount}/_runner/tick`, {}],
    ];
    for (const [hook] of asked) {
      const { fragment, ask } = host({ [hook]: allow });
      if (hook !== "authorizeInstanceCreation") await fragment.workflows.QUICK.create(one);
      const answers: string[] = [];
      for (const [other, method, path, body] of asked) {
        const answer = await ask(method, path, body);
        if (!answer.startsWith("403")) answers.push(other);
      }
      expect(answers).toEqual([hook]);
    }
  });

  test("ask the request hook first, then their own, with what it is about", async () => {
    const heard: unknown[] = [];
    const { ask } = host({
      authorizeRequest: ({ action, state }) =>
        void heard.push(`request ${action}`, state.set("who", "ann").size),
      authorizeInstanceCreation: ({ instances, workflowName, state }) =>
        void heard.push([workflowName, instances, state.get("who")]),
    });
    await ask("POST", instances, { id: "a", params: 7 });
    expect(heard).toEqual(["request createInstance", 1, ["quick", [{ id: "a", params: 7 }], "ann"]]);
  });

  test("answer with what a hook returns or throws, and do nothing then", async () => {
    const { fragment, ask } = host({
      authorizeRequest: allow,
      authorizeManagement: () => refuse(401, "Who are you?"),
      authorizeInstanceCreation: () => {
        throw new Error("the user database is gone");
      },
    });
    expect(await ask("POST", instances, { id: "b" })).toBe("403 FORBIDDEN");
    await fragment.workflows.QUICK.create({ id: "a" });
    expect(await ask("POST", `${instances}/a/terminate`, {})).toBe("401 UNAUTHORIZED");
    expect(await fragment.services.countInstances()).toMatchObject({ active: 1, terminated: 0 });
  });
});

describe("the tick route", () => {
  const tick = `${mount}/_runner/tick`;

  test("does not exist unless its hook is configured", async () => {
    const { ask } = host({ authorizeRequest: allow });
    expect(await ask("POST", tick, {})).toBe("403 RUNNER_TICK_DISABLED");
  });

  test("takes turns with the fragment's own runner", async () => {
    const { fragment, ask } = host({ authorizeRunnerTick: allow });
    const instance = await fragment.workflows.QUICK.create();
    expect(await ask("POST", tick, {})).toBe("200");
    expect(await instance.status()).toEqual({ status: "complete", output: "done" });
  });

  test("asks the runner that the host gave, with the caller's limits", async () => {
    const asked: unknown[] = [];
    const runner = {
      tick: (limits: object) => {
        asked.push(limits);
        return 3;
      },
    };
    const { fragment, ask } = host({ authorizeRunnerTick: allow, runner });
    const instance = await fragment.workflows.QUICK.create();
    expect(await ask("POST", tick, { maxInstances: 5, maxSteps: 2 })).toBe("200");
    expect(await fragment.runner.tick()).toEqual({ processed: 3 });
    expect(asked).toEqual([{ maxInstances: 5, maxSteps: 2 }, {}]);
    expect(await instance.status()).toEqual({ status: "active" });
  });

  test("may be served by a runner that ends up at the fragment's own", async () => {
    const { fragment, ask } = host({
      authorizeRunnerTick: allow,
      runner: { tick: (limits) => fragment.app.tick(limits) },
    });
    const instance = await fragment.workflows.QUICK.create();
    expect(await ask("POST", tick, {})).toBe("200");
    expect(await instance.status()).toEqual({ status: "complete", output: "done" });
  });

  test("says that there is no runner where the host wants none", async () => {
    const { fragment, ask } = host({ authorizeRunnerTick: allow, runner: null });
    expect(await ask("POST", tick, {})).toBe("503 RUNNER_NOT_AVAILABLE");
    await expect(fragment.runner.tick()).rejects.toMatchObject({ code: "RUNNER_NOT_AVAILABLE" });
    await expect(fragment.start()).rejects.toMatchObject({ code: "RUNNER_NOT_AVAILABLE" });
  });

  test("asks its hook, which hears of the limits", async () => {
    const heard: unknown[] = [];
    const { ask } = host({
      authorizeRunnerTick: ({ maxInstances, request }) => {
        heard.push(maxInstances);
        if (request.headers.get("authorization") === null) return refuse(401, "Say who you are.");
      },
    });
    expect(await ask("POST", tick, { maxInstances: 7 })).toBe("401 UNAUTHORIZED");
    expect(heard).toEqual([7]);
  });
});

test("a fragment without workflows has routes that say so", async () => {
  const fragment = createWorkflowsFragment(
    { runtime: fragnoRuntime(createFakeRuntime()), authorizeRead: allow },
    { store: memory() },
  );
  open.push(fragment);
  const response = await fragment.handler(new Request("http://host/api/workflows/workflows"));
  expect(await response.json()).toEqual({ workflows: [] });
});

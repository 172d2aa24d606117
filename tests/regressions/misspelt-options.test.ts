/** An option that nobody reads, and a value that cannot be, are refused where they are given: none is lost without a word. */
import { type App, createWorkflows, defineWorkflow, type WorkflowStep } from "everstep";
import { createBinding, defineEntrypoint, WorkflowEntrypoint } from "everstep/cloudflare";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { sqlite } from "everstep/sqlite";
import { createTestHarness, memory } from "everstep/testing";
import { afterAll, describe, expect, test } from "vitest";

const echo = defineWorkflow({ name: "echo" }, async (event) => event.payload);
const harness = createTestHarness({ workflows: { ECHO: echo } });
afterAll(() => harness.stop());

/** The code of a refusal and its message, or what was made of it. */
async function refusalOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "accepted";
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return `${code} ${message}`;
  }
}

const app = (options: object) => (): App =>
  createWorkflows({ workflows: { ECHO: echo }, store: memory(), ...options } as never);
const workflow = (options: object) => () => defineWorkflow({ name: "w", ...options } as never, async () => 1);
const create = (options: object, within?: object) => () =>
  harness.workflows.ECHO.create(options as never, within as never);

test.each<[what: string, act: () => unknown, code: string, says: string]>([
  [
    "an app's option",
    app({ authorise: () => {} }),
    "INVALID_ARGUMENT",
    '"authorise". Did you mean "authorize"?',
  ],
  ["an app's option", app({ quux: 1 }), "INVALID_ARGUMENT", '"quux". There are workflows, store,'],
  ["a hook", app({ hooks: { onEnd() {} } }), "INVALID_ARGUMENT", 'Did you mean "onEnded"?'],
  ["hooks that are none", app({ hooks: 5 }), "INVALID_ARGUMENT", "hooks"],
  [
    "a runner's setting",
    app({ runner: { concurency: 5 } }),
    "INVALID_ARGUMENT",
    'Did you mean "concurrency"?',
  ],
  ["a limit", app({ limits: { maxStep: 5 } }), "INVALID_ARGUMENT", 'Did you mean "maxSteps"?'],
  ["an option of the API", app({ http: { basepath: "/" } }), "INVALID_ARGUMENT", 'Did you mean "basePath"?'],
  ["a hook of the API", app({ authorize: { Management() {} } }), "INVALID_ARGUMENT", '"management"'],
  [
    "limits under which no wait is legal",
    app({ limits: { minWaitTimeout: 5000, maxWaitTimeout: 1000 } }),
    "INVALID_ARGUMENT",
    "minWaitTimeout",
  ],
  [
    "the same in a workflow",
    workflow({ limits: { minWaitTimeout: 5000, maxWaitTimeout: 1000 } }),
    "INVALID_WORKFLOW_DEFINITION",
    "minWaitTimeout",
  ],
  [
    "the same by an app and its workflow together",
    () =>
      app({
        limits: { minWaitTimeout: 5000 },
        workflows: { W: workflow({ limits: { maxWaitTimeout: 2000 } })() },
      })(),
    "INVALID_ARGUMENT",
    "minWaitTimeout",
  ],
  [
    "a workflow's option",
    workflow({ retires: {} }),
    "INVALID_WORKFLOW_DEFINITION",
    'Did you mean "retries"?',
  ],
  [
    "a workflow's flag",
    workflow({ strictStepNames: "yes" }),
    "INVALID_WORKFLOW_DEFINITION",
    "strictStepNames",
  ],
  [
    "an option of a store",
    () => sqlite({ path: ":memory:", namspace: "a" } as never),
    "INVALID_ARGUMENT",
    'Did you mean "namespace"?',
  ],
  ["an option of a store", () => postgres({ hots: "db" } as never), "INVALID_ARGUMENT", 'mean "host"?'],
  ["an option of a store", () => mysql({ databse: "db" } as never), "INVALID_ARGUMENT", 'mean "database"?'],
  [
    "an option of a store",
    () => redis({ waitReplica: 1 } as never),
    "INVALID_ARGUMENT",
    'mean "waitReplicas"?',
  ],
  ["ifExists", create({ id: "x", ifExists: "retrun" }), "INVALID_ARGUMENT", 'Did you mean "return"?'],
  ["an option of create", create({ ID: "x" }), "INVALID_ARGUMENT", 'Did you mean "id"?'],
  ["an option of create", create({ deadlin: 5 }), "INVALID_ARGUMENT", 'Did you mean "deadline"?'],
  ["an option beside it", create({}, { txn: {} }), "INVALID_ARGUMENT", "tx"],
  [
    "an option beside an event",
    () => harness.workflows.ECHO.at("x").sendEvent({ type: "go" }, { txn: {} } as never),
    "INVALID_ARGUMENT",
    "tx",
  ],
  [
    "an option of createBatch",
    () => harness.workflows.ECHO.createBatch([{ id: "y", param: 1 } as never]),
    "INVALID_ARGUMENT",
    'Did you mean "params"?',
  ],
  [
    "an option of restartOrCreate",
    () => harness.workflows.ECHO.restartOrCreate({ id: "y", wehn: {} } as never),
    "INVALID_ARGUMENT",
    'Did you mean "when"?',
  ],
  [
    "a verb",
    () => faults().fail("comit" as never, "ambiguous"),
    "INVALID_ARGUMENT",
    'Did you mean "commit"?',
  ],
  ["a failure", () => faults().fail("commit", "ambigous" as never), "INVALID_ARGUMENT", '"ambiguous"'],
  [
    "a number of failures",
    () => faults().fail("commit", "fatal", { times: -1 }),
    "INVALID_ARGUMENT",
    "times",
  ],
  [
    "an option of a failure",
    () => faults().fail("commit", "fatal", { time: 2 } as never),
    "INVALID_ARGUMENT",
    'Did you mean "times"?',
  ],
  ["a place to stop", () => runner().stopBefore("nope" as never), "INVALID_ARGUMENT", '"nope"'],
  [
    "a place to stop",
    () => runner().stopAfter("claims" as never),
    "INVALID_ARGUMENT",
    'Did you mean "claim"?',
  ],
  [
    "a number of attempts",
    () => harness.mock("ECHO").step("a").throws(new Error("x"), { times: -1 }),
    "INVALID_ARGUMENT",
    "times",
  ],
  [
    "an option of a harness",
    () => createTestHarness({ workflows: {}, sed: 5 } as never),
    "INVALID_ARGUMENT",
    'Did you mean "seed"?',
  ],
])("refuses %s that is misspelt or impossible (%#)", async (_what, act, code, says) => {
  const refusal = await refusalOf(act);
  expect(refusal).toMatch(new RegExp(`^${code} `));
  expect(refusal).toContain(says);
});

const runner = () => harness.runner("r");
const faults = () => runner().faults;

/** What a run ends with that does this. */
async function endOf(run: (step: WorkflowStep) => Promise<unknown>): Promise<string> {
  const made = defineWorkflow({ name: "w" }, async (_event, step) => run(step));
  const own = createTestHarness({ workflows: { W: made } });
  const instance = await own.workflows.W.create();
  await own.runUntilIdle();
  const { status, error } = await instance.status();
  await own.stop();
  return error ? `${error.code} ${error.message}` : status;
}

describe("in a run", () => {
  const step = (config: object) => (api: WorkflowStep) => api.do("a", config as never, async () => 1);
  const wait = (options: object) => (api: WorkflowStep) => api.waitForEvent("a", options as never);
  test.each<[what: string, run: (step: WorkflowStep) => Promise<unknown>, code: string, says: string]>([
    ["an option", step({ retry: { limit: 0 } }), "INVALID_STEP_CONFIG", '"retry". There are retries,'],
    ["a retry option", step({ retries: { limt: 0 } }), "INVALID_STEP_CONFIG", 'Did you mean "limit"?'],
    ["a limit", step({ retries: { limit: 1.5 } }), "INVALID_STEP_CONFIG", "1.5"],
    ["a number of attempts", step({ maxAttempts: 2.5 }), "INVALID_STEP_CONFIG", "2.5"],
    ["a flag", step({ repeat: "yes" }), "INVALID_STEP_CONFIG", "repeat"],
    ["a flag", step({ retriesAllowed: "no" }), "INVALID_STEP_CONFIG", "retriesAllowed"],
    ["a wait's option", wait({ type: "x", timout: 5000 }), "INVALID_STEP_CONFIG", 'Did you mean "timeout"?'],
    ["a wait for two things", wait({ type: "x", topic: "y" }), "INVALID_EVENT_TYPE", "topic"],
    [
      "an option of startWorkflow",
      (api) =>
        api.do("a", { retries: false }, async (context) => context.startWorkflow("w", { ID: "x" } as never)),
      "INVALID_ARGUMENT",
      'Did you mean "id"?',
    ],
  ])("refuses %s that is misspelt or impossible (%#)", async (_what, run, code, says) => {
    const end = await endOf(run);
    expect(end).toMatch(new RegExp(`^${code} `));
    expect(end).toContain(says);
  });

  test("takes what is undefined for left out, and fields of a class for its own", async () => {
    class Settings {
      readonly timeout = 1000;
      readonly note = "of mine";
    }
    const run = async (api: WorkflowStep): Promise<void> => {
      await api.do(
        "a",
        { retries: { limit: undefined }, repeat: undefined, retry: undefined } as never,
        () => 1,
      );
      await api.do("b", new Settings() as never, () => 1);
      await api.do("c", { retries: { limit: Number.POSITIVE_INFINITY } }, () => 1);
    };
    expect(await endOf(run)).toBe("complete");
  });
});

test("classes written for Cloudflare pass what Cloudflare ignores", async () => {
  class Order extends WorkflowEntrypoint {
    override async run(_event: unknown, step: WorkflowStep): Promise<string> {
      const config = { retries: { limit: 1.5, jitter: true }, retry: {}, timeout: "1 minute" };
      await step.do("a", config as never, async () => 1);
      const options = { type: "go", topic: undefined, timeout: "1 minute", extra: 1 };
      return (await step.waitForEvent("b", options as never)).type;
    }
  }
  const own = createTestHarness({ workflows: { ORDER: defineEntrypoint({ name: "order" }, Order) } });
  const order = createBinding(own.app, "ORDER");
  const instance = await order.create({ id: "o", locationHint: "weur" } as never);
  await instance.sendEvent({ type: "go" });
  await own.runUntilIdle();
  expect(await instance.status()).toMatchObject({ status: "complete", output: "go" });
  await own.stop();
});

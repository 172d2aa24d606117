import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type App,
  createWorkflows,
  defineWorkflow,
  StoreError,
  systemRuntime,
  type WorkflowDefinition,
  type WorkflowStep,
} from "everstep";
import { sqlite } from "everstep/sqlite";
import { createTestHarness, memory } from "everstep/testing";
import { afterEach, describe, expect, test } from "vitest";
import { erased } from "../packages/everstep/src/testing/store-contract/acts.ts";

const folders: string[] = [];
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop({ grace: 0 });
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "everstep-bad-input-"));
  folders.push(folder);
  return folder;
}

function open<const Workflows extends Record<string, WorkflowDefinition>>(
  workflows: Workflows,
  path?: string,
) {
  const app = createWorkflows({ workflows, store: path ? sqlite(path) : memory(), onProblem: () => {} });
  apps.push(app as unknown as App);
  return app;
}

/** The code of the error, after checking that it comes with a sentence. */
async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act();
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    expect(message.length, `a sentence for ${code}`).toBeGreaterThan(20);
    return code ?? "no code";
  }
  return "no error";
}

const echo = defineWorkflow({ name: "echo" }, async (event) => event.payload);

/** What a workflow that makes one mistake ends with. */
async function mistake(run: (step: WorkflowStep) => Promise<unknown>, limits: object = {}): Promise<string> {
  const workflow = defineWorkflow({ name: "w", limits }, async (_event, step) => run(step));
  const harness = createTestHarness({ workflows: { W: workflow } });
  const instance = await harness.workflows.W.create();
  await harness.runUntilIdle();
  const { status, error } = await instance.status();
  await harness.stop();
  return status === "errored" ? (error?.code ?? error?.name ?? "") : status;
}

describe("definitions", () => {
  test.each([["", "a b", "-a", "a/b", "ä", "a".repeat(65), 7, null, undefined]].flat().map((name) => [name]))(
    "workflow name %j is refused",
    async (name) => {
      expect(await codeOf(() => defineWorkflow({ name: name as string }, async () => 1))).toBe(
        "INVALID_WORKFLOW_NAME",
      );
    },
  );

  test("a workflow without a function, a bad concurrency, two of one name, no store", async () => {
    expect(await codeOf(() => defineWorkflow({ name: "w" }, undefined as never))).toBe(
      "INVALID_WORKFLOW_DEFINITION",
    );
    for (const concurrency of [2 ** 53, 1e20, 2 ** 63, Number.MAX_VALUE, Number.POSITIVE_INFINITY]) {
      expect(await codeOf(() => defineWorkflow({ name: "w", concurrency }, async () => 1))).toBe(
        "INVALID_WORKFLOW_DEFINITION",
      );
    }
    expect(await codeOf(() => defineWorkflow({ name: "w", concurrency: 0 }, async () => 1))).toBe(
      "INVALID_WORKFLOW_DEFINITION",
    );
    const again = defineWorkflow({ name: "echo" }, async () => 1);
    expect(await codeOf(() => open({ A: echo, B: again }))).toBe("DUPLICATE_WORKFLOW_NAME");
    expect(await codeOf(() => open({ A: {} as never }))).toBe("INVALID_WORKFLOW_DEFINITION");
    expect(await codeOf(() => createWorkflows({ workflows: {}, store: undefined as never }))).toBe(
      "INVALID_ARGUMENT",
    );
    expect(
      await codeOf(() => createWorkflows({ workflows: {}, store: memory(), runner: { concurrency: 0 } })),
    ).toBe("INVALID_ARGUMENT");
    expect(
      await codeOf(() => createWorkflows({ workflows: {}, store: memory(), runner: { lease: "soon" } })),
    ).toBe("INVALID_DURATION");
  });

  test("a schema that is none, and retries that are none, are refused where they are written", async () => {
    expect(
      await codeOf(() => defineWorkflow({ name: "w", params: { a: "text" } as never }, async () => 1)),
    ).toBe("INVALID_WORKFLOW_DEFINITION");
    const unsure = defineWorkflow({ name: "w", retries: 3 as never }, async () => 1);
    expect(await codeOf(() => open({ W: unsure }))).toBe("INVALID_STEP_CONFIG");
    expect(await codeOf(() => createWorkflows(undefined as never))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => sqlite(undefined as never))).toBe("INVALID_ARGUMENT");
  });

  test("workflow keys that are names of object members work", async () => {
    const app = open({ constructor: echo, toString: defineWorkflow({ name: "text" }, async () => 1) });
    expect((await app.workflows.constructor.create({ id: "i" })).id).toBe("i");
  });
});

describe("creating", () => {
  test.each(
    [["", "has space", "-leading", "dot.ted", "slash/ed", "日本", "b".repeat(101), 5, null, {}]]
      .flat()
      .map((id) => [id]),
  )("instance id %j is refused and nothing is written", async (id) => {
    const app = open({ ECHO: echo });
    expect(await codeOf(() => app.workflows.ECHO.create({ id: id as string }))).toBe("INVALID_INSTANCE_ID");
    expect((await app.counts()).active).toBe(0);
  });

  test.each([
    ["a function", () => ({ f: () => 1 }), "VALUE_NOT_SERIALIZABLE"],
    ["a cycle", cyclic, "VALUE_NOT_SERIALIZABLE"],
    ["a symbol", () => ({ s: Symbol("s") }), "VALUE_NOT_SERIALIZABLE"],
    ["a class instance", () => ({ p: new (class Point {})() }), "VALUE_NOT_SERIALIZABLE"],
    ["more than 1 MiB", () => "x".repeat(1024 * 1024 + 1), "PAYLOAD_TOO_LARGE"],
    ["more than 1 MiB in bytes, fewer in characters", () => "ä".repeat(600_000), "PAYLOAD_TOO_LARGE"],
  ] as const)("params that are %s are refused before any row is written", async (_title, make, expected) => {
    const app = open({ ECHO: echo });
    expect(await codeOf(() => app.workflows.ECHO.create({ id: "i", params: make() }))).toBe(expected);
    expect((await app.counts()).active).toBe(0);
  });

  test("params that do not fit the schema are refused with the issues, before any row is written", async () => {
    const positive = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        types: {} as { readonly input: { n: number }; readonly output: { n: number } },
        validate: (value: unknown) =>
          (value as { n?: number })?.n === 1
            ? { value: value as { n: 1 } }
            : { issues: [{ message: "must be 1", path: ["n"] }] },
      },
    };
    const checked = defineWorkflow({ name: "checked", params: positive }, async (event) => event.payload.n);
    const app = open({ CHECKED: checked });
    await expect(app.workflows.CHECKED.create({ params: { n: 2 } })).rejects.toMatchObject({
      code: "WORKFLOW_PARAMS_INVALID",
      message: expect.stringContaining("n: must be 1"),
      details: { issues: [{ message: "must be 1", path: ["n"] }] },
    });
    expect((await app.counts()).active).toBe(0);
  });

  test("nonsense in the other options is refused", async () => {
    const app = open({ ECHO: echo });
    const { ECHO } = app.workflows;
    expect(await codeOf(() => ECHO.create({ startAt: new Date("nope") }))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => ECHO.create({ retention: "banana" }))).toBe("INVALID_DURATION");
    expect(await codeOf(() => ECHO.create(null as never))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => ECHO.createBatch([{ params: 1 }]))).toBe("INVALID_INSTANCE_ID");
    expect(await codeOf(() => ECHO.createBatch("many" as never))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => ECHO.list({ pageSize: 0 }))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => ECHO.list({ pageSize: 101 }))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => ECHO.list({ cursor: "nonsense" }))).toBe("INVALID_CURSOR");
    expect(await codeOf(() => ECHO.list({ status: "constructor" }))).toBe("INVALID_ARGUMENT");
    for (const time of ["yesterday", new Date("nonsense"), Number.NaN, 1.5, {}, null, 9e15] as never[]) {
      expect(await codeOf(() => ECHO.list({ createdFrom: time }))).toBe("INVALID_ARGUMENT");
      expect(await codeOf(() => ECHO.list({ createdBefore: time }))).toBe("INVALID_ARGUMENT");
    }
    for (const idPrefix of [7, {}, null, "x".repeat(10_000)] as never[]) {
      expect(await codeOf(() => ECHO.list({ idPrefix }))).toBe("INVALID_ARGUMENT");
    }
    expect((await app.counts()).active).toBe(0);
  });
});

describe("inside a run", () => {
  test.each([
    "banana",
    "",
    "10 parsecs",
    "-1 second",
    -5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e20,
    5n,
    {},
    "366 days",
    366 * 86_400_000,
  ])("sleep(%s) is refused", async (duration) => {
    expect(await mistake((step) => step.sleep("nap", duration as string))).toBe("INVALID_DURATION");
  });

  test("365 days are accepted", async () => {
    expect(await mistake((step) => step.sleep("nap", "365 days"))).toBe("waiting");
  });

  test.each([
    ["step name", (step: WorkflowStep) => step.do("", async () => 1), "INVALID_STEP_NAME"],
    ["step name", (step: WorkflowStep) => step.do("x".repeat(257), async () => 1), "INVALID_STEP_NAME"],
    ["step name", (step: WorkflowStep) => step.do("a\nb", async () => 1), "INVALID_STEP_NAME"],
    ["step name", (step: WorkflowStep) => step.do(5 as never, async () => 1), "INVALID_STEP_NAME"],
    ["callback", (step: WorkflowStep) => step.do("a", {} as never), "INVALID_STEP_CONFIG"],
    [
      "limit",
      (step: WorkflowStep) => step.do("a", { retries: { limit: -1 } }, async () => 1),
      "INVALID_STEP_CONFIG",
    ],
    [
      "delay",
      (step: WorkflowStep) => step.do("a", { retries: { delay: "soon" } }, async () => 1),
      "INVALID_DURATION",
    ],
    [
      "backoff",
      (step: WorkflowStep) => step.do("a", { retries: { backoff: "odd" as never } }, async () => 1),
      "INVALID_STEP_CONFIG",
    ],
    ["timeout", (step: WorkflowStep) => step.do("a", { timeout: 0 }, async () => 1), "INVALID_DURATION"],
    ["config", (step: WorkflowStep) => step.do("a", 5 as never, async () => 1), "INVALID_STEP_CONFIG"],
    ["time", (step: WorkflowStep) => step.sleepUntil("a", new Date("nope")), "INVALID_DURATION"],
    ["time", (step: WorkflowStep) => step.sleepUntil("a", 1e300), "INVALID_DURATION"],
    ["time", (step: WorkflowStep) => step.sleepUntil("a", Number.MAX_SAFE_INTEGER), "INVALID_DURATION"],
    ["time", (step: WorkflowStep) => step.sleepUntil("a", "2030-01-01" as never), "INVALID_DURATION"],
    [
      "event type",
      (step: WorkflowStep) => step.waitForEvent("a", { type: "has space" }),
      "INVALID_EVENT_TYPE",
    ],
    ["event type", (step: WorkflowStep) => step.waitForEvent("a", undefined as never), "INVALID_EVENT_TYPE"],
    ["topic", (step: WorkflowStep) => step.waitForEvent("a", { topic: "has space" }), "INVALID_TOPIC"],
    [
      "wait timeout",
      (step: WorkflowStep) => step.waitForEvent("a", { type: "t", timeout: 999 }),
      "INVALID_DURATION",
    ],
    [
      "wait timeout",
      (step: WorkflowStep) => step.waitForEvent("a", { type: "t", timeout: "366 days" }),
      "INVALID_DURATION",
    ],
    ["log category", (step: WorkflowStep) => step.log.info("a", 1, { category: "system" }), "INVALID_LOG"],
    ["log message", (step: WorkflowStep) => step.log.info(5 as never), "INVALID_LOG"],
  ])("a bad %s fails the run with a code (%#)", async (_what, run, expected) => {
    expect(await mistake(run)).toBe(expected);
    const unlimited = { maxSleep: Number.POSITIVE_INFINITY, maxStepTimeout: Number.POSITIVE_INFINITY };
    expect(await mistake(run, unlimited)).toBe(expected);
  });

  test.each([
    [
      "a cycle",
      () => Object.assign([] as unknown[], { 0: {} }).map(() => cyclic()),
      "VALUE_NOT_SERIALIZABLE",
    ],
    ["a function", () => ({ f: () => 1 }), "VALUE_NOT_SERIALIZABLE"],
    ["too large", () => "x".repeat(1024 * 1024 + 1), "PAYLOAD_TOO_LARGE"],
  ])("a step result that is %s fails the step once, without retries", async (_title, value, expected) => {
    let calls = 0;
    const run = (step: WorkflowStep) =>
      step.do("a", async () => {
        calls++;
        return value();
      });
    expect(await mistake(run)).toBe(expected);
    expect(calls).toBe(1);
  });

  test.each([
    ["a cycle", cyclic, "VALUE_NOT_SERIALIZABLE"],
    ["too large", () => "x".repeat(1024 * 1024 + 1), "PAYLOAD_TOO_LARGE"],
  ])("an output that is %s makes the run errored", async (_title, value, expected) => {
    expect(await mistake(async () => value())).toBe(expected);
  });

  test("a result of exactly the limit is kept", async () => {
    const run = (step: WorkflowStep) =>
      step.do("a", async () => "x".repeat(1024 * 1024 - 2)).then(() => "fits");
    expect(await mistake(run)).toBe("complete");
  });

  test("log data that cannot be kept does not fail the run", async () => {
    expect(await mistake((step) => step.log.info("note", { f: () => 1 }))).toBe("complete");
  });
});

describe("instances that are not there, or over", () => {
  test("unknown instances give INSTANCE_NOT_FOUND and nothing is created", async () => {
    const app = open({ ECHO: echo });
    const gone = await app.workflows.ECHO.create({ id: "i" });
    await erased(app.store, { workflowName: "echo", instanceId: "i" });
    for (const act of [
      () => app.workflows.ECHO.get("i"),
      () => gone.status(),
      () => gone.pause(),
      () => gone.resume(),
      () => gone.terminate(),
      () => gone.restart(),
      () => gone.fork(),
      () => gone.skipSleep(),
      () => gone.retryFailedStep(),
      () => gone.history(),
      () => gone.logs(),
      () => gone.result({ timeout: 10 }),
      () => gone.sendEvent({ type: "a" }),
    ]) {
      expect(await codeOf(act)).toBe("INSTANCE_NOT_FOUND");
    }
    expect(await app.counts()).toMatchObject({ active: 0, complete: 0 });
  });

  test("terminal instances refuse events, pause and terminate", async () => {
    const app = open({ ECHO: echo });
    const instance = await app.workflows.ECHO.create({ params: 1 });
    await app.tick();
    expect(await codeOf(() => instance.sendEvent({ type: "a" }))).toBe("INSTANCE_TERMINAL");
    expect(await codeOf(() => instance.pause())).toBe("INSTANCE_TERMINAL");
    expect(await codeOf(() => instance.terminate())).toBe("INSTANCE_TERMINAL");
    expect(await instance.status()).toEqual({ status: "complete", output: 1 });
  });

  test("bad events are refused and nothing is stored", async () => {
    const app = open({ ECHO: echo });
    const instance = await app.workflows.ECHO.create({ id: "i" });
    expect(await codeOf(() => instance.sendEvent({ type: "has space" }))).toBe("INVALID_EVENT_TYPE");
    expect(await codeOf(() => instance.sendEvent({ type: "x".repeat(101) }))).toBe("INVALID_EVENT_TYPE");
    expect(await codeOf(() => instance.sendEvent(undefined as never))).toBe("INVALID_EVENT_TYPE");
    expect(await codeOf(() => instance.sendEvent({ type: "a", payload: "x".repeat(1024 * 1024) }))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
    expect(await codeOf(() => instance.sendEvent({ type: "a", payload: () => 1 }))).toBe(
      "VALUE_NOT_SERIALIZABLE",
    );
    expect(await codeOf(() => app.publish("has space"))).toBe("INVALID_TOPIC");
    expect((await instance.history()).events).toEqual([]);
  });

  test("a result that is awaited when the app stops is refused at once, and the instance is not harmed", async () => {
    const path = join(temporaryFolder(), "app.db");
    const waits = defineWorkflow({ name: "waits" }, async (_event, step) =>
      step.waitForEvent("go", { type: "go" }),
    );
    const app = open({ WAITS: waits }, path);
    await app.start();
    const instance = await app.workflows.WAITS.create({ id: "i" });
    const result = codeOf(() => instance.result());
    await app.stop();
    expect(await result).toBe("APP_STOPPED");
    const again = open({ WAITS: waits }, path);
    expect(["active", "waiting"]).toContain((await (await again.workflows.WAITS.get("i")).status()).status);
  });

  test("an app that was stopped says so", async () => {
    const app = open({ ECHO: echo });
    const instance = await app.workflows.ECHO.create();
    await app.stop();
    expect(await codeOf(() => instance.status())).toBe("APP_STOPPED");
    expect(await codeOf(() => app.start())).toBe("APP_STOPPED");
  });
});

describe("database files", () => {
  test("a file that is not a database is refused and not touched", async () => {
    const path = join(temporaryFolder(), "notes.txt");
    const text = "These are my notes, and they shall stay as they are.\n".repeat(200);
    writeFileSync(path, text);
    const app = open({ ECHO: echo }, path);
    expect(await codeOf(() => app.start())).toMatch(/^STORE_(CORRUPT|NOT_OURS)$/);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("a database in a folder that does not exist names the path", async () => {
    const path = join(temporaryFolder(), "nowhere", "app.db");
    const app = open({ ECHO: echo }, path);
    await expect(app.start()).rejects.toMatchObject({ message: expect.stringContaining(path) });
  });

  test("a newer schema is refused with both versions", async () => {
    const path = join(temporaryFolder(), "app.db");
    await open({ ECHO: echo }, path).migrate();
    const db = new DatabaseSync(path);
    db.exec("UPDATE everstep_meta SET value = 99 WHERE name <> 'last_run'");
    db.close();
    await expect(open({ ECHO: echo }, path).start()).rejects.toMatchObject({
      code: "SCHEMA_TOO_NEW",
      message: expect.stringContaining("99"),
    });
  });

  test("a full disk gives STORE_FULL, keeps what was acknowledged, and goes on when there is room", async () => {
    // Retries of a failing store take half a minute; here their delays are skipped.
    const timer: typeof systemRuntime.timer = (callback) => systemRuntime.timer(callback, 0);
    const store = sqlite(join(temporaryFolder(), "app.db"));
    const app = createWorkflows({ workflows: { ECHO: echo }, store, runtime: { timer } });
    apps.push(app as unknown as App);
    await app.workflows.ECHO.create({ id: "first", params: "kept" });
    const write = store.write.bind(store);
    store.write = async () => {
      throw new StoreError("unavailable", "STORE_FULL", "There is no space left for the database.");
    };
    const refused = codeOf(() => app.workflows.ECHO.create({ id: "second" }));
    expect(await refused).toBe("STORE_FULL");
    store.write = write;
    expect((await (await app.workflows.ECHO.get("first")).details()).params).toBe("kept");
    await app.workflows.ECHO.create({ id: "third" });
    expect((await app.counts()).active).toBe(2);
  });

  test("a read-only database is named as such", async (context) => {
    if (process.getuid?.() === 0)
      context.skip("root may write everywhere; the store's own tests open files read-only");
    const path = join(temporaryFolder(), "app.db");
    await open({ ECHO: echo }, path).migrate();
    chmodSync(path, 0o444);
    expect(await codeOf(() => open({ ECHO: echo }, path).workflows.ECHO.create())).toBe("STORE_READ_ONLY");
  });

  test("two apps on one file share it", async () => {
    const path = join(temporaryFolder(), "app.db");
    const one = open({ ECHO: echo }, path);
    const two = open({ ECHO: echo }, path);
    await Promise.all([one.start(), two.start()]);
    const instances = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? one : two).workflows.ECHO.create({ id: `n${n}`, params: n }),
      ),
    );
    const results = await Promise.all(
      instances.map((instance) => instance.result({ timeout: "60 seconds" })),
    );
    expect(results.map(({ output }) => output)).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(await codeOf(() => two.workflows.ECHO.create({ id: "n1" }))).toBe("INSTANCE_ID_ALREADY_EXISTS");
  });
});

function cyclic(): unknown {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
}

test("a row with a number beyond reading is one unreadable run, and the audit goes on", async () => {
  const path = join(temporaryFolder(), "app.db");
  const nap = defineWorkflow({ name: "nap" }, async (_event, step) => {
    await step.do("a", async () => 1);
    await step.sleep("nap", "1 day");
  });
  const app = open({ nap }, path);
  for (const id of ["bad", "good"]) await app.workflows.nap.create({ id });
  await app.tick();
  const database = new DatabaseSync(path);
  database.exec("UPDATE everstep_step SET max_attempts = 9007199254740993 WHERE run = 1 AND name = 'a'");
  database.close();
  const report = await app.verify();
  expect(report.unreadable).toMatchObject([{ workflowName: "nap", instanceId: "bad" }]);
  expect(report.complete).toBe(true);
});

describe("options whose getters throw are a mistake with a code", () => {
  const traps = { get: refuse, ownKeys: refuse, has: refuse, getPrototypeOf: refuse };
  const trap = new Proxy({}, traps) as never;
  const withGetter = (name: string) =>
    Object.defineProperty({}, name, { enumerable: true, get: refuse }) as never;

  function refuse(): never {
    throw new TypeError("hands off");
  }

  test.each([
    ["step", (step: WorkflowStep) => step.do("a", trap, async () => 1), "INVALID_STEP_CONFIG"],
    [
      "step",
      (step: WorkflowStep) => step.do("a", withGetter("retries"), async () => 1),
      "INVALID_STEP_CONFIG",
    ],
    ["log line", (step: WorkflowStep) => step.log.info("a", 1, trap), "INVALID_LOG"],
  ])("of a %s (%#)", async (_what, run, expected) => {
    expect(await mistake(run)).toBe(expected);
  });

  test.each([trap, withGetter("timeout")])("of a wait (%#)", async (options) => {
    const wait = defineWorkflow({ name: "wait" }, async (_event, step) => step.waitForEvent("a", options));
    const app = open({ wait });
    const instance = await app.workflows.wait.create();
    await app.tick();
    expect((await instance.status()).error?.code).toBe("INVALID_STEP_CONFIG");
  });

  test("of create and defineWorkflow", async () => {
    const app = open({ echo });
    expect(await codeOf(() => app.workflows.echo.create(trap))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => app.workflows.echo.create(withGetter("id")))).toBe("INVALID_ARGUMENT");
    expect(await codeOf(() => app.workflows.echo.createBatch([withGetter("id")] as never))).toBe(
      "INVALID_ARGUMENT",
    );
    expect(await codeOf(() => defineWorkflow(trap, async () => 1))).toBe("INVALID_WORKFLOW_DEFINITION");
    expect(await codeOf(() => defineWorkflow(withGetter("name"), async () => 1))).toBe(
      "INVALID_WORKFLOW_DEFINITION",
    );
  });
});

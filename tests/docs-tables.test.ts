/** The tables of the documentation hold what the code holds. */
import { readFileSync } from "node:fs";
import { createWorkflows, defaultLimits, defineWorkflow, type InstanceHandle } from "everstep";
import { memory } from "everstep/memory";
import { mysql } from "everstep/mysql";
import { postgres } from "everstep/postgres";
import { redis } from "everstep/redis";
import { sqlite } from "everstep/sqlite";
import { createGate, createTestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { formatDuration } from "../packages/everstep/src/authoring/duration.ts";
import {
  crashBackoff,
  errorLimits,
  runnerDefaults,
  stepDefaults,
  storeRetry,
} from "../packages/everstep/src/model/limits.ts";
import { observerNames } from "../packages/everstep/src/model/observer.ts";

test("running.md has every method of an observer, in the order of model/observer.ts", () => {
  const [, section = ""] = readFileSync("docs/running.md", "utf8").split("## Observers\n");
  const rows =
    section
      .split("\n## ")[0]
      ?.split("\n")
      .filter((line) => line.startsWith("| `on")) ?? [];
  const named = rows.flatMap((row) => row.split("|")[1]?.match(/on[A-Z]\w+/g) ?? []);
  expect(named).toEqual(Object.keys(observerNames));
});

describe("errors.md", () => {
  const model = readFileSync("packages/everstep/src/model/error.ts", "utf8");
  const begin = model.indexOf("type ErrorCode");
  const union = model.slice(begin, model.indexOf(";", begin));

  test("has one heading per code, in the groups and the order of model/error.ts, and no other", () => {
    const groupsAndCodes = [...union.matchAll(/\/\/ (.+)|"([A-Z_]+)"/g)].map(
      ([, group, code]) => code ?? (group as string),
    );
    const headings = [...readFileSync("docs/errors.md", "utf8").matchAll(/^#{2,3} (.+)$/gm)];
    expect(headings.map(([, heading = ""]) => (isCode(heading) ? heading : heading.toLowerCase()))).toEqual(
      groupsAndCodes,
    );
  });

  test("says something about each", () => {
    const sections = readFileSync("docs/errors.md", "utf8").split(/^### /m).slice(1);
    for (const section of sections) {
      const [code, ...text] = section.split(/^## /m)[0]?.trim().split("\n") ?? [];
      expect(text.join(" ").trim().length, code).toBeGreaterThan(40);
    }
  });

  test("every code a page mentions exists", () => {
    const codes = new Set([...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code));
    const pages = [
      "concepts",
      "rules",
      "changing-code",
      "lifecycle",
      "stores",
      "running",
      "verify",
      "testing",
      "cloudflare",
      "http",
      "client",
    ];
    for (const page of pages) {
      const text = readFileSync(`docs/${page}.md`, "utf8");
      const mentioned = [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, code]) => code);
      expect(mentioned.filter((code) => !codes.has(code))).toEqual([]);
    }
  });
});

describe("limits.md", () => {
  const rows = tableRows("docs/limits.md");
  const shown = (name: string): string | undefined => rows.find(([first]) => first === name)?.[1];

  test("names every limit with its value, and no other", () => {
    const limits = Object.entries(defaultLimits).map(([name, value]) => [
      `\`${name}\``,
      shownLimit(name, value),
    ]);
    expect(
      rows.filter(([, , meaning]) => meaning !== undefined).map(([name, value]) => [name, value]),
    ).toEqual([["Name", "Default"], ...limits]);
  });

  test.each([
    ["`retries.limit`", stepDefaults.retryLimit],
    ["`retries.delay`", formatDuration(stepDefaults.retryDelayMs)],
    ["`retries.backoff`", stepDefaults.backoff],
    ["`timeout`", formatDuration(stepDefaults.timeoutMs)],
    ["`runner.concurrency`", runnerDefaults.concurrency],
    ["`runner.lease`", formatDuration(runnerDefaults.leaseMs)],
    ["`runner.poll`", formatDuration(runnerDefaults.pollMs)],
    ["`runner.minPoll`", formatDuration(runnerDefaults.minPollMs)],
    ["`runner.maxPoll`", formatDuration(runnerDefaults.maxPollMs)],
    ["`runner.maxPoll` where no nudges arrive", formatDuration(runnerDefaults.maxPollMsUntold)],
    ["`runner.maxResidents`", runnerDefaults.maxResidents],
    ["`runner.maxMemoryBytes`", mebibytes(runnerDefaults.maxMemoryBytes)],
    ["`stop({ grace })`", formatDuration(runnerDefaults.stopGraceMs)],
    ["requests that share one write", runnerDefaults.groupMax],
    ["bytes of requests that share one write", mebibytes(runnerDefaults.groupBytesMax)],
    ["bytes of histories that are read at once", mebibytes(runnerDefaults.readBytesMax)],
    ["how often a SQLite runner checks for writes by other processes", formatDuration(runnerDefaults.lookMs)],
    ["failed attempts kept per step; the oldest are dropped", errorLimits.attemptsKept],
    ["characters kept of an error's name", errorLimits.nameMax],
    ["characters kept of an error's message", errorLimits.messageMax],
    ["characters kept of an error's stack", errorLimits.stackMax],
    ["causes kept of an error", errorLimits.causeDepth],
    [
      "first delay after a second crash of the process, doubled each time",
      formatDuration(crashBackoff.baseMs),
    ],
    ["longest such delay", formatDuration(crashBackoff.maxMs)],
    ["retries of a store call that failed for a transient reason", storeRetry.retries],
    ["first delay before such a retry, doubled each time", formatDuration(storeRetry.delayMs)],
  ])("%s is %s", (name, value) => {
    expect(shown(name)).toBe(String(value));
  });

  test("the settings of running.md have the same defaults", () => {
    const settings = new Map(tableRows("docs/running.md").map(([name = "", value]) => [name, value]));
    expect(settings.get("`runner.concurrency`")).toBe(shown("`runner.concurrency`"));
    expect(settings.get("`runner.lease`")).toBe(shown("`runner.lease`"));
    expect(settings.get("`runner.poll`")).toBe(shown("`runner.poll`"));
    expect(settings.get("`runner.maxResidents`")).toBe(shown("`runner.maxResidents`"));
    expect(settings.get("`runner.maxMemoryBytes`")).toBe(shown("`runner.maxMemoryBytes`"));
    expect(settings.get("`runner.minPoll`, `runner.maxPoll`")).toBe(
      `${shown("`runner.minPoll`")}, ${shown("`runner.maxPoll`")}`,
    );
  });

  test("the step defaults of concepts.md are the same", () => {
    const options = new Map(tableRows("docs/concepts.md").map(([name = "", value]) => [name, value]));
    for (const name of ["`retries.limit`", "`retries.delay`", "`timeout`"]) {
      expect(options.get(name)).toBe(shown(name));
    }
    expect(options.get("`retries.backoff`")).toBe(`\`${shown("`retries.backoff`")}\``);
  });
});

describe("lifecycle.md", () => {
  const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
    await step.do("first", async () => 1);
    if (event.payload.until === "waiting") await step.sleep("nap", "1 hour");
    if (event.payload.until === "errored") {
      await step.do("bad", { retries: false }, async () => Promise.reject(new Error("no")));
    }
  });
  type Harness = ReturnType<typeof createTestHarness<{ W: typeof workflow }>>;

  const begin = async (harness: Harness, until: string): Promise<InstanceHandle> => {
    const instance = await harness.workflows.W.create({ id: "i", params: { until } });
    await harness.tick();
    return instance;
  };
  const instances: Record<string, (harness: Harness) => Promise<InstanceHandle>> = {
    active: (harness) => harness.workflows.W.create({ id: "i", params: {} }),
    waiting: (harness) => begin(harness, "waiting"),
    async paused(harness) {
      const instance = await begin(harness, "waiting");
      await instance.pause();
      return instance;
    },
    complete: (harness) => begin(harness, "complete"),
    errored: (harness) => begin(harness, "errored"),
    async terminated(harness) {
      const instance = await harness.workflows.W.create({ id: "i", params: {} });
      await instance.terminate();
      return instance;
    },
  };
  /** What a call comes to, in the words of the table. */
  const calls: Record<string, (instance: InstanceHandle, harness: Harness) => Promise<string>> = {
    "pause()": (instance) => changeOf(instance, () => instance.pause()),
    "resume()": (instance) => changeOf(instance, () => instance.resume()),
    "terminate()": (instance) => changeOf(instance, () => instance.terminate()),
    "delete()": (instance) => removalOf(instance, {}),
    "delete({ force: true })": (instance) => removalOf(instance, { force: true }),
    "restart()": (instance) => changeOf(instance, () => instance.restart()),
    "fork()": async (instance) => ((await instance.fork()).id === instance.id ? "the same" : "new instance"),
    "retryFailedStep()": (instance) => changeOf(instance, () => instance.retryFailedStep()),
    async "skipSleep()"(instance, harness) {
      await instance.skipSleep();
      await instance.resume();
      await harness.runUntilIdle();
      return (await harness.steps("i")).includes("nap completed") ? "ends the sleep" : "–";
    },
    "sendEvent()": async (instance) => {
      await instance.sendEvent({ type: "any" });
      return "accepted";
    },
  };
  const removalOf = async (instance: InstanceHandle, options: object): Promise<string> => {
    await instance.delete(options);
    const gone = await instance.status().catch(({ code }) => code);
    return gone === "INSTANCE_NOT_FOUND" ? "removed" : "still there";
  };
  const table = tableRows("docs/lifecycle.md");
  const header = table.find(([first, second]) => first === "" && second === "active") ?? [];

  test("the table has every status and every call", () => {
    expect(header.slice(1)).toEqual(Object.keys(instances));
    const rows = table.slice(table.indexOf(header) + 1).map(([first]) => first);
    expect(rows.slice(0, 10)).toEqual(Object.keys(calls).map((call) => `\`${call}\``));
  });

  describe.each([
    ["memory", () => memory()],
    ["sqlite", () => sqlite(":memory:")],
  ])("on %s", (_name, open) => {
    const cells = Object.keys(calls).flatMap((call) =>
      Object.keys(instances).map((status) => ({ call, status })),
    );
    test.each(cells)("$call while $status", async ({ call, status }) => {
      const store = open();
      const harness: Harness = createTestHarness({ workflows: { W: workflow }, store });
      const instance = (await instances[status]?.(harness)) as InstanceHandle;
      expect((await instance.status()).status).toBe(status);
      const word = await calls[call]?.(instance, harness).catch((error) => `\`${error.code}\``);
      const row = table.find(([first]) => first === `\`${call}\``);
      expect(row?.[header.indexOf(status)]).toBe(word);
      await harness.stop();
    });
  });

  test("a status that is executing is active like one that is not", async () => {
    const gate = createGate();
    const held = defineWorkflow({ name: "held" }, async (_event, step) => step.do("body", () => gate.wait()));
    const harness = createTestHarness({ workflows: { HELD: held } });
    const instance = await harness.workflows.HELD.create({ id: "i" });
    expect(await instance.details()).toMatchObject({ status: "active", executing: false, queued: true });
    await harness.tick();
    expect(await instance.details()).toMatchObject({ status: "active", executing: true, queued: false });
    await gate.open();
    await harness.stop();
  });
});

describe("concepts.md", () => {
  class Money {
    amount = 3;
  }
  class Ledger extends Map<number, number> {}
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let level = 0; level < 1001; level++) deep = [deep];
  const twice = { n: 1 };

  /** What a step returned, as a replay in another process sees it. */
  async function kept(value: unknown): Promise<unknown> {
    let seen: unknown;
    const workflow = defineWorkflow({ name: "w" }, async (_event, step) => {
      seen = await step.do("value", async () => value);
      await step.sleep("nap", "1 second");
    });
    const harness = createTestHarness({ workflows: { W: workflow } });
    await harness.workflows.W.create({ id: "i" });
    await harness.runUntilIdle();
    await harness.restartRunner();
    seen = "not replayed";
    await harness.advance("1 second");
    const { status, error } = await harness.status("i");
    await harness.stop();
    if (status === "errored") throw error;
    return seen;
  }

  test.each([
    ["JSON", { a: [null, true, 1.5, "text"] }],
    ["undefined", { a: undefined }],
    ["numbers JSON lacks", [Number.NaN, Number.POSITIVE_INFINITY, -0, 12n]],
    ["Date, Map, Set, RegExp, URL", [new Date(5), new Map([[1, new Set([2])]]), /a/gi, new URL("file:///a")]],
    ["bytes", [new ArrayBuffer(2), new Float64Array([1.5]), new DataView(new ArrayBuffer(1))]],
    ["errors", new TypeError("wrong", { cause: new RangeError("far") })],
  ])("%s come back as themselves", async (_name, value) => {
    expect(await kept(value)).toEqual(value);
  });

  test("Buffers, subclasses and objects without prototype come back as what they are made of", async () => {
    const [bytes, ledger, bare] = (await kept([
      Buffer.from("a"),
      new Ledger([[1, 2]]),
      Object.assign(Object.create(null), { a: 1 }),
    ])) as [Uint8Array, Map<number, number>, object];
    expect([bytes.constructor, ledger.constructor]).toEqual([Uint8Array, Map]);
    expect(Object.getPrototypeOf(bare)).toBe(Object.prototype);
  });

  test("one object in two places comes back as two", async () => {
    const [first, second] = (await kept([twice, twice])) as [object, object];
    expect(first).toEqual(second);
    expect(first).not.toBe(second);
  });

  test.each([
    [
      "an instance of a class",
      { items: [new Money()] },
      /^step "value" result\.items\[0\] is an instance of Money/,
    ],
    ["a function", () => {}, /is a function/],
    ["a symbol", Symbol("s"), /is a symbol/],
    ["a WeakMap", new WeakMap(), /WeakMap/],
    ["a stream", new ReadableStream(), /ReadableStream/],
    ["a cycle", cycle, /refers back/],
    ["too many levels", deep, /levels deep/],
  ])("%s is refused", async (_name, value, message) => {
    await expect(kept(value)).rejects.toMatchObject({
      code: "VALUE_NOT_SERIALIZABLE",
      message: expect.stringMatching(message),
    });
  });
});

describe("stores.md", () => {
  test("the capabilities are those of the stores", async () => {
    const stores = {
      '`sqlite("app.db")`': sqlite("app.db"),
      '`sqlite(":memory:")`': sqlite(":memory:"),
      "`postgres(url)`": postgres("postgres://localhost/app"),
      "`mysql(url)`": mysql("mysql://localhost/app"),
      "`redis(url)`": redis("redis://localhost"),
      "`memory()`": memory(),
    };
    const table = tableRows("docs/stores.md");
    const header = table.find(([first]) => first === "Capability") ?? [];
    expect(header.slice(1)).toEqual(Object.keys(stores));
    for (const [at, store] of Object.values(stores).entries()) {
      const app = createWorkflows({ workflows: {}, store });
      for (const [name, capability] of Object.entries(app.store.capabilities)) {
        const row = table.find(([first]) => first?.startsWith(`\`${name}\`: `));
        expect([name, row?.[at + 1]]).toEqual([name, capability.has ? "yes" : "no"]);
      }
    }
  });
});

function isCode(heading: string): boolean {
  return /^[A-Z_]+$/.test(heading);
}

/** The cells of all tables of a page, without the lines under their headers. */
function tableRows(page: string): string[][] {
  return readFileSync(page, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("|") && !/^\|[\s|-]+$/.test(line))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf("|"))
        .split("|")
        .map((cell) => cell.trim()),
    );
}

function mebibytes(bytes: number): string {
  return `${bytes / 1024 / 1024} MiB`;
}

function shownLimit(name: string, value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "none";
  if (name.endsWith("Bytes")) return mebibytes(value);
  return /Timeout$|Sleep$/.test(name) ? formatDuration(value) : String(value);
}

async function changeOf(instance: InstanceHandle, act: () => Promise<unknown>): Promise<string> {
  const before = await instance.details();
  await act();
  const after = await instance.details();
  if (after.runNumber > before.runNumber) return `${after.status}, next run`;
  return after.status === before.status ? "–" : after.status;
}

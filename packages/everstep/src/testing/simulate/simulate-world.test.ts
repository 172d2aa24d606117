/** Time, real work, stores and the process that all of it runs in. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as realSleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import { defineEntrypoint, WorkflowEntrypoint } from "../../cloudflare/entrypoint.ts";
import { sqlite } from "../../stores/sqlite/index.ts";
import { simulate } from "./simulate.ts";

test("real work of bodies is waited for, and no virtual time passes meanwhile", async () => {
  const took: number[] = [];
  await simulate(
    {
      READ: defineWorkflow({ name: "read" }, async (_event, step) => {
        await step.do("file", async () => {
          const began = Date.now();
          await realSleep(3);
          took.push(Date.now() - began);
        });
        await Promise.all(
          ["a", "b"].map((name) => step.do(name, () => new Promise((done) => setImmediate(done)))),
        );
      }),
    },
    { seeds: 10, invariants: { "it is complete": ({ instances }) => instances[0]?.status === "complete" } },
  );
  expect(took.length).toBeGreaterThan(10);
  expect(new Set(took)).toEqual(new Set([0]));
});

test("real work that takes longer than the patience is an error that names the step", async () => {
  const stuck = simulate(
    {
      A: defineWorkflow({ name: "a" }, async (_event, step) => step.do("fetch", () => new Promise(() => {}))),
    },
    { patience: 20 },
  );
  await expect(stuck).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
    message: expect.stringMatching(/^Step "fetch" of a "a-1" has been at real work for 20 ms.*clock\.sleep/),
  });
});

test("so is a scenario that waits for something real", async () => {
  const a = defineWorkflow({ name: "a" }, async () => "done");
  const stuck = simulate({ A: a }, { patience: 20, scenario: () => new Promise(() => {}) });
  await expect(stuck).rejects.toThrow(/^The scenario has been at real work for 20 ms/);
});

test("a body that waits on the simulated clock is cut off there, and has its timeouts", async () => {
  const seen = { halves: 0, wholes: 0 };
  const report = await simulate(
    (_state: object, { clock }) => ({
      SLOW: defineWorkflow({ name: "slow" }, async (_event, step) => {
        await step.do("two halves", async () => {
          seen.halves++;
          await clock.sleep("5 seconds");
          seen.wholes++;
        });
        await step
          .do("too long", { timeout: "5 seconds", retries: false }, () => clock.sleep("1 minute"))
          .catch(() => {});
      }),
    }),
    { seeds: 40, invariants: { "it is complete": ({ instances }) => instances[0]?.status === "complete" } },
  );
  expect(report.sightings["a process: killed"]).toBeGreaterThan(0);
  expect(seen.halves).toBeGreaterThan(seen.wholes);
});

test("months and years cost nothing", async () => {
  const year = defineWorkflow({ name: "year" }, async (_event, step) => {
    for (let month = 1; month <= 12; month++) await step.sleep(`month ${month}`, "30 days");
    await step.waitForEvent("never", { type: "never", timeout: "365 days" }).catch(() => {});
    return "old";
  });
  const began = process.cpuUsage();
  const { worlds } = await simulate({ YEAR: year }, { seeds: 10 });
  expect(process.cpuUsage(began).user / 1000 / worlds).toBeLessThan(500);
});

test("with mustEnd: false a world is at rest when every instance waits", async () => {
  const statuses = new Set<string>();
  const watch = defineWorkflow({ name: "watch" }, async (_event, step) => {
    for (let at = 0; ; at++) await step.waitForEvent(`change ${at}`, { type: "change", timeout: "1 day" });
  });
  await simulate(
    { WATCH: watch },
    {
      seeds: 20,
      mustEnd: false,
      scenario: async ({ workflows }) => {
        const instance = await workflows.WATCH.create({ id: "w-1" });
        await instance.sendEvent({ idempotencyKey: "first", type: "change" });
      },
      invariants: {
        "the change is taken": ({ instances }) => {
          for (const { status, events } of instances) {
            statuses.add(status);
            if (events.some(({ consumedByStepKey }) => consumedByStepKey === null))
              return "it is still there";
          }
        },
      },
    },
  );
  expect(statuses).toEqual(new Set(["waiting"]));
});

test("children, topics, pauses, restarts and terminations work as in the app", async () => {
  const child = defineWorkflow({ name: "child" }, async (_event, step) => {
    const { payload } = await step.waitForEvent<number>("news", { topic: "news", timeout: "1 hour" });
    return payload;
  });
  const parent = defineWorkflow({ name: "parent" }, async (event, step) => {
    await step.do("start", async ({ startWorkflow }) => {
      startWorkflow(child, { id: `${event.instanceId}-child` });
    });
    await step.sleep("a while", "1 minute");
    return "parent";
  });
  await simulate(
    { PARENT: parent, CHILD: child },
    {
      seeds: 20,
      scenario: async ({ workflows, app, clock }) => {
        const [one, two] = await Promise.all(["p-1", "p-2"].map((id) => workflows.PARENT.create({ id })));
        await clock.sleep("30 minutes");
        await app.publish("news", 7, { idempotencyKey: "news-1" });
        await one?.restart();
        await one?.pause();
        await clock.sleep("1 day");
        await one?.resume();
        await two?.terminate().catch(() => {});
      },
      invariants: {
        "children hear the news, or nothing": ({ instances }) => {
          const ends = instances.map(({ id, output, error }) => `${id} ${output ?? error?.code ?? "ended"}`);
          expect(ends).toHaveLength(4);
          expect(ends).toContain("p-1 parent");
          for (const end of ends) expect(end).toMatch(/parent$|child (7|WAIT_FOR_EVENT_TIMEOUT)$/);
        },
      },
    },
  );
});

test("classes written for Cloudflare can be simulated", async () => {
  class Greet extends WorkflowEntrypoint<unknown, { name: string }> {
    override async run(event: { payload: { name: string } }, step: Parameters<WorkflowEntrypoint["run"]>[1]) {
      const hello = await step.do("hello", async () => `hello ${event.payload.name}`);
      await step.sleep("nap", "1 hour");
      return hello;
    }
  }
  const report = await simulate(
    { GREET: defineEntrypoint({ name: "greet" }, Greet) },
    {
      seeds: 10,
      scenario: async ({ workflows }) => {
        await workflows.GREET.create({ id: "g-1", params: { name: "ann" } });
      },
      invariants: { greeted: ({ instances }) => instances[0]?.output === "hello ann" },
    },
  );
  expect(report.ok).toBe(true);
});

test.each(["in memory", "in a file"])("on SQLite %s", async (where) => {
  const folder = mkdtempSync(join(tmpdir(), "everstep-simulate-"));
  let stores = 0;
  try {
    const report = await simulate(
      {
        COUNT: defineWorkflow({ name: "count" }, async (_event, step) => {
          await step.do("one", async () => 1);
          await step.sleep("a day", "1 day");
          return step.do("two", async () => 2);
        }),
      },
      {
        seeds: 6,
        store: () => sqlite(where === "in memory" ? ":memory:" : join(folder, `${++stores}.db`)),
        invariants: { counted: ({ instances }) => instances[0]?.output === 2 },
      },
    );
    expect(report.ok).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("Date, Math.random and crypto.randomUUID are those of the seed inside, and the real ones outside", async () => {
  const real = { Date, random: Math.random, uuid: crypto.randomUUID };
  const inside: unknown[] = [];
  const outside: number[] = [];
  const look = defineWorkflow({ name: "look" }, async (event, step) => {
    await step.do("look", async () => {
      const date = new Date();
      expect(date).toBeInstanceOf(Date);
      expect(date.constructor).toBe(Date);
      expect(Date.parse(Date())).toBeLessThanOrEqual(date.getTime());
      inside.push([
        date.getTime() - event.timestamp.getTime() < 1_000_000,
        Math.random(),
        crypto.randomUUID(),
      ]);
    });
  });
  const simulation = simulate({ LOOK: look }, { seeds: 1, faults: false });
  for (let turn = 0; turn < 5; turn++) {
    await realSleep(1);
    outside.push(new Date().getFullYear());
  }
  await simulation;
  expect(new Set(outside)).toEqual(new Set([new Date().getFullYear()]));
  await simulate({ LOOK: look }, { seeds: 1, faults: false });
  expect(inside.length % 2).toBe(0);
  expect(inside.slice(inside.length / 2)).toEqual(inside.slice(0, inside.length / 2));
  expect({ Date, random: Math.random, uuid: crypto.randomUUID }).toEqual(real);
});

test("two simulations at once do not disturb each other", async () => {
  const a = defineWorkflow({ name: "a" }, async (_event, step) => {
    await step.do("one", async () => realSleep(1));
    return step.do("two", async () => Math.random());
  });
  const outputs = async (): Promise<unknown[]> => {
    const seen: unknown[] = [];
    await simulate(
      { A: a },
      { seeds: 8, invariants: { look: ({ instances }) => void seen.push(instances[0]?.output) } },
    );
    return seen;
  };
  const [one, two] = await Promise.all([outputs(), outputs()]);
  expect(one).toEqual(two);
  expect(one).toEqual(await outputs());
});

test("no listener is left behind", async () => {
  const events = ["unhandledRejection", "uncaughtException"] as const;
  const listeners = (): number[] => events.map((event) => process.listenerCount(event));
  const before = listeners();
  await simulate(
    { A: defineWorkflow({ name: "a" }, async (_event, step) => step.sleep("nap", 5)) },
    { seeds: 20 },
  );
  expect(listeners()).toEqual(before);
});

/** In a process of its own, for what would take this one down. */
function runAlone(body: string, options: string): unknown {
  const at = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    import { setTimeout as realSleep } from "node:timers/promises";
    import { defineWorkflow } from ${at("../../index.ts")};
    import { simulate } from ${at("./simulate.ts")};
    await simulate(
      (state, { clock }) => ({ A: defineWorkflow({ name: "a" }, async (_event, step) => { ${body} }) }),
      ${options},
    );
    process.once("beforeExit", () => console.log("over by itself"));`;
  const flags = [
    "--conditions=everstep-source",
    "--disable-warning=ExperimentalWarning",
    "--input-type=module",
  ];
  const alone = spawnSync(process.execPath, [...flags, "-e", program], { timeout: 60_000, encoding: "utf8" });
  return { stdout: alone.stdout, stderr: alone.stderr, status: alone.status };
}

const overByItself = { stdout: "over by itself\n", stderr: "", status: 0 };

test("nor is anything that would keep the process from ending", () => {
  const body = 'await step.do("one", () => realSleep(1)); await step.sleep("nap", "1 day");';
  expect(runAlone(body, '{ seeds: 10, patience: "1 hour" }')).toEqual(overByItself);
});

test("a promise that fails in a process which is dead by then takes nobody with it", () => {
  const body = `await step.do("two at once", async () => {
    void realSleep(20).then(() => Promise.reject(new Error("nobody listens")));
    await clock.sleep("1 second");
  });`;
  const wait = 'invariants: { "the last waits": ({ seed }) => (seed === 30 ? realSleep(60) : undefined) }';
  expect(runAlone(body, `{ seeds: 30, ${wait} }`)).toEqual(overByItself);
});

test("three hundred seeds of a small workflow take seconds", async () => {
  const order = defineWorkflow({ name: "order" }, async (_event, step) => {
    await step.do("reserve", async () => 1);
    await step.do("charge", async () => 2);
    await step.do("ship", async () => 3);
  });
  const began = process.cpuUsage();
  const { seeds } = await simulate({ ORDER: order }, { seeds: 300 });
  expect(seeds).toBe(300);
  // Of the processor's time, which passes only while we are at it.
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(15_000);
});

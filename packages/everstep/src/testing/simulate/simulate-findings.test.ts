/** Mistakes that people make in workflows, planted; each with the sound version beside it, which must pass. */
import { expect, test } from "vitest";
import { defineWorkflow, type WorkflowDefinition } from "../../authoring/define-workflow.ts";
import type { WorkflowEvent, WorkflowStep } from "../../authoring/workflow-step.ts";
import type { Invariants } from "./own/invariants.ts";
import type { ScenarioContext, SimulatedProcess, SimulateOptions } from "./own/options.ts";
import type { SimulationReport } from "./own/report.ts";
import { simulate } from "./simulate.ts";

interface Outside {
  /** What was done to the world, in order. */
  readonly did: string[];
  readonly keys: Set<string>;
}

type Run = (event: WorkflowEvent, step: WorkflowStep) => Promise<unknown>;
type Write = (outside: Outside, process: SimulatedProcess) => Run;
type Options = SimulateOptions<{ W: WorkflowDefinition }, Outside>;

function tried(write: Write, options: Options = {}): Promise<SimulationReport> {
  return simulate<{ W: WorkflowDefinition }, Outside>(
    (outside, process) => ({ W: defineWorkflow({ name: "w" }, write(outside, process)) }),
    {
      seeds: 60,
      state: () => ({ did: [], keys: new Set() }),
      throws: false,
      shrinkTime: "2 seconds",
      ...options,
    },
  );
}

const once = (what: string): Invariants<Outside> => ({
  [`${what} once`]: ({ state }) => {
    const count = state.did.filter((deed) => deed === what).length;
    if (count !== 1) return `${what} ${count} times`;
  },
});

const sameSteps = "a workflow function asks for the same steps when it is run again";

test("an effect that is not safe to repeat", async () => {
  const wrong = await tried(
    ({ did }) =>
      async (_event, step) =>
        step.do("charge", async () => void did.push("charged")),
    { invariants: once("charged") },
  );
  expect(wrong.failures[0]).toMatchObject({
    invariant: "charged once",
    reason: "charged 2 times",
    faults: 1,
  });
  const right = await tried(
    ({ did, keys }) =>
      async (_event, step) =>
        step.do("charge", async ({ idempotencyKey }) => {
          if (keys.has(idempotencyKey)) return;
          keys.add(idempotencyKey);
          did.push("charged");
        }),
    { invariants: once("charged") },
  );
  expect(right.failures).toEqual([]);
});

test("two effects in one step, of which the first is repeated with the second", async () => {
  const write: Write =
    ({ did, keys }, { clock }) =>
    async (_event, step) =>
      step.do("order", async ({ idempotencyKey }) => {
        did.push("reserved");
        await clock.sleep("1 second");
        if (!keys.has(idempotencyKey)) did.push("charged");
        keys.add(idempotencyKey);
      });
  const { failures } = await tried(write, { invariants: { ...once("charged"), ...once("reserved") } });
  expect(failures[0]).toMatchObject({ invariant: "reserved once" });
});

test("an effect outside of every step", async () => {
  const wrong = await tried(
    ({ did }) =>
      async (_event, step) => {
        await step.do("load", async () => "user");
        did.push("mailed");
        await step.sleep("a day", "1 day");
      },
    { invariants: once("mailed") },
  );
  expect(wrong.failures[0]).toMatchObject({ invariant: "mailed once", faults: 0 });
});

test("a branch on chance", async () => {
  const wrong = await tried(() => async (_event, step) => {
    await step.do("load", async () => "user");
    await step.do(Math.random() < 0.5 ? "mail" : "call", async () => {});
  });
  expect(wrong.failures[0]).toMatchObject({ invariant: sameSteps, isRepeatable: true });
  expect(wrong.failures[0]?.reason).toMatch(/asked for do "(mail|call)" .* asked for do "(mail|call)"/);
  const right = await tried(() => async (_event, step) => {
    const chance = await step.do("choose", async () => Math.random());
    await step.do(chance < 0.5 ? "mail" : "call", async () => {});
  });
  expect(right.failures).toEqual([]);
});

test("a branch on the clock", async () => {
  const wrong = await tried(() => async (event, step) => {
    await step.do("load", async () => "user");
    if (Date.now() - event.timestamp.getTime() < 20_000) await step.do("greet", async () => {});
    await step.do("work", async () => {});
  });
  expect(wrong.failures[0]).toMatchObject({ invariant: sameSteps });
  const right = await tried(() => async (event, step) => {
    const isEarly = await step.do("look", async () => Date.now() - event.timestamp.getTime() < 20_000);
    if (isEarly) await step.do("greet", async () => {});
    await step.do("work", async () => {});
  });
  expect(right.failures).toEqual([]);
});

test("a step that nobody awaits", async () => {
  const wrong = await tried(() => async (_event, step) => {
    void step.do("write report", async () => {});
    await step.do("tidy up", async () => {});
  });
  expect(wrong.failures[0]).toMatchObject({ invariant: "every step is awaited", faults: 0 });
  expect(wrong.failures[0]?.reason).toContain('never looked at what step "write report" came to');
});

test("a step that is awaited late, raced, or given a handler is looked at", async () => {
  const right = await tried(() => async (_event, step) => {
    const early = step.do("early", async () => 1);
    step.do("handled", async () => 2).catch(() => {});
    await Promise.race([step.do("fast", async () => 3), step.sleep("slow", "1 hour")]);
    return early;
  });
  expect(right.failures).toEqual([]);
});

test("a race that is decided by a variable of the process", async () => {
  const wrong = await tried(() => {
    let winner: string | null = null;
    return async (_event, step) => {
      const run = (name: string) =>
        step.do(name, async () => {
          winner ??= name;
        });
      await Promise.race([run("east"), run("west")]);
      await step.do(`tell ${winner}`, async () => {});
    };
  });
  expect(wrong.failures[0]).toMatchObject({ invariant: sameSteps });
  const right = await tried(() => async (_event, step) => {
    const run = (name: string) => step.do(name, async () => name);
    const winner = await Promise.race([run("east"), run("west")]);
    await step.do(`tell ${winner}`, async () => {});
  });
  expect(right.failures).toEqual([]);
});

const pays = async ({ workflows, clock, random }: ScenarioContext<{ W: WorkflowDefinition }, Outside>) => {
  const order = await workflows.W.create({ id: "o-1" });
  await clock.sleep(random.pick(["1 second", "15 seconds", "25 seconds"]));
  await order.sendEvent({ idempotencyKey: "payment", type: "paid" });
};

const isPaid: Invariants<Outside> = {
  "who pays in time is paid": ({ instances }) => {
    const [order] = instances;
    if (order?.output !== "paid") return `the order came to ${String(order?.output ?? order?.status)}`;
  },
};

test("an event that a wait takes which nobody looks at any more", async () => {
  const wrong = await tried(
    () => async (_event, step) => {
      for (let tick = 0; tick < 4; tick++) {
        const wait = step.waitForEvent(`paid ${tick}`, { type: "paid", timeout: "1 hour" }).then(() => true);
        const isPaid = await Promise.race([wait, step.sleep(`tick ${tick}`, "10 seconds")]);
        if (isPaid) return "paid";
      }
      return "given up";
    },
    { scenario: pays, invariants: isPaid },
  );
  expect(wrong.failures[0]).toMatchObject({
    invariant: "who pays in time is paid",
    reason: "the order came to given up",
  });
  const right = await tried(
    () => async (_event, step) => {
      const wait = step.waitForEvent("paid", { type: "paid", timeout: "40 seconds" });
      return wait.then(
        () => "paid",
        () => "given up",
      );
    },
    // Forty seconds are not much where processes stand still for minutes.
    { scenario: pays, invariants: isPaid, faults: { freezes: false, crashes: false, partitions: false } },
  );
  expect(right.failures).toEqual([]);
});

test("a retry that hides what was already done", async () => {
  const write: Write =
    ({ did }, { random }) =>
    async (_event, step) =>
      step.do("charge", { retries: { limit: 20, delay: "1 second" } }, async () => {
        did.push("charged");
        if (random.chance(0.1)) throw new Error("the bank did not answer in time");
      });
  const wrong = await tried(write, { invariants: once("charged"), faults: false });
  expect(wrong.failures[0]).toMatchObject({ invariant: "charged once" });
  expect(wrong.failures[0]?.schedule.join("\n")).toContain("the bank did not answer in time");
});

test("the same without a word about it in the fake: bodies fail where the option says so", async () => {
  const wrong = await tried(
    ({ did }) =>
      async (_event, step) =>
        step.do("charge", async () => void did.push("charged")),
    { invariants: once("charged"), faults: { crashes: false, freezes: false, failures: true } },
  );
  expect(wrong.failures[0]).toMatchObject({ invariant: "charged once", faults: 0 });
  expect(wrong.failures[0]?.schedule.join("\n")).toContain(
    'Simulated failure of "charge" after it did its work',
  );
});

test("an event without an id, which a caller who heard no answer sends twice", async () => {
  const collect: Write = () => async (_event, step) => {
    await step.sleep("collect", "1 hour");
    const count = await step.do("count", async () => 0);
    for (let at = count; ; at++) {
      const wait = step.waitForEvent(`vote ${at}`, { type: "vote", timeout: "1 second" });
      const isVote = await wait.then(
        () => true,
        () => false,
      );
      if (!isVote) return at;
    }
  };
  const votes = (id?: string): Options => ({
    scenario: async ({ workflows }) => {
      const poll = await workflows.W.create({ id: "p-1" });
      await poll.sendEvent({ type: "vote", ...(id === undefined ? {} : { idempotencyKey: id }) });
    },
    invariants: { "one vote": ({ instances }) => instances[0]?.output === 1 },
  });
  const wrong = await tried(collect, votes());
  expect(wrong.failures[0]).toMatchObject({ invariant: "one vote", faults: 1 });
  expect(wrong.failures[0]?.message).toContain("a caller who heard no answer asks again (sendEvent of w");
  expect((await tried(collect, votes("v-1"))).failures).toEqual([]);
});

test("a workflow that never ends, with its steps", async () => {
  const wrong = await tried(() => async (_event, step) => {
    for (let day = 0; ; day++) await step.sleep(`day ${day}`, "1 day");
  });
  expect(wrong.failures[0]).toMatchObject({ invariant: "everything comes to its end", faults: 0 });
  expect(wrong.failures[0]?.reason).toMatch(
    /w "w-1" is waiting, with \d+ steps before and .*"day \d+" asleep/,
  );
});

test("a scenario that throws", async () => {
  const { failures } = await tried(() => async () => "done", {
    scenario: async ({ workflows }) => {
      await workflows.W.create({ id: "w-1" });
      await workflows.W.create({ id: "w-1" });
    },
  });
  expect(failures[0]).toMatchObject({ invariant: "the scenario runs to its end", faults: 0 });
  expect(failures[0]?.reason).toContain("INSTANCE_ID_ALREADY_EXISTS");
});

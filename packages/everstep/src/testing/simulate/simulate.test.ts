import { expect, test } from "vitest";
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import { SimulationFailed } from "./own/report.ts";
import { simulate } from "./simulate.ts";

/** What a bank would know: the charges, and the keys it has seen. */
class Bank {
  readonly charges: string[] = [];
  readonly #keys = new Set<string>();

  charge(order: string, key?: string): void {
    if (key !== undefined && this.#keys.has(key)) return;
    if (key !== undefined) this.#keys.add(key);
    this.charges.push(order);
  }
}

const careless = (bank: Bank) =>
  defineWorkflow({ name: "order" }, async ({ instanceId }, step) => {
    await step.do("check", async () => "in stock");
    await step.do("charge", async () => bank.charge(instanceId));
    await step.do("ship", async () => "shipped");
  });

const careful = (bank: Bank) =>
  defineWorkflow({ name: "order" }, async ({ instanceId }, step) => {
    await step.do("check", async () => "in stock");
    await step.do("charge", async ({ idempotencyKey }) => bank.charge(instanceId, idempotencyKey));
    await step.do("ship", async () => "shipped");
  });

const chargedOnce = (orderOf: typeof careful, more: object = {}) =>
  simulate((bank: Bank) => ({ ORDER: orderOf(bank) }), {
    seeds: 40,
    state: () => new Bank(),
    invariants: {
      "an order is charged once": ({ state, instances }) => {
        for (const { id } of instances) {
          const count = state.charges.filter((charged) => charged === id).length;
          if (count !== 1) return `${id} was charged ${count} times`;
        }
      },
    },
    ...more,
  });

test("a workflow that survives everything passes", async () => {
  const report = await chargedOnce(careful);
  expect(report).toMatchObject({ ok: true, seeds: 40, failures: [], notes: [] });
  expect(report.worlds).toBeGreaterThan(50);
  expect(report.sightings["ORDER: complete"]).toBe(report.worlds);
});

test("a step that is not safe to repeat is found, and the failure says all there is to say", async () => {
  const failure = await chargedOnce(careless).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(SimulationFailed);
  const { message, report } = failure as SimulationFailed;
  expect(message).toContain('"an order is charged once" does not hold: order-1 was charged 2 times');
  expect(message).toContain("What happened (1 thing went wrong):");
  const story = [
    'process A runs "charge" of order "order-1"\n',
    'process A is killed while "charge" of order "order-1" has done its work and is not recorded\n',
    "process A starts again, with nothing in memory\n",
    'process A runs "charge" of order "order-1", for the second time\n',
    'order "order-1" is complete\n',
  ];
  const places = story.map((line) => message.indexOf(line));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(message).toContain('simulate(workflows, { ...options, replay: "0?body+%22charge%22=1" })');
  expect(message).toContain(
    "EVERSTEP_SIMULATE_REPLAY='0?body+%22charge%22=1' <the command that runs the test>",
  );
  expect(report.failures[0]).toMatchObject({ faults: 1, isRepeatable: true, code: "0?body+%22charge%22=1" });
});

test("with throws: false a failure is a report", async () => {
  const report = await chargedOnce(careless, { throws: false });
  expect(report.ok).toBe(false);
  expect(report.failures[0]).toMatchObject({
    invariant: "an order is charged once",
    reason: "order-1 was charged 2 times",
  });
});

test("several invariants can be looked for at once", async () => {
  const report = await simulate((bank: Bank) => ({ ORDER: careless(bank) }), {
    state: () => new Bank(),
    invariants: {
      "charged once": ({ state }) => state.charges.length === 1,
      "charged twice": ({ state }) => state.charges.length === 2,
    },
    maxFailures: 2,
    throws: false,
  });
  expect(report.failures.map(({ invariant }) => invariant).sort()).toEqual(["charged once", "charged twice"]);
});

test("without a scenario one instance of each workflow is created", async () => {
  const created: string[] = [];
  const greet = defineWorkflow({ name: "greet" }, async (_event, step) => step.do("greet", () => "hello"));
  const part = defineWorkflow({ name: "part" }, async (_event, step) => step.do("part", () => "bye"));
  await simulate(
    { GREET: greet, PART: part },
    {
      seeds: 1,
      invariants: {
        "each ends": ({ instances }) => {
          created.push(...instances.map(({ workflow, id, output }) => `${workflow} ${id} ${output}`));
        },
      },
    },
  );
  expect([...new Set(created)].sort()).toEqual(["GREET greet-1 hello", "PART part-1 bye"]);
});

test("the scenario acts in virtual time, on the handles of the app", async () => {
  const answers: unknown[] = [];
  const trial = defineWorkflow({ name: "trial" }, async (event: { payload: { days: number } }, step) => {
    await step.sleep("trial", `${event.payload.days} days`);
    const { payload } = await step.waitForEvent<string>("choice", { type: "chosen", timeout: "1 week" });
    return payload;
  });
  await simulate(
    { TRIAL: trial },
    {
      seeds: 20,
      scenario: async ({ workflows, app, clock, random }) => {
        const began = clock.now().getTime();
        const instance = await workflows.TRIAL.create({ id: "t-1", params: { days: 30 } });
        await clock.sleep(random.pick(["1 day", "30 days", "36 days"]));
        await instance.sendEvent({ idempotencyKey: "choice", type: "chosen", payload: "yearly" });
        const { status, output } = await instance.result();
        const counts = await app.counts("trial");
        answers.push([status, output, counts.complete, clock.now().getTime() - began >= 30 * 86_400_000]);
      },
    },
  );
  expect(answers.length).toBeGreaterThan(20);
  expect(new Set(answers.map(String))).toEqual(new Set(["complete,yearly,1,true"]));
});

test("the memory of a process dies with it, the state of the seed does not", async () => {
  const report = await simulate(
    (state: { count: number }) => {
      let cached = 0;
      return {
        COUNT: defineWorkflow({ name: "count" }, async (_event, step) => {
          await step.do("add", async () => {
            cached++;
            state.count++;
          });
          await step.do("compare", async () => {
            if (cached !== state.count) throw new Error("memory was lost");
          });
        }),
      };
    },
    {
      state: () => ({ count: 0 }),
      throws: false,
      invariants: { "memory is kept": ({ instances }) => instances[0]?.status === "complete" },
    },
  );
  expect(report.failures[0]?.schedule.join("\n")).toContain("starts again, with nothing in memory");
});

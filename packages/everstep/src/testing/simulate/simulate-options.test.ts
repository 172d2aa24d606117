import { expect, test } from "vitest";
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import { EverstepError } from "../../model/error.ts";
import { defaultFaults } from "./own/faults.ts";
import type { SimulationProgress } from "./own/options.ts";
import { simulate } from "./simulate.ts";

const greet = defineWorkflow({ name: "greet" }, async (_event, step) => {
  await step.do("hello", async () => "hello");
  await step.do("bye", async () => "bye");
});

// biome-ignore lint/suspicious/noExplicitAny: wrong on purpose
const trying = (options: any, workflows: any = { GREET: greet }) =>
  simulate(workflows, { seeds: 1, ...options }).then(
    () => expect.fail("it was accepted"),
    (error: unknown) => error as EverstepError,
  );

test.each([
  [{ seeds: 0 }, "seeds must be a whole number of at least 1, not 0"],
  [{ seeds: 1.5 }, "seeds must be a whole number"],
  [{ seeds: { from: -1, count: 3 } }, "seeds.from must be a whole number of at least 0, not -1"],
  [{ seeds: { from: 3 } }, "seeds must be a whole number of at least 1, not undefined"],
  [{ scenari: () => {} }, 'simulate has no option "scenari". There are: seeds, state, scenario'],
  [{ scenario: "create" }, 'The option "scenario" of simulate must be a function, not "create"'],
  [{ state: {} }, 'The option "state" of simulate must be a function, not an object'],
  [{ invariants: [] }, "invariants must be functions by name"],
  [{ invariants: { once: true } }, 'invariants has "once", which is true. It must be a function'],
  [{ always: { once: 3 } }, 'always has "once", which is 3'],
  [{ faults: { crash: true } }, 'There is no fault "crash". There are: crashes, freezes'],
  [{ faults: { crashes: 1 } }, "faults.crashes must be true or false, not 1"],
  [{ faults: true }, "faults must be false, or say which there are by name"],
  [{ runners: 27 }, "runners must be a whole number from 1 to 26, not 27"],
  [{ maxFailures: 0 }, "maxFailures must be a whole number of at least 1"],
  [{ replay: "" }, "replay cannot be read. It has no seed"],
  [{ replay: "7?body=x" }, 'What it says of "body" are not numbers'],
  [{ replay: { version: 2, seed: 1, choices: {} } }, "not a tape of this version"],
  [{ mustEnd: "yes" }, 'The option "mustEnd" of simulate must be a boolean'],
])("%o is refused, with what to write instead", async (options, text) => {
  const error = await trying(options);
  expect(error).toBeInstanceOf(EverstepError);
  expect(error.code).toBe("INVALID_ARGUMENT");
  expect(error.message).toContain(text);
});

test("a duration that is none is refused", async () => {
  expect((await trying({ patience: "soon" })).code).toBe("INVALID_DURATION");
  expect((await trying({ timeBudget: -1 })).code).toBe("INVALID_DURATION");
});

test.each([
  [undefined, "INVALID_ARGUMENT", "simulate needs workflows first"],
  [{}, "INVALID_ARGUMENT", "simulate needs workflows first"],
  [() => undefined, "INVALID_ARGUMENT", "must return them"],
  [async () => ({ GREET: greet }), "INVALID_ARGUMENT", "must return them"],
  [{ GREET: "greet" }, "INVALID_WORKFLOW_DEFINITION", "workflows.GREET is not a workflow"],
])("workflows that are none are refused: %o", async (workflows, code, text) => {
  const error = await trying({}, workflows ?? null);
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(text)]);
});

test("options that are none are refused", async () => {
  const error = await simulate({ GREET: greet }, null as never).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("an error that the author's function throws is theirs", async () => {
  const error = await trying({}, () => {
    throw new RangeError("no such shop");
  });
  expect(error).toMatchObject({ name: "RangeError", message: "no such shop" });
});

const verdicts = async (invariant: () => unknown) => {
  const report = await simulate(
    { GREET: greet },
    { seeds: 1, throws: false, invariants: { mine: invariant as () => boolean } },
  );
  return report.failures[0]?.reason ?? "holds";
};

test("an invariant holds, throws, returns false, or returns a sentence, now or later", async () => {
  expect(await verdicts(() => {})).toBe("holds");
  expect(await verdicts(() => true)).toBe("holds");
  expect(await verdicts(async () => null)).toBe("holds");
  expect(await verdicts(() => false)).toBe("it returned false");
  expect(await verdicts(async () => false)).toBe("it returned false");
  expect(await verdicts(() => "there are two")).toBe("there are two");
  expect(await verdicts(async () => "there are three")).toBe("there are three");
  expect(await verdicts(() => expect(1).toBe(2))).toContain("expected 1 to be 2");
  expect(await verdicts(() => Promise.reject(new Error("later")))).toBe("later");
  expect(await verdicts(() => (undefined as unknown as { x: number }).x)).toMatch(
    /TypeError.*simulate-options/s,
  );
});

test("an invariant that returns something else is used wrongly", async () => {
  const error = await trying({ invariants: { mine: () => 3 } });
  expect(error.code).toBe("INVALID_ARGUMENT");
  expect(error.message).toContain('Invariant "mine" returned 3');
});

test("invariants under always are asked after every write, the others at the end", async () => {
  const asked: string[] = [];
  const look =
    (name: string) =>
    ({ instances }: { instances: readonly { status: string; steps: readonly unknown[] }[] }) => {
      asked.push(`${name} ${instances.map(({ status, steps }) => `${status} ${steps.length}`).join()}`);
    };
  await simulate(
    { GREET: greet },
    { replay: "0?", always: { early: look("always") }, invariants: { late: look("end") } },
  );
  expect(asked).toEqual([
    "always active 0",
    "always active 1",
    "always complete 2",
    "always complete 2",
    "end complete 2",
  ]);
});

test("what breaks in between is seen, though it is right again at the end", async () => {
  const report = await simulate(
    (state: { open: number }) => ({
      DOOR: defineWorkflow({ name: "door" }, async (_event, step) => {
        await step.do("open", async () => void state.open++);
        await step.sleep("a while", "1 hour");
        await step.do("close", async () => {
          state.open = 0;
        });
      }),
    }),
    {
      state: () => ({ open: 0 }),
      throws: false,
      invariants: { "closed at the end": ({ state }) => state.open === 0 },
      always: { "not open twice": ({ state }) => state.open < 2 },
    },
  );
  expect(report.failures[0]).toMatchObject({ invariant: "not open twice", faults: 1 });
});

test("progress is told after every world", async () => {
  const seen: SimulationProgress[] = [];
  const report = await simulate(
    { GREET: greet },
    { seeds: { from: 7, count: 3 }, onProgress: (progress) => void seen.push(progress) },
  );
  expect(report.seeds).toBe(3);
  expect(seen.map(({ done }) => done)).toEqual(Array.from({ length: report.worlds }, (_, at) => at + 1));
  expect(seen.at(-1)).toEqual({ phase: "exploring", done: report.worlds, of: report.worlds, failures: 0 });
});

test("single faults are as many as there are seeds at most", async () => {
  const { worlds } = await simulate({ GREET: greet }, { seeds: 4 });
  expect(worlds).toBe(9);
});

test("no seed is begun after the time budget", async () => {
  const report = await simulate({ GREET: greet }, { seeds: 1_000_000, timeBudget: 0 });
  expect(report).toMatchObject({ ok: true, worlds: 1, seeds: 0 });
  expect(report.notes[0]).toMatch(/^The time budget of 0 ms was up after 1 of \d+ worlds\.$/);
});

test("without faults nothing goes wrong", async () => {
  const { sightings } = await simulate({ GREET: greet }, { seeds: 20, faults: false });
  expect(Object.keys(sightings).sort()).toEqual(["GREET: complete", "a process: started"]);
});

test("every fault happens where it is asked for", async () => {
  const wanted = Object.fromEntries(Object.keys(defaultFaults).map((name) => [name, true]));
  const { sightings } = await simulate({ GREET: greet }, { seeds: 120, faults: wanted });
  const seen = Object.keys(sightings);
  expect(seen).toEqual(
    expect.arrayContaining([
      "a process: killed",
      "a process: frozen",
      "a process: stops",
      "a process: cut off",
      "a process: clock set",
      "a call: refused",
      "a call: contended",
      "a call: reply lost",
      "a call: late",
      "a call: crash before",
      "a call: crash after",
      "a body: killed before",
      "a body: killed after",
      "a body: frozen before",
      "a body: frozen after",
      "a body: fails before",
      "a body: fails after",
      "a body: too slow",
    ]),
  );
});

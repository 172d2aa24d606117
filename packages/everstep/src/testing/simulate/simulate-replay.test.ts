/** The same seed is the same world; a failure is made small, and can be played again and kept. */
import { afterEach, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../authoring/define-workflow.ts";
import type { Faults } from "./own/faults.ts";
import type { SimulateOptions } from "./own/options.ts";
import { readOptions } from "./own/read-options.ts";
import type { SimulationTape } from "./own/replay-code.ts";
import { withSimulatedGlobals } from "./own/simulated-globals.ts";
import { tryOut } from "./own/trial.ts";
import { simulate } from "./simulate.ts";

interface Ledger {
  readonly deeds: string[];
}

const counting = ({ deeds }: Ledger) =>
  defineWorkflow({ name: "order" }, async (event, step) => {
    await Promise.all(
      ["a", "b", "c"].map((name) => step.do(name, async () => void deeds.push(`${name} ${Math.random()}`))),
    );
    await step.sleep("a day", "1 day");
    const { payload } = await step.waitForEvent<number>("go", { type: "go" });
    await step.do(
      "end",
      async () => void deeds.push(`end ${payload} ${Date.now() - event.timestamp.getTime()}`),
    );
  });

type Workflows = { ORDER: ReturnType<typeof counting> };

const scenario: SimulateOptions<Workflows, Ledger>["scenario"] = async ({ workflows, clock, random }) => {
  const order = await workflows.ORDER.create({ id: "o-1" });
  await clock.sleep(random.pick([1, 1000, 100_000]));
  await order.sendEvent({ idempotencyKey: "go", type: "go", payload: random.below(1000) });
};

const everything: Faults = {
  crashes: true,
  freezes: true,
  shutdowns: true,
  lostReplies: true,
  storeErrors: true,
  lateWrites: true,
  partitions: true,
  duplicates: true,
  clocks: true,
  pauses: true,
  failures: true,
};

test("the same seed gives the same schedule, to the last millisecond and the last random number", async () => {
  const passes: unknown[] = [];
  for (const seed of [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]) {
    const ledger: Ledger = { deeds: [] };
    const settings = readOptions(({ deeds }: Ledger) => ({ ORDER: counting({ deeds }) }), {
      scenario,
      faults: everything,
      state: () => ledger,
    });
    const { finding, hash, schedule, tape } = await withSimulatedGlobals(() => tryOut(seed, settings));
    expect(finding).toBeNull();
    passes.push({ hash, schedule: schedule(), deeds: ledger.deeds, tape: tape() });
  }
  expect(passes.slice(5)).toEqual(passes.slice(0, 5));
  expect(new Set(passes.map((pass) => (pass as { hash: string }).hash)).size).toBe(5);
});

/** Takes two crashes, in the same step. */
const thrice = (options: SimulateOptions<Workflows, Ledger> = {}) =>
  simulate<Workflows, Ledger>(workflowsOf, {
    seeds: 200,
    state: () => ({ deeds: [] }),
    scenario,
    throws: false,
    invariants: {
      "no step is begun three times": ({ state }) =>
        ["a", "b", "c"].every((name) => state.deeds.filter((deed) => deed.startsWith(name)).length < 3),
    },
    ...options,
  });

const workflowsOf = (ledger: Ledger): Workflows => ({ ORDER: counting(ledger) });

const failureOf = async (options: SimulateOptions<Workflows, Ledger> = {}) => {
  const { failures } = await thrice(options);
  return failures[0] ?? expect.fail("nothing was found");
};

test("what takes several faults is found by a seed, and cut down to the fewest", async () => {
  const whole = await failureOf({ shrinkTime: 0 });
  const small = await failureOf();
  expect(whole.code).toBe(String(whole.seed));
  expect(small.seed).toBe(whole.seed);
  expect(small.faults).toBeLessThan(whole.faults);
  expect(small.faults).toBeGreaterThanOrEqual(2);
  expect(small.schedule.length).toBeLessThan(whole.schedule.length);
  expect(small.message).toContain(`made smaller from ${whole.faults} in`);
});

test("shrinking is bounded by tries, and tells its progress", async () => {
  const seen: string[] = [];
  await thrice({
    shrinkTries: 7,
    onProgress: ({ phase, done, of }) => void seen.push(`${phase} ${done}/${of}`),
  });
  expect(seen.filter((line) => line.startsWith("shrinking"))).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((tries) => `shrinking ${tries}/7`),
  );
});

test("its code, its tape and its tape as JSON all play the same again", async () => {
  const found = await failureOf({ shrinkTries: 150 });
  const replays = [found.code, found.tape, JSON.parse(JSON.stringify(found.tape)) as SimulationTape];
  for (const replay of replays) {
    const again = await failureOf({ replay });
    expect(again.schedule).toEqual(found.schedule);
    expect(again.invariant).toBe(found.invariant);
    expect(again.code).toBe(found.code);
  }
});

test("a seed is a replay too, and a replay tries nothing else", async () => {
  const found = await failureOf({ shrinkTime: 0 });
  const report = await thrice({ replay: Number(found.seed) });
  expect(report).toMatchObject({ ok: false, worlds: 1, seeds: 0 });
  expect(report.failures[0]?.schedule).toEqual(found.schedule);
});

test("what is switched off does not happen, also not in a world that is cut down", async () => {
  const { failures } = await thrice({ faults: { crashes: false, shutdowns: false } });
  expect(failures[0]?.schedule.join("\n")).not.toMatch(/is killed|is told to stop/);
});

test("a tape that the code has outgrown says so", async () => {
  const tape: SimulationTape = { version: 1, seed: 0, choices: { 'body "before the rewrite"': [1] } };
  const report = await thrice({ replay: tape });
  expect(report.ok).toBe(true);
  expect(report.notes).toEqual([expect.stringContaining('body "before the rewrite"')]);
});

afterEach(() => vi.unstubAllEnvs());

test("the environment can name the world to replay, so that the test need not be touched", async () => {
  const found = await failureOf({ shrinkTries: 50 });
  vi.stubEnv("EVERSTEP_SIMULATE_REPLAY", found.code);
  const report = await thrice();
  expect(report).toMatchObject({ ok: false, worlds: 1 });
  expect(report.failures[0]?.schedule).toEqual(found.schedule);
});

test("a failure that does not happen again is told as such", async () => {
  let worlds = 0;
  const report = await simulate(
    { A: defineWorkflow({ name: "a" }, async () => "done") },
    { throws: false, invariants: { "only the third world": () => ++worlds !== 3 } },
  );
  expect(report.failures[0]).toMatchObject({ isRepeatable: false });
  expect(report.failures[0]?.message).toContain("did not happen again when the same world was made again");
});

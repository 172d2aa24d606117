import { expect, test } from "vitest";
import { chosenRows, parentKeyOf, type RunTold, runRowsOf } from "./rows.ts";
import { at, sampleBody, sampleMeta, sampleStep } from "./sample-steps.ts";

function run(given: Partial<RunTold>) {
  return runRowsOf({ steps: [], running: [], meta: sampleMeta(), status: "active", ...given });
}

const inside = (name: string, parentKey: string, index: number) =>
  sampleStep(name, {
    stepKey: `${parentKey}/${name}`,
    parentKey,
    depth: 1,
    index,
    from: index,
    to: index + 1,
  });

const family = [
  sampleStep("first", { index: 0, from: 0, to: 1 }),
  inside("inner one", "outer", 3),
  sampleStep("last", { index: 5, from: 5, to: 6 }),
  inside("inner two", "outer", 4),
  sampleStep("outer", { index: 2, from: 2, to: 5 }),
  inside("innermost", "outer/inner two", 6),
];

test("steps inside of others follow them, each level in the order of first start", () => {
  const { rows } = run({ steps: family });
  expect(
    rows.map(({ name, depth, hasInside }) => `${"  ".repeat(depth)}${name}${hasInside ? ":" : ""}`),
  ).toEqual(["first", "outer:", "  inner one", "  inner two:", "    innermost", "last"]);
});

test("a body that runs for the first time has a row before it has a record", () => {
  const { rows } = run({
    steps: [family[0]!],
    running: [sampleBody("outer", 2), sampleBody("outer/inner", 3)],
  });
  expect(rows.map(({ key, state, depth }) => [key, state, depth])).toEqual([
    ["first", "completed", 0],
    ["outer", "running", 0],
    ["outer/inner", "running", 1],
  ]);
});

test("steps inside of one that has no record yet are under it", () => {
  const { rows } = run({ steps: [inside("inner one", "outer", 3)], running: [sampleBody("outer", 2)] });
  expect(rows.map(({ key, depth }) => [key, depth])).toEqual([
    ["outer", 0],
    ["outer/inner one", 1],
  ]);
});

test("a slash inside of a name is no step around it", () => {
  expect(parentKeyOf("a\\/b", new Set(["a\\"]))).toBe(null);
  expect(parentKeyOf("a\\\\/b", new Set(["a\\\\"]))).toBe("a\\\\");
  expect(parentKeyOf("do:outer#1@2/do:inner#1", new Set(["do:outer#1"]))).toBe("do:outer#1");
});

test("each row says in one word how it is", () => {
  const steps = [
    sampleStep("a", { index: 0, to: 1 }),
    sampleStep("b", { index: 1, status: "errored", to: 1, failed: [{ at: 1 }] }),
    sampleStep("c", { index: 2, failed: [{ at: 1, retry: 9 }], retry: 9 }),
    sampleStep("d", { index: 3, type: "sleep", wake: 9 }),
    sampleStep("e", { index: 4, type: "waitForEvent", wake: 9 }),
    sampleStep("f", { index: 5, failed: [{ at: 1, retry: 2 }], retry: 2 }),
  ];
  const running = [sampleBody("f", 3, 2)];
  const states = (told: Partial<RunTold>) => run({ steps, running, ...told }).rows.map(({ state }) => state);
  expect(states({})).toEqual(["completed", "errored", "retrying", "sleeping", "awaiting", "running"]);
  expect(states({ status: "terminated", meta: sampleMeta({ ended: 5 }), running: [] })).toEqual([
    "completed",
    "errored",
    "left",
    "left",
    "left",
    "left",
  ]);
});

test("a run that took steps over begins with them", () => {
  const taken = run({
    steps: [sampleStep("a", { from: 100, to: 110 })],
    meta: sampleMeta({ created: 5000, started: 5010 }),
  });
  expect([taken.origin, taken.beganAt]).toEqual([at(100), at(5000)]);
  const second = run({ meta: sampleMeta({ created: 0, started: 7000, runNumber: 2 }) });
  expect([second.origin, second.beganAt]).toEqual([at(7000), at(7000)]);
});

const { rows } = run({ steps: family });
const all = { find: "", isCompletedHidden: false, folded: new Set<string>() };
const names = (choice: Partial<typeof all>) =>
  chosenRows(rows, { ...all, ...choice }).map(({ name }) => name);

test("a step that is found brings what it is inside of", () => {
  expect(names({ find: "INNERM" })).toEqual(["outer", "inner two", "innermost"]);
});

test("what is inside of a folded step is not shown, at any depth", () => {
  expect(names({ folded: new Set(["outer"]) })).toEqual(["first", "outer", "last"]);
  expect(names({ folded: new Set(["outer/inner two"]) })).toEqual([
    "first",
    "outer",
    "inner one",
    "inner two",
    "last",
  ]);
});

test("completed steps can be hidden", () => {
  const open = run({ steps: [...family, sampleStep("nap", { type: "sleep", index: 9, from: 9, wake: 20 })] });
  expect(chosenRows(open.rows, { ...all, isCompletedHidden: true }).map(({ name }) => name)).toEqual(["nap"]);
});

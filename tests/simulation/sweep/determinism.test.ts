/** A sweep is worth something if a case is the same world every time, and if it notices what goes wrong. */
import { expect, test } from "vitest";
import { memoryData } from "../small-world/small-data.ts";
import { strikes } from "../strikes.ts";
import { steeringPrograms } from "./programs/steering.ts";
import { stepPrograms } from "./programs/steps.ts";
import { waitPrograms } from "./programs/waits.ts";
import { sqliteData } from "./sqlite-data.ts";
import { calmly, struck } from "./sweep.ts";
import { casesOf, layouts, nameOf } from "./sweep-case.ts";

const programs = [...stepPrograms, ...waitPrograms, ...steeringPrograms];

test.each([
  ["memory", memoryData, 61],
  ["sqlite", sqliteData, 401],
])("the same case is the same world, moment by moment (%s)", async (_name, open, every) => {
  let compared = 0;
  for (const program of programs) {
    for (const layout of layouts) {
      const calm = await calmly(program, layout, await open());
      for (const each of casesOf(layout, calm).filter((_, at) => at % every === 0)) {
        const worlds = [
          await struck(program, each, calm, await open()),
          await struck(program, each, calm, await open()),
        ];
        expect(worlds[1]?.hash, `${program.name}: ${nameOf(each)}`).toBe(worlds[0]?.hash);
        compared++;
      }
    }
  }
  expect(compared).toBeGreaterThan(programs.length);
});

test("every strike falls on every program, and those on writes on every kind of write", async () => {
  const struckCalls = new Set<string>();
  for (const program of programs) {
    const names = new Set<string>();
    for (const layout of layouts) {
      for (const { strike, call } of casesOf(layout, await calmly(program, layout, memoryData()))) {
        names.add(strike);
        struckCalls.add(call);
      }
    }
    expect([...names].sort(), program.name).toEqual(strikes.map(({ name }) => name).sort());
  }
  expect([...struckCalls]).toEqual(
    expect.arrayContaining([
      "migrate",
      "claim",
      "readRuns",
      "nextDueAt",
      "renew",
      "release",
      "create",
      "sendEvent",
      "publish",
      "change",
      "commit continue",
      "commit suspend",
      "commit yield",
      "commit complete",
      "commit error",
      "getInstance",
      "getStatuses",
      "listSteps",
      "listRuns",
      "listWaiters",
    ]),
  );
});

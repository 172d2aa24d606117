import { describe, expect, test } from "vitest";
import { memory } from "../../../packages/everstep/src/stores/memory/memory-store.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { type Entry, Ledger } from "../../../packages/everstep/src/testing/simulate/ledger.ts";
import { Sightings } from "../../../packages/everstep/src/testing/simulate/sightings.ts";
import { Watch } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import { stillWeather, type Weather } from "../../../packages/everstep/src/testing/simulate/weather.ts";
import { Checks } from "./checks.ts";

describe("bodies of turns that do not know yet that the store has gone back", () => {
  test("begin in no process that was told to stop", () => {
    const checks = checksOf({ isStale: true });
    expect(checks.begins(entry)).toEqual([]);
    checks.news(member, "stops");
    expect(checks.begins(entry)).toEqual([
      { invariant: "LIV-6", message: "w/a/1/s began in process 3, which was told to stop" },
    ]);
  });
});

const member = { number: 3, process: { state: "running" } } as Member;
const entry = { key: "w/a/1/s", run: "w/a/1", stepKey: "s", member, seen: "" } as Entry;

function checksOf({ isStale }: { readonly isStale: boolean }): Checks {
  const store = memory();
  const settings = {
    concurrency: 1,
    lease: 1000,
    maxResidents: 0,
    minPoll: 10,
    poll: 10,
    maxPoll: 10,
    maxMemoryBytes: 1000,
  };
  const weather: Weather = { ...stillWeather, settings };
  const now = (): number => 0;
  return new Checks({
    watch: new Watch({ store, now, sightings: new Sightings(), explanations: new Set() }),
    ledger: new Ledger(() => {}),
    store,
    weather,
    isCalm: true,
    maxCrashes: 10,
    programOf: () => ({ kind: "sleep", ms: 1 }),
    workflowName: "w",
    rows: null,
    retried: new Set(),
    isStale: () => isStale,
    now,
  });
}

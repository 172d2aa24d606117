import { describe, expect, test } from "vitest";
import type { StepContext, WorkflowEvent } from "../../authoring/workflow-step.ts";
import { memory } from "../../stores/memory/memory-store.ts";
import type { RunFacts } from "../../verify/run-facts.ts";
import { BodyRules } from "./body-rules.ts";
import type { Member } from "./fleet.ts";
import { Ledger } from "./ledger.ts";
import { Sightings } from "./sightings.ts";
import { Watch } from "./watch.ts";
import { stillWeather, type Weather } from "./weather.ts";

const run = "w/a/2";
const key = `${run}/s`;

describe("a body that a turn begins before it hears that the store went back", () => {
  test("began in no run that is there, where its run is lost: another may get the name", () => {
    const { ledger, begin, loseRun } = world();
    loseRun();
    begin({ isStale: true });
    expect(ledger.ran(key)).toBe(false);
  });

  test("began in its run, where only later writes are lost", () => {
    const { ledger, begin } = world();
    begin({ isStale: true });
    expect(ledger.ran(key)).toBe(true);
  });
});

test("a body of the run that got the name of a lost one began in it", () => {
  const { ledger, begin, loseRun, createRun } = world();
  loseRun();
  createRun();
  begin({ isStale: false });
  expect(ledger.ran(key)).toBe(true);
});

function world() {
  let stale = false;
  const now = (): number => 0;
  const watch = new Watch({ store: memory(), now, sightings: new Sightings(), explanations: new Set() });
  const member = { number: 1, process: { state: "running" } } as Member;
  const weather = { ...stillWeather, settings: { lease: 1000 } } as Weather;
  const rules = new BodyRules({ watch, weather, isStale: () => stale, now });
  const ledger = new Ledger((entry) => rules.begins(entry, ledger));
  const goBack = rules.mark();
  const createRun = (): void => {
    const record = { runId: 2, status: "active", updatedAt: 0 };
    watch.facts.set(run, { record, steps: [] } as unknown as RunFacts);
  };
  createRun();
  return {
    ledger,
    createRun,
    loseRun(): void {
      goBack();
      watch.facts.delete(run);
    },
    begin({ isStale }: { readonly isStale: boolean }): void {
      stale = isStale;
      const { signal } = new AbortController();
      const context = { idempotencyKey: key, attempt: 1, signal } as StepContext;
      ledger.begin(member, {
        context,
        event: { workflowName: "w", instanceId: "a" } as WorkflowEvent,
        path: "s",
        seen: "",
      });
    },
  };
}

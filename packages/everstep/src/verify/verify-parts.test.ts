import { describe, expect, test } from "vitest";
import { audit, broken, many, numbered, sampleRuntime } from "../../../../tests/support/sample-audit.ts";
import {
  activeRecord,
  completeRecord,
  doneStep,
  openSleep,
  pausedRecord,
  pendingRecord,
  runOf,
  sampleNow,
  terminatedRecord,
  waitingRecord,
} from "../../../../tests/support/sample-run.ts";
import { Shelf } from "../../../../tests/support/sample-shelf.ts";
import { StoreError } from "../model/error.ts";
import { rowsMax } from "./look.ts";
import type { RunFacts } from "./run-facts.ts";
import type { VerifyProgress } from "./verify-report.ts";

describe("what does not get on", () => {
  const late = sampleNow - 61_000;
  test.each<[string, RunFacts, object]>([
    [
      "a run that nobody claims",
      runOf(pendingRecord({ dueAt: late })),
      { kind: "overdue", promise: "LIV-1", message: expect.stringContaining("due for 61 seconds") },
    ],
    [
      "a wait whose time has come",
      runOf(waitingRecord({ dueAt: late }), [openSleep({ key: "nap", wakeAt: late })]),
      { kind: "overdue", message: expect.stringContaining('At most 3 of "order" run at once') },
    ],
    [
      "a run whose runner died",
      runOf(activeRecord({ dueAt: late })),
      { kind: "lease-ran-out", promise: "LIV-2", message: expect.stringContaining("ran out 61 seconds ago") },
    ],
    [
      "a run that kills its runners",
      runOf(pendingRecord({ crashCount: 5 })),
      { kind: "crashing", promise: "INV-14", message: expect.stringContaining("died 5 times") },
    ],
    [
      "a run whose code is not here, however late",
      runOf(pendingRecord({ workflowName: "other", dueAt: late })),
      { kind: "stranded", promise: "LIV-1", workflowName: "other" },
    ],
  ])("%s is a warning", async (_name, facts, warning) => {
    const report = await audit(new Shelf(facts));
    expect(report.warnings).toEqual([
      expect.objectContaining({ instanceId: "o-1", runNumber: 1, ...warning }),
    ]);
    expect(report.violations).toEqual([]);
  });

  test.each<[string, RunFacts]>([
    ["a run that is a little late", runOf(pendingRecord({ dueAt: sampleNow - 1000 }))],
    ["a paused run whose last lease ran out", runOf(pausedRecord({ executing: true, dueAt: late }))],
    ["an ended run whose code is not here any more", runOf(completeRecord({ workflowName: "other" }))],
    ["an ended run that once crashed often", runOf(terminatedRecord({ crashCount: 9 }))],
  ])("%s is none", async (_name, facts) => {
    expect((await audit(new Shelf(facts))).warnings).toEqual([]);
  });

  test("where no runner is up, not every run is listed, but all are counted", async () => {
    const facts = Array.from({ length: 250 }, (_, n) =>
      numbered(n + 1, (of) => pendingRecord({ ...of, dueAt: late })),
    );
    const report = await audit(new Shelf(...facts));
    expect(report).toMatchObject({ checked: 250, warningsLeftOut: 150 });
    expect(report.warnings).toHaveLength(100);
    expect(report.summary).toContain("250 warnings");
  });
});

describe("what cannot be read", () => {
  test("a run with a torn row is reported, all others are judged", async () => {
    const shelf = new Shelf(...many(3), broken(4));
    shelf.before = (read, about) => {
      if (read === "listSteps" && about === "2") throw new TypeError("a torn row");
    };
    const report = await audit(shelf);
    expect(report.unreadable).toEqual([
      { workflowName: "order", instanceId: "o-2", runNumber: 1, message: "a torn row" },
    ]);
    expect(report).toMatchObject({ checked: 3, violations: [{ instanceId: "o-4" }], complete: true });
    expect(report.summary).toContain("1 unreadable");
  });

  test("a list that breaks off at a torn row is read from both ends", async () => {
    const shelf = new Shelf(...many(250));
    shelf.torn.add("o-120");
    const report = await audit(shelf);
    expect(report).toMatchObject({ checked: 249, complete: true });
    expect(report.unreadable).toEqual([
      { workflowName: null, instanceId: null, runNumber: null, message: "o-120 is torn" },
    ]);
  });

  test("between two torn rows it is said that there is something", async () => {
    const shelf = new Shelf(...many(10));
    shelf.torn.add("o-3").add("o-7");
    const report = await audit(shelf);
    expect(report.checked).toBe(5);
    expect(report.unreadable.map(({ message }) => message)).toEqual(["o-7 is torn", "o-3 is torn"]);
  });

  test("a call that ends on the way back goes on from there", async () => {
    const shelf = new Shelf(...many(10));
    shelf.torn.add("o-7");
    const first = await audit(shelf, { limit: 5 });
    expect(first).toMatchObject({ checked: 5, complete: false });
    expect(await audit(shelf, { after: first.after })).toMatchObject({ checked: 4, complete: true });
  });

  test("a run of boundless length is not read to its end", async () => {
    const shelf = new Shelf(...many(1));
    shelf.listEvents = async (_runId, { limit }) =>
      ({ items: Array.from({ length: limit }), after: "more" }) as never;
    const report = await audit(shelf);
    expect(report.unreadable).toMatchObject([
      { instanceId: "o-1", message: expect.stringContaining(String(rowsMax)) },
    ]);
  });

  test("a store that is out of reach is no damage but an error", async () => {
    const shelf = new Shelf(...many(3));
    shelf.before = (read) => {
      if (read === "listSteps") throw new StoreError("fatal", "STORE_CLOSED", "closed");
    };
    await expect(audit(shelf)).rejects.toThrow("closed");
  });
});

describe("in parts", () => {
  test("others have a turn before every page and every run that is looked at", async () => {
    let turns = 0;
    const drained = (done: () => void): void => {
      turns++;
      done();
    };
    await audit(new Shelf(...many(20)), { runtime: { ...sampleRuntime, drained } });
    expect(turns).toBe(21);
  });

  test("a call goes through so many instances, and the next one goes on where it ended", async () => {
    const shelf = new Shelf(...many(25));
    const first = await audit(shelf, { limit: 10 });
    expect(first).toMatchObject({ checked: 10, complete: false, after: expect.any(String) });
    expect(first.summary).toBe("Checked 10 runs: no violation. There is more.");
    const second = await audit(shelf, { limit: 10, after: first.after });
    expect(second).toMatchObject({ checked: 10, complete: false });
    const third = await audit(shelf, { limit: 10, after: second.after });
    expect(third).toMatchObject({ checked: 5, complete: true });
    expect(third.after).toBeUndefined();
  });

  test("instances created meanwhile do not prolong it", async () => {
    const shelf = new Shelf(...many(5));
    let n = 100;
    shelf.before = (read) => {
      if (read === "listSteps" && n < 200) shelf.put(numbered(n++, completeRecord));
    };
    expect(await audit(shelf)).toMatchObject({ checked: 5, complete: true });
  });

  test("a sample looks at some of them, as the dice fall", async () => {
    let rolls = 0;
    const runtime = { ...sampleRuntime, float: () => (rolls++ % 4) / 4 };
    const report = await audit(new Shelf(...many(40)), { sample: 0.25, runtime });
    expect(report).toMatchObject({ checked: 10, complete: true });
  });

  test("only some workflows and statuses", async () => {
    const shelf = new Shelf(
      ...many(3),
      numbered(4, (of) => pausedRecord({ ...of, workflowName: "other" })),
      numbered(5, pausedRecord),
    );
    expect(await audit(shelf, { filter: { workflowName: "order" } })).toMatchObject({ checked: 4 });
    expect(await audit(shelf, { filter: { statuses: ["paused"] } })).toMatchObject({ checked: 2 });
  });

  test("it tells how far it has come", async () => {
    const told: VerifyProgress[] = [];
    const shelf = new Shelf(...many(150), broken(151));
    await audit(shelf, { onProgress: (progress) => told.push(progress) });
    expect(told).toEqual([
      { instances: 100, checked: 100, violations: 1 },
      { instances: 151, checked: 151, violations: 1 },
    ]);
  });

  test("long histories are read in pages", async () => {
    const steps = Array.from({ length: 1200 }, (_, n) => doneStep({ key: `s${n}`, index: n }));
    const shelf = new Shelf(runOf(completeRecord(), steps));
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [] });
    expect(shelf.asked.filter((read) => read.startsWith("listSteps"))).toHaveLength(3);
  });
});

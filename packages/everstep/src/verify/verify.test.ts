import { describe, expect, test } from "vitest";
import { audit, broken, many, numbered } from "../../../../tests/support/sample-audit.ts";
import {
  activeRecord,
  completeRecord,
  doneSleep,
  doneStep,
  doneWait,
  pausedRecord,
  pendingRecord,
  runOf,
  taken,
  terminatedRecord,
} from "../../../../tests/support/sample-run.ts";
import { Shelf } from "../../../../tests/support/sample-shelf.ts";

describe("what is found", () => {
  test("sound runs: nothing", async () => {
    const shelf = new Shelf(
      numbered(1, completeRecord),
      numbered(2, pausedRecord),
      numbered(3, activeRecord),
    );
    expect(await audit(shelf)).toEqual({
      ok: true,
      checked: 3,
      violations: [],
      warnings: [],
      warningsLeftOut: 0,
      moving: 0,
      unreadable: [],
      complete: true,
      summary: "Checked 3 runs: no violation. All were looked at.",
    });
  });

  test("a violation names its run and is looked at twice before it is told", async () => {
    const shelf = new Shelf(numbered(1, completeRecord), broken(2));
    const report = await audit(shelf);
    expect(report.violations).toEqual([
      {
        invariant: "INV-37",
        message: "The run is complete but has not got an output.",
        workflowName: "order",
        instanceId: "o-2",
        runNumber: 1,
      },
    ]);
    expect(report.ok).toBe(false);
    expect(report.summary).toBe("Checked 2 runs: 1 violation (1 INV-37). All were looked at.");
    expect(shelf.asked.filter((read) => read === "listSteps 2")).toHaveLength(2);
    expect(shelf.asked.filter((read) => read === "listSteps 1")).toHaveLength(1);
  });

  test("of a run in which everything is wrong only the first things are told", async () => {
    const steps = Array.from({ length: 50 }, (_, n) => doneStep({ key: `s${n}`, index: n, attempts: 0 }));
    const { violations } = await audit(new Shelf(runOf(activeRecord(), steps)));
    expect(violations).toHaveLength(10);
  });

  test("what something else may explain is told only to those who ask, as a warning", async () => {
    const shelf = new Shelf(runOf(completeRecord(), [doneSleep({ key: "nap", wakeAt: 5, settledAt: 4 })]));
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [], warnings: [] });
    expect(await audit(shelf, { doubts: true })).toMatchObject({
      violations: [],
      warnings: [
        { kind: "doubtful", promise: "INV-28", unless: "sleep-skipped", instanceId: "o-1", runNumber: 1 },
      ],
    });
  });

  test("after very many violations the rest is left to the next call", async () => {
    const shelf = new Shelf(...Array.from({ length: 1500 }, (_, n) => broken(n + 1)));
    const first = await audit(shelf);
    expect(first).toMatchObject({ checked: 1000, complete: false });
    const second = await audit(shelf, { after: first.after });
    expect(second).toMatchObject({ checked: 500, complete: true });
  });
});

describe("older runs", () => {
  const older = {
    ...runOf(terminatedRecord({ runId: 1, output: null, completedAt: null })),
    isCurrent: false,
  };
  const current = runOf(completeRecord({ runId: 2, runNumber: 2 }));

  test("are looked at when asked for", async () => {
    const shelf = new Shelf(older, current);
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [] });
    expect(await audit(shelf, { history: true })).toMatchObject({
      checked: 2,
      violations: [{ invariant: "INV-37", instanceId: "o-1", runNumber: 1 }],
    });
  });

  test("that are gone are found", async () => {
    const { violations } = await audit(new Shelf(current), { history: true });
    expect(violations).toMatchObject([{ invariant: "INV-33", instanceId: "o-1", runNumber: 1 }]);
  });

  test("that went with their instance are not", async () => {
    const shelf = new Shelf(older, current);
    shelf.before = (read) => {
      if (read !== "listEvents") return;
      shelf.runs.length = 0;
    };
    expect(await audit(shelf, { history: true })).toMatchObject({ checked: 0, violations: [], moving: 0 });
  });
});

describe("live runs", () => {
  test("one that moved while it was read is read again", async () => {
    const shelf = new Shelf(runOf(activeRecord()));
    let moves = 0;
    shelf.before = (read) => {
      if (read === "listSteps" && moves++ < 2) shelf.put(runOf(activeRecord({ token: 3 + moves })));
    };
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [], moving: 0 });
  });

  test("one that never holds still is counted as such", async () => {
    const shelf = new Shelf(runOf(activeRecord()), numbered(2, completeRecord));
    let token = 3;
    shelf.before = (read) => {
      if (read === "listSteps") shelf.put(runOf(activeRecord({ token: ++token })));
    };
    const report = await audit(shelf);
    expect(report).toMatchObject({ checked: 1, violations: [], moving: 1 });
    expect(report.summary).toBe("Checked 1 run: no violation, 1 never held still. All were looked at.");
  });

  test("what is gone on the second look is not told", async () => {
    const event = taken("paid", { seq: 1 });
    const wait = doneWait({ key: "paid" });
    // The step that took the event is recorded after the steps were read; nothing else shows under a lease.
    const shelf = new Shelf(runOf(activeRecord(), [], [event]));
    let looks = 0;
    shelf.before = (read) => {
      if (read === "listSteps" && ++looks === 2) shelf.put(runOf(activeRecord(), [wait], [event]));
    };
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [], moving: 0 });
  });

  test("something else on every look is no violation", async () => {
    const shelf = new Shelf(runOf(activeRecord()));
    let seq = 0;
    shelf.before = (read) => {
      if (read === "listEvents") shelf.put(runOf(activeRecord(), [], [taken("paid", { seq: ++seq })]));
    };
    expect(await audit(shelf)).toMatchObject({ checked: 0, violations: [], moving: 1 });
  });

  test("one that was removed meanwhile is left out", async () => {
    const shelf = new Shelf(...many(2));
    shelf.before = (read, about) => {
      if (read === "listEvents" && about === "1") shelf.take(1);
    };
    expect(await audit(shelf)).toMatchObject({ checked: 1, moving: 0, violations: [] });
  });

  test("one that was restarted meanwhile is judged as the older run it has become", async () => {
    const shelf = new Shelf(runOf(completeRecord()));
    shelf.before = (read) => {
      if (read !== "listEvents") return;
      shelf.put({ ...runOf(completeRecord()), isCurrent: false });
      shelf.put(runOf(pendingRecord({ runId: 2, runNumber: 2 })));
    };
    expect(await audit(shelf)).toMatchObject({ checked: 1, violations: [], moving: 0 });
  });
});

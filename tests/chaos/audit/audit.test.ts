/** An audit that cannot fail proves nothing: each of these spoils sound evidence in one place. */
import { expect, test } from "vitest";
import type { Evidence, RunEvidence } from "../evidence.ts";
import type { LedgerLine } from "../ledger.ts";
import type { Decision, Letter, Receipt } from "../receipts.ts";
import { auditChains } from "./chains.ts";
import { auditLimits } from "./limits.ts";
import { differences } from "./nodes.ts";
import { auditOutcomes } from "./outcomes.ts";
import { auditOverlaps, findOverlaps } from "./overlaps.ts";
import { auditProcesses } from "./processes.ts";
import { auditReceipts } from "./receipts.ts";
import { acts, aRun, body, processOf, type Story, step, story, told } from "./sound-story.ts";
import { auditSteering } from "./steering.ts";

function decided(spoilt: Story, decision: Partial<Decision & Receipt>): void {
  const base = { kind: "pause", journey: "j-1", reason: "decision 1" } as const;
  spoilt.receipts.decisions.push({ ...base, ...told, ...decision });
}

function runAgain(spoilt: Story, facts: Partial<RunEvidence>): void {
  spoilt.journeys[0]?.runs.push(aRun({ ...spoilt.run, runNumber: 2, ...facts }));
}

function usedUp(number: number): Letter & Receipt {
  const letter = { id: `letter-${number}`, journey: "j-1", number };
  return { ...letter, ...told, answer: "refused", code: "IDEMPOTENCY_KEY_CONFLICT" };
}

const audits = {
  outcomes: auditOutcomes,
  receipts: auditReceipts,
  chains: auditChains,
  overlaps: auditOverlaps,
  limits: auditLimits,
  steering: auditSteering,
  processes: auditProcesses,
};

function audit(evidence: Evidence): Record<string, string[]> {
  const found = Object.entries(audits).map(([about, each]) => [about, each(evidence)] as const);
  return Object.fromEntries(found.filter(([, faults]) => faults.length > 0));
}

test("sound evidence is found sound", () => {
  expect(audit(story())).toEqual({});
});

test("a letter that was sent again after a restart may be refused as used up", () => {
  const told = story();
  told.receipts.letters.push(usedUp(4));
  decided(told, { kind: "restart" });
  runAgain(told, { events: [] });
  expect(auditReceipts(told)).toEqual([]);
});

const spoilers: readonly [string, keyof typeof audits, RegExp, (spoilt: Story) => void][] = [
  [
    "an instance that failed",
    "outcomes",
    /j-1 is errored: no/,
    ({ run }) => {
      run.status = "errored";
      run.errorMessage = "no";
    },
  ],
  [
    "an instance that has not ended",
    "outcomes",
    /j-1 is waiting/,
    ({ run }) => {
      run.status = "waiting";
    },
  ],
  [
    "a wrong output",
    "outcomes",
    /j-1 gave \[1\]/,
    ({ run }) => {
      run.output = { values: [1], seen: [] };
    },
  ],
  [
    "an output made of what is not recorded",
    "outcomes",
    /"t-9", which is not recorded/,
    ({ run }) => {
      run.output = { values: [5, "hopeless", "letter", 7, 6], seen: ["t-9"] };
    },
  ],
  [
    "an instance terminated by nobody",
    "outcomes",
    /terminated by nobody/,
    ({ run }) => {
      run.status = "terminated";
      run.terminationMessage = "decision 7";
    },
  ],
  [
    "a child that was lost",
    "outcomes",
    /was started and is not there/,
    ({ errands }) => {
      errands.pop();
    },
  ],
  [
    "a child of a start that was not recorded",
    "outcomes",
    /nobody started it/,
    ({ run }) => {
      run.steps = run.steps.filter(({ name }) => name !== "3 errand");
    },
  ],
  [
    "a created instance that is gone",
    "receipts",
    /j-2 was created and is not there/,
    ({ receipts }) => {
      receipts.creations.push({ id: "j-2", acts, ...told });
    },
  ],
  [
    "an accepted letter that is gone",
    "receipts",
    /letter-5 was accepted and is gone/,
    ({ run }) => {
      run.events = run.events.slice(0, 2);
    },
  ],
  [
    "a letter that was taken in twice",
    "receipts",
    /letter-5 is there 2 times/,
    ({ run }) => {
      run.events = [...run.events, ...run.events.slice(2)];
    },
  ],
  [
    "a letter refused as used up that was sent once",
    "receipts",
    /letter-4 to j-1 was refused as used up/,
    (spoilt) => {
      spoilt.receipts.letters.splice(0, 1, usedUp(4));
      decided(spoilt, { kind: "restart" });
      runAgain(spoilt, { events: [] });
    },
  ],
  [
    "a letter refused as used up by the run it was sent to",
    "receipts",
    /letter-4 to j-1 was refused as used up/,
    ({ receipts }) => {
      receipts.letters.push(usedUp(4));
    },
  ],
  [
    "a publication that reached fewer than it said",
    "receipts",
    /reach 1 waits and reached 0/,
    ({ receipts }) => {
      receipts.publications.push({ id: "news-1", topic: "weather", number: 1, waiters: 1, ...told });
    },
  ],
  [
    "a restart made twice",
    "receipts",
    /3 runs after 1 to 1 restarts/,
    (spoilt) => {
      decided(spoilt, { kind: "restart" });
      runAgain(spoilt, {});
      runAgain(spoilt, { runNumber: 3 });
    },
  ],
  [
    "a restart that was lost",
    "receipts",
    /1 runs after 1 to 1 restarts/,
    (spoilt) => {
      decided(spoilt, { kind: "restart" });
    },
  ],
  [
    "a termination that was lost",
    "receipts",
    /ended 0 runs/,
    (spoilt) => {
      decided(spoilt, { kind: "terminate" });
    },
  ],
  [
    "an absurd answer",
    "receipts",
    /already exists/,
    ({ receipts }) => {
      receipts.absurd.push("create j-1 was answered: it already exists");
    },
  ],
  [
    "a result that was replaced",
    "chains",
    /4 step \(start 1\) saw "t-0", which is not recorded/,
    ({ run }) => {
      run.steps = [step("0 step", { result: { token: "t-zombie", seen: [] } }), ...run.steps.slice(1)];
    },
  ],
  [
    "a completed step that ran again",
    "chains",
    /0 step began again 800.0 ms after/,
    ({ ledger }) => {
      ledger.push(...body("journey/j-1/1/0 step", "t-again", [], 1000));
    },
  ],
  [
    "a failed step that ran again",
    "chains",
    /1 hopeless began again/,
    ({ ledger }) => {
      ledger.push(...body("journey/j-1/1/1 hopeless", "t-again", ["t-0"], 1000));
    },
  ],
  [
    "a step that ran again though it never must",
    "chains",
    /9 once began again, which it never must/,
    ({ ledger }) => {
      ledger.push(...body("journey/j-1/1/9 once", "t-9a", [], 1000, "cut off"));
      ledger.push(...body("journey/j-1/1/9 once", "t-9b", [], 2000));
    },
  ],
  [
    "a run nobody knows",
    "chains",
    /journey\/j-7\/1 ran and is not there/,
    ({ ledger }) => {
      ledger.push(...body("journey/j-7/1/0 step", "t-7", [], 1000));
    },
  ],
  [
    "bodies of a run in two processes at once",
    "overlaps",
    /together for 50 ms/,
    ({ ledger }) => {
      ledger.push(...body("journey/j-1/1/5 step", "t-5", [], 1000, "cut off"));
      ledger.push(...body("journey/j-1/1/5 step", "t-6", [], 2000, "done", 2));
    },
  ],
  [
    "a process that goes on after it was away",
    "overlaps",
    /together/,
    ({ ledger, processes }) => {
      processes[0] = processOf(1, { freezes: [{ from: 1500, to: 3000 }] });
      ledger.push(...body("journey/j-1/1/5 step", "t-5", [], 1000, "cut off"));
      ledger.push(...body("journey/j-1/1/5 step", "t-6", [], 2000, "done", 2));
    },
  ],
  [
    "too many attempts",
    "limits",
    /1 hopeless had 3 attempts/,
    ({ run }) => {
      run.steps = [
        step("1 hopeless", { status: "errored", attempts: 3, starts: 3, maxAttempts: 2 }),
        ...run.steps.slice(2),
      ];
    },
  ],
  [
    "too few attempts",
    "limits",
    /1 hopeless was given up after 1 attempts/,
    ({ run }) => {
      run.steps = [step("1 hopeless", { status: "errored" }), ...run.steps.slice(2)];
    },
  ],
  [
    "a sleep that was too short",
    "limits",
    /woke before its time/,
    ({ run }) => {
      const times = { wakeAt: new Date(2000), settledAt: new Date(1999) };
      run.steps = [...run.steps, step("9 sleep", { type: "sleep", ...times })];
    },
  ],
  [
    "a wait that took two events",
    "limits",
    /2 letter took 2 events/,
    ({ run }) => {
      run.events = [...run.events.slice(0, 2), { ...run.events[2]!, consumedByStepKey: "2 letter" }];
    },
  ],
  [
    "a wait that took none",
    "limits",
    /2 letter took no event/,
    ({ run }) => {
      run.events = run.events.slice(1);
    },
  ],
  [
    "a wait that gave something else",
    "limits",
    /gave {"number":9} and took {"number":4}/,
    ({ run }) => {
      const wait = step("2 letter", { type: "waitForEvent", result: { payload: { number: 9 } } });
      run.steps = run.steps.map((each) => (each.name === "2 letter" ? wait : each));
    },
  ],
  [
    "a letter that was passed over",
    "limits",
    /passed over/,
    ({ run }) => {
      run.events = [run.events[2]!, run.events[0]!, run.events[1]!];
    },
  ],
  [
    "a body that began in a pause",
    "steering",
    /0 step began 2999 ms after a pause/,
    (spoilt) => {
      decided(spoilt, { kind: "pause" });
      spoilt.ledger.push(...body("journey/j-1/1/0 step", "t-0b", [], 3000));
    },
  ],
  [
    "a body that began after the end",
    "steering",
    /0 step began 2999 ms after its end/,
    (spoilt) => {
      decided(spoilt, { kind: "terminate" });
      spoilt.run.terminationMessage = "decision 1";
      spoilt.ledger.push(...body("journey/j-1/1/0 step", "t-0b", [], 3000));
    },
  ],
  [
    "a process that fell",
    "processes",
    /1 fell/,
    ({ processes }) => {
      processes[0] = processOf(1, { fate: "fell" });
    },
  ],
  [
    "a problem that does not pass",
    "processes",
    /1 was told STORE_FAILED: why/,
    ({ ledger }) => {
      const problem = { pid: 1, at: 1, code: "STORE_FAILED", retryable: false, message: "why" };
      ledger.push({ kind: "problem", ...problem });
    },
  ],
];

test.each(spoilers)("%s is found", (_what, about, words, spoil) => {
  const spoilt = story();
  spoil(spoilt);
  spoilt.ledger.sort((a, b) => timeOf(a) - timeOf(b));
  expect(audit(spoilt)[about]).toContainEqual(expect.stringMatching(words));
});

test("a run that was restarted while the pause was on its way may go on", () => {
  const restarted = story();
  decided(restarted, { kind: "pause", askedAt: 900, answeredAt: 1200 });
  decided(restarted, { kind: "restart", reason: "decision 2", askedAt: 1000, answeredAt: 1100 });
  restarted.ledger.push(...body("journey/j-1/2/0 step", "t-0b", [], 8000));
  expect(auditSteering(restarted)).toEqual([]);
});

test("a process that was away and stopped when it was back is no fault, and is counted", () => {
  const away = story();
  away.processes[0] = processOf(1, { freezes: [{ from: 1500, to: 3000 }] });
  const [begin] = body("journey/j-1/1/5 step", "t-5", [], 1000);
  away.ledger.push(begin!, { kind: "end", pid: 1, at: 3010, token: "t-5", how: "aborted" });
  away.ledger.push(...body("journey/j-1/1/5 step", "t-6", [], 2000, "done", 2));
  expect(audit(away)).toEqual({});
  expect(findOverlaps(away)).toMatchObject([{ explained: true }]);
});

test("a process that was killed before it got to run again is no fault", () => {
  const killed = story();
  killed.processes[0] = processOf(1, {
    freezes: [{ from: 1500, to: 3000 }],
    lastBeatAt: 3005,
    endedAt: 3300,
  });
  killed.ledger.push(...body("journey/j-1/1/5 step", "t-5", [], 1000, "cut off"));
  killed.ledger.push(...body("journey/j-1/1/5 step", "t-6", [], 2000, "done", 2));
  expect(audit(killed)).toEqual({});
});

test("a body entered by a process that had been away since before its step was done is no fault", () => {
  const away = story();
  away.ledger.push({ kind: "gap", pid: 2, from: 90, to: 4000 });
  away.ledger.push(...body("journey/j-1/1/0 step", "t-late", [], 3995, "aborted", 2));
  expect(audit(away)).toEqual({});
});

function timeOf(line: LedgerLine): number {
  return line.kind === "gap" ? line.from : line.at;
}

test("the audit of nodes names what one of them has and another has not", () => {
  expect(differences(new Set(["journey/j-1"]), new Set(["journey/j-1"]), 1)).toEqual([]);
  expect(
    differences(new Set(["journey/j-1", "errand/e"]), new Set(["journey/j-1", "journey/j-2"]), 2),
  ).toEqual(["errand/e is on node 0 and not on node 2", "journey/j-2 is on node 2 and not on node 0"]);
});

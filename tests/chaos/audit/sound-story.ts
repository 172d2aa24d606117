/** Evidence that is as it should be, made by hand, for tests that spoil it. */
import type { EventView, StepView } from "everstep";
import type { Act } from "../acts.ts";
import type { Evidence, ProcessEvidence, RunEvidence } from "../evidence.ts";
import { errandId, failedToken, waitToken } from "../journey.ts";
import type { LedgerLine } from "../ledger.ts";
import type { Loss } from "../losses.ts";
import { type Receipt, Receipts } from "../receipts.ts";

const leaseMs = 2500;
export const acts: Act[] = [
  { kind: "step", ms: 5 },
  { kind: "hopeless", ms: 1 },
  { kind: "letter" },
  { kind: "errand", ms: 7 },
  { kind: "step", ms: 6 },
];
const errand = errandId("j-1", "t-errand");
export const told: Receipt = { askedAt: 0, answeredAt: 1, answer: "acknowledged" };

/** The story of one journey and its errand, one thing after the other, in process 1. It may be spoilt anywhere. */
export function story() {
  const afterFirst = ["t-0"];
  const afterFailure = [...afterFirst, failedToken("1 hopeless")];
  const afterLetter = [...afterFailure, waitToken("2 letter", { number: 4 })];
  const afterErrand = [...afterLetter, "t-errand"];
  const steps = [
    step("0 step", { result: { token: "t-0", seen: [] } }),
    step("1 hopeless", { status: "errored", attempts: 2, starts: 2, maxAttempts: 2 }),
    step("2 letter", { type: "waitForEvent", result: { payload: { number: 4 } } }),
    step("3 errand", { result: { token: "t-errand", seen: afterLetter } }),
    step("3 errand done", { type: "waitForEvent", result: { payload: { ms: 7 } } }),
    step("4 step", { result: { token: "t-4", seen: afterErrand } }),
  ];
  const events = [
    event("letter-4", { type: "letter", payload: { number: 4 }, consumedByStepKey: "2 letter" }),
    event(errand, { type: `done-${errand}`, payload: { ms: 7 }, consumedByStepKey: "3 errand done" }),
    event("letter-5", { type: "letter", payload: { number: 5 } }),
  ];
  const output = { values: [5, "hopeless", "letter", 7, 6], seen: [...afterErrand, "t-4"] };
  const run = aRun({ steps, events, output });
  const errandSteps = [
    step("go", { result: { token: "t-go", seen: [] } }),
    step("report", { result: { token: "t-report", seen: ["t-go"] } }),
  ];
  const ledger: LedgerLine[] = [
    ...body("journey/j-1/1/0 step", "t-0", [], 100),
    ...body("journey/j-1/1/1 hopeless", "t-1a", afterFirst, 200, "failed"),
    ...body("journey/j-1/1/1 hopeless", "t-1b", afterFirst, 300, "failed"),
    ...body("journey/j-1/1/3 errand", "t-errand", afterLetter, 400),
    ...body(`errand/${errand}/1/go`, "t-go", [], 500),
    ...body(`errand/${errand}/1/report`, "t-report", ["t-go"], 600),
    ...body("journey/j-1/1/4 step", "t-4", afterErrand, 700),
  ];
  const receipts = new Receipts();
  receipts.creations.push({ id: "j-1", acts, ...told });
  for (const number of [4, 5])
    receipts.letters.push({ id: `letter-${number}`, journey: "j-1", number, ...told });
  const processes: ProcessEvidence[] = [processOf(1), processOf(2)];
  return {
    journeys: [{ workflowName: "journey", id: "j-1", params: { acts }, runs: [run] }],
    errands: [
      {
        workflowName: "errand",
        id: errand,
        params: { ms: 7, journey: "j-1" },
        runs: [aRun({ steps: errandSteps, output: 7 })],
      },
    ],
    ledger,
    processes,
    receipts,
    losses: [] as Loss[],
    leaseMs,
    run,
  } satisfies Evidence & { readonly run: RunEvidence };
}

export type Story = ReturnType<typeof story>;
type Draft<Value> = { -readonly [Key in keyof Value]: Value[Key] };

export function aRun(facts: Partial<RunEvidence>): Draft<RunEvidence> {
  return {
    runNumber: 1,
    status: "complete",
    output: null,
    errorMessage: null,
    terminationMessage: null,
    steps: [],
    events: [],
    ...facts,
  };
}

export function step(name: string, facts: Partial<StepView> = {}): Draft<StepView> {
  const base = {
    stepKey: name,
    name,
    type: "do",
    status: "completed",
    attempts: 1,
    starts: 1,
    maxAttempts: 6,
  };
  return { ...base, errors: [], ...facts } as unknown as Draft<StepView>;
}

export function event(id: string, facts: Partial<EventView>): Draft<EventView> {
  return {
    id,
    type: null,
    topic: null,
    payload: null,
    consumedByStepKey: null,
    ...facts,
  } as Draft<EventView>;
}

export function body(
  name: string,
  token: string,
  seen: readonly string[],
  at: number,
  how: "done" | "failed" | "aborted" | "cut off" = "done",
  pid = 1,
): LedgerLine[] {
  const begin: LedgerLine = { kind: "begin", pid, at, body: name, start: 1, token, seen };
  return how === "cut off" ? [begin] : [begin, { kind: "end", pid, at: at + 50, token, how }];
}

export function processOf(pid: number, facts: Partial<ProcessEvidence> = {}): ProcessEvidence {
  return {
    pid,
    fate: "left",
    endedAt: 10_000,
    lastBeatAt: 10_000,
    freezes: [],
    lastWords: `${pid} fell`,
    ...facts,
  };
}

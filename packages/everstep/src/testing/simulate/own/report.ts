/** What a simulation found, for programs and for people. */
import type { Finding } from "../finding.ts";
import { replayCode, type SimulationTape } from "./replay-code.ts";
import { lengthText } from "./schedule.ts";

export interface SimulationFailure {
  /** Which invariant broke: one of yours, or one that every workflow must keep. */
  readonly invariant: string;
  /** What is wrong, in a sentence. */
  readonly reason: string;
  /** Everything: the invariant, what happened line by line, and how to play it again. */
  readonly message: string;
  readonly seed: number | string;
  /** What happened, line by line. */
  readonly schedule: readonly string[];
  /** How many things had to go wrong. */
  readonly faults: number;
  /** The world in which it happened, to be kept as JSON and given as `replay`. */
  readonly tape: SimulationTape;
  /** The same, short enough for a command line. */
  readonly code: string;
  /** It happened again when the world was made again. */
  readonly isRepeatable: boolean;
}

export interface SimulationReport {
  readonly ok: boolean;
  /** Worlds that were tried: one without any fault, those with a single fault, and the seeds. */
  readonly worlds: number;
  /** Seeds among them. */
  readonly seeds: number;
  readonly failures: readonly SimulationFailure[];
  /** What went wrong in the worlds and how instances ended, and how often: what never came up was not tried. */
  readonly sightings: Readonly<Record<string, number>>;
  /** Worth knowing: a time that was up, a tape that does not fit any more. */
  readonly notes: readonly string[];
  /** Real time. */
  readonly elapsedMs: number;
}

/** A test that does nothing but call `simulate` fails with this, and shows all of it. */
export class SimulationFailed extends Error {
  override readonly name = "SimulationFailed";
  readonly report: SimulationReport;

  constructor(report: SimulationReport) {
    super(report.failures.map(({ message }) => message).join("\n\n"));
    this.report = report;
  }
}

export interface FailureFacts {
  readonly finding: Finding;
  readonly tape: SimulationTape;
  readonly schedule: readonly string[];
  readonly faults: number;
  /** Of the world in which it was found. */
  readonly faultsFound: number;
  /** Worlds that were tried until it was this small. */
  readonly tries: number;
  readonly isRepeatable: boolean;
}

const linesMax = 80;

export function failureOf(facts: FailureFacts): SimulationFailure {
  const { finding, tape, schedule, faults, isRepeatable } = facts;
  const code = replayCode(tape);
  return {
    invariant: finding.invariant,
    reason: finding.message,
    message: [headline(finding), story(facts), repetition(code, isRepeatable)].join("\n\n"),
    seed: tape.seed,
    schedule,
    faults,
    tape,
    code,
    isRepeatable,
  };
}

function headline({ invariant, message }: Finding): string {
  const ours = /^(INV|LIV)-\d+$/.test(invariant)
    ? "\nThis is a promise of the engine and of its store, which your code cannot break: please report it with the code below."
    : "";
  return `"${invariant}" does not hold: ${message}${ours}`;
}

function story({ schedule, faults, faultsFound, tries }: FailureFacts): string {
  const wrong =
    faults === 0 ? "nothing went wrong" : `${faults} ${faults === 1 ? "thing" : "things"} went wrong`;
  const shrunk = tries === 0 ? "" : `; made smaller from ${faultsFound} in ${tries} worlds`;
  const lines = shortened(schedule).map((line) => `  ${line}`);
  return `What happened (${wrong}${shrunk}):\n${lines.join("\n")}`;
}

function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= linesMax) return lines;
  const half = linesMax / 2;
  return [...lines.slice(0, half), `... ${lines.length - linesMax} more ...`, ...lines.slice(-half)];
}

function repetition(code: string, isRepeatable: boolean): string {
  const doubt = isRepeatable
    ? ""
    : "It did not happen again when the same world was made again: something in the workflows, the scenario or the " +
      "invariants depends on real time, real chance, or what an earlier seed left behind.\n";
  return (
    `${doubt}Play it again:\n  simulate(workflows, { ...options, replay: ${JSON.stringify(code)} })\n` +
    `or without touching the test:\n  EVERSTEP_SIMULATE_REPLAY='${code.replaceAll("'", "%27")}' <the command that runs the test>`
  );
}

export function timeWasUp(worlds: number, of: number, budgetMs: number): string {
  return `The time budget of ${lengthText(budgetMs)} was up after ${worlds} of ${of} worlds.`;
}

export function tapeDoesNotFit(labels: readonly string[]): string {
  return (
    `The tape names choices that nobody asked for (${labels.join(", ")}): the code has changed since it was made, and ` +
    "it may not show any more what it was kept for."
  );
}

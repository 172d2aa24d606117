import { Bodies } from "./bodies.ts";
import type { ClaimedRun } from "./claimed-run.ts";
import { CommitAnswers } from "./commit-answers.ts";
import { InFlight } from "./in-flight.ts";
import { OpenSteps } from "./open-steps.ts";
import { ParkedSteps } from "./parked-steps.ts";
import { PumpSchedule } from "./pump-schedule.ts";
import { StepCalls } from "./step-calls.ts";
import { StepResults } from "./step-results.ts";
import { TurnCommits } from "./turn-commits.ts";
import { TurnEndings } from "./turn-endings.ts";
import { TurnLife } from "./turn-life.ts";
import { TurnPause } from "./turn-pause.ts";
import { TurnPump } from "./turn-pump.ts";
import { type TurnHistory, TurnRecords } from "./turn-records.ts";
import { TurnTimers } from "./turn-timers.ts";

/** The parts of one turn. Each owns its state, and says in its constructor which of the others it uses. */
export class TurnParts {
  readonly run: ClaimedRun;
  /** What is known of the run, and what is new. */
  readonly records: TurnRecords;
  readonly life: TurnLife;
  readonly schedule: PumpSchedule;
  readonly timers: TurnTimers;
  readonly inFlight: InFlight;
  readonly parked: ParkedSteps;
  readonly commits: TurnCommits;
  readonly results: StepResults;
  readonly bodies: Bodies;
  readonly steps: OpenSteps;
  readonly endings: TurnEndings;
  readonly pause: TurnPause;
  readonly pump: TurnPump;
  readonly answers: CommitAnswers;
  readonly calls: StepCalls;

  constructor(run: ClaimedRun, history: TurnHistory) {
    this.run = run;
    this.records = new TurnRecords(run, history);
    this.life = new TurnLife(this);
    this.schedule = new PumpSchedule(this);
    this.timers = new TurnTimers(this);
    this.inFlight = new InFlight(run.claim.begun);
    this.parked = new ParkedSteps(this);
    this.commits = new TurnCommits(this);
    this.results = new StepResults(this);
    this.bodies = new Bodies(this);
    this.steps = new OpenSteps(this);
    this.endings = new TurnEndings(this);
    this.pause = new TurnPause(this);
    this.pump = new TurnPump(this);
    this.answers = new CommitAnswers(this);
    this.calls = new StepCalls(this);
  }
}

import type { EventRecord } from "../model/event.ts";
import { type LogLevel, systemCategory } from "../model/log-line.ts";
import type { StepRecord } from "../model/step.ts";
import { CallRegister } from "./call-register.ts";
import type { ClaimedRun } from "./claimed-run.ts";
import { Draft } from "./draft.ts";
import { Durability } from "./durability.ts";
import { HandOver } from "./hand-over.ts";
import { Inbox } from "./inbox.ts";

export interface TurnHistory {
  readonly steps: readonly StepRecord[];
  readonly events: readonly EventRecord[];
}

/** What a turn knows of its run, and what it has to add to that. */
export class TurnRecords {
  readonly draft: Draft = new Draft();
  readonly durability: Durability = new Durability();
  readonly register: CallRegister;
  readonly handOver: HandOver;
  readonly inbox: Inbox;
  readonly #run: ClaimedRun;

  constructor(run: ClaimedRun, { steps, events }: TurnHistory) {
    this.#run = run;
    this.register = new CallRegister(run.definition, steps, (message) => this.note("warn", message));
    this.handOver = new HandOver(this.draft, this.durability, this.register.settledCount);
    this.inbox = new Inbox(events, run.claim.eventSeq);
  }

  /** A log line of the engine's own. */
  note(level: LogLevel, message: string): void {
    const line = { stepKey: null, attempt: null, level, category: systemCategory, message, data: null };
    this.draft.log({ ...line, isReplay: false, createdAt: this.#run.now() });
  }
}

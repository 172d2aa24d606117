/** The code that one process of a simulation runs: what its author gives for it, watched. */
import type { WorkflowEvent } from "../../../authoring/workflow-step.ts";
import { EverstepError } from "../../../model/error.ts";
import type { InstanceRef } from "../../../model/instance.ts";
import type { Claim } from "../../../model/lease.ts";
import type { StoreOutcome } from "../../../store/store.ts";
import type { StoreCall } from "../../intercept-store.ts";
import type { Member } from "../fleet.ts";
import type { Settings, SimulatedWorkflows } from "./options.ts";
import { type Passage, Passages } from "./passages.ts";
import type { TimeAndChance } from "./time-and-chance.ts";
import { type WatchedHost, watchedWorkflow } from "./watched-workflow.ts";
import { nameOf } from "./words.ts";

export interface ProcessCodeParts extends Pick<WatchedHost, "works" | "bodies" | "onBroken"> {
  readonly time: TimeAndChance;
  readonly state: unknown;
  readonly workflowsOf: Settings["workflowsOf"];
}

export class ProcessCode {
  readonly #parts: ProcessCodeParts;
  readonly #passages = new Passages();
  /** Which run of an instance a process claimed last. */
  readonly #claims = new WeakMap<Member, Map<string, number>>();
  /** As the first process had it. */
  workflows: SimulatedWorkflows = {};

  constructor(parts: ProcessCodeParts) {
    this.#parts = parts;
  }

  /** Asked for once per process: variables of the author's function die with it. */
  of(member: Member): SimulatedWorkflows {
    const { works, bodies, onBroken, time, state, workflowsOf } = this.#parts;
    const process = { clock: time.clockInside(member), random: time.random("process") };
    const worker = time.inside(member, "The function that gives the workflows");
    const workflows = works.runNow(worker, () => workflowsOf(state, process));
    if (typeof workflows !== "object" || workflows === null || workflows instanceof Promise)
      throw new EverstepError(
        "INVALID_ARGUMENT",
        "The function that simulate asks for workflows must return them: (state) => ({ ORDER: orderWorkflow(state) }).",
      );
    this.workflows = workflows;
    const host: WatchedHost = {
      member,
      works,
      bodies,
      onBroken,
      workerIn: (at, what) => time.inside(at, what),
      passageOf: (at, event) => this.#passageOf(at, event),
    };
    const watched = Object.entries(workflows).map(
      ([key, definition]) =>
        [
          key,
          typeof definition?.run === "function" ? watchedWorkflow(definition, host) : definition,
        ] as const,
    );
    return Object.fromEntries(watched);
  }

  /** What a call brought the process: from now on it runs these. */
  applied(member: Member, { method }: StoreCall, answer: unknown): void {
    if (method === "claim") for (const claim of answer as readonly Claim[]) this.#claimed(member, claim);
    if (method !== "write") return;
    for (const outcome of answer as readonly StoreOutcome[])
      if (outcome.kind === "created" && outcome.claim) this.#claimed(member, outcome.claim);
  }

  #claimed(member: Member, claim: Claim): void {
    let runs = this.#claims.get(member);
    if (!runs) {
      runs = new Map();
      this.#claims.set(member, runs);
    }
    runs.set(nameOf(claim), claim.runNumber);
  }

  #passageOf(member: Member, event: WorkflowEvent): Passage {
    const name = nameOf(event as InstanceRef);
    return this.#passages.begin(`${name}/${this.#claims.get(member)?.get(name) ?? 1}`, name);
  }
}

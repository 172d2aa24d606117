/** People and programs who make calls: create, send, publish, pause, resume, terminate, restart, fork, and look. */
import type { InstanceHandle } from "../../../packages/everstep/src/handles/instance-handle.ts";
import type { WorkflowHandle } from "../../../packages/everstep/src/handles/workflow-handle.ts";
import { EverstepError, StoreError } from "../../../packages/everstep/src/model/error.ts";
import type { Choices } from "../../../packages/everstep/src/testing/simulate/choices.ts";
import type { Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Fleet, Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import type { World } from "../../../packages/everstep/src/testing/simulate/world.ts";
import type { Answers } from "../checks/answers.ts";
import { eventTypes, topics } from "../programs/program.ts";

/** A call somebody made, until it is answered. */
export interface Call {
  readonly what: string;
  readonly member: Member;
  readonly since: number;
}

export type Deed =
  | "create"
  | "batch"
  | "send"
  /** As late as possible, or a little later. */
  | "send in time"
  | "publish"
  | "pause"
  | "resume"
  /** Both, soon after each other. */
  | "hold up"
  | "terminate"
  | "restart"
  | "restart from"
  | "fork"
  | "retry"
  | "skip"
  | "await"
  | "look";

const often: Readonly<Record<Deed, number>> = {
  send: 8,
  "send in time": 3,
  create: 2,
  batch: 0.5,
  publish: 1,
  pause: 1,
  resume: 2,
  "hold up": 2,
  terminate: 0.4,
  restart: 0.5,
  "restart from": 0.3,
  fork: 0.3,
  retry: 0.7,
  skip: 0.4,
  await: 1,
  look: 1,
};

export interface OperatorParts {
  readonly world: World;
  readonly choices: Choices;
  readonly fleet: Fleet;
  readonly workflowKey: string;
  /** How many programs there are to create instances of. */
  readonly programs: number;
  readonly instancesMax: number;
  readonly everyMs: number;
  readonly latencyMsMax: number;
  /** Deeds this world knows of. */
  readonly deeds: ReadonlySet<Deed>;
  /** Waits that are open now. */
  readonly waits: () => readonly OpenWait[];
  /** Instances where something waits beside a body under way. */
  readonly busy: () => readonly string[];
  /** Somebody does this, to whom. */
  readonly onDeed: (deed: Deed, id: string) => void;
  readonly answers: Answers;
  readonly onFound: (findings: readonly Finding[]) => void;
  /** An answer that nobody may get. */
  readonly onSurprise: (call: Call, error: unknown) => void;
}

export const deeds = Object.keys(often) as readonly Deed[];

export interface OpenWait {
  readonly id: string;
  readonly type: string;
  /** How long it still lasts. */
  readonly leftMs: number;
}

/** What a caller is told in the ordinary course of things. */
const ordinary: readonly string[] = [
  "INSTANCE_NOT_FOUND",
  "INSTANCE_ID_ALREADY_EXISTS",
  "INSTANCE_TERMINAL",
  "INSTANCE_NOT_ERRORED",
  "FAILED_STEP_NOT_RETRYABLE",
  "STEP_NOT_FOUND",
  "RUN_NOT_FOUND",
  "IDEMPOTENCY_KEY_CONFLICT",
  "EVENT_BUFFER_FULL",
  "APP_STOPPED",
];

export class Operator {
  /** Calls without an answer. */
  readonly open: Set<Call> = new Set();
  readonly #parts: OperatorParts;
  #ids = 0;
  /** Those that were paused for a while: children too. */
  readonly #heldUp = new Set<string>();
  #events = 0;
  #isOver = false;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#next();
  }

  /** Nothing new; what is paused is resumed, so that everything can come to its end. */
  end(): void {
    this.#isOver = true;
  }

  /** Everything that was ever created, as far as this operator knows. */
  get ids(): readonly string[] {
    return Array.from({ length: this.#ids }, (_, at) => idOf(at));
  }

  async resumeAll(): Promise<void> {
    for (const id of new Set([...this.ids, ...this.#heldUp])) await this.#do("resume", id).catch(() => {});
  }

  #next(): void {
    const { world, choices, everyMs } = this.#parts;
    world.after(choices.spread("deed after", everyMs * 3, everyMs / 20), () => {
      if (this.#isOver) return;
      this.#act();
      this.#next();
    });
  }

  #act(): void {
    const { choices, deeds } = this.#parts;
    const isFirst = this.#ids === 0;
    const weights = Object.fromEntries(Object.entries(often).filter(([deed]) => deeds.has(deed as Deed)));
    const deed = isFirst ? "create" : choices.weighted("deed", weights as Record<Deed, number>);
    const id = idOf(choices.below("deed to", Math.max(1, this.#ids)));
    if (deed === "send in time") this.#sendInTime();
    else if (deed === "hold up") this.#do(deed, this.#busyOr(id)).catch(() => {});
    else this.#do(deed, id).catch(() => {});
  }

  #busyOr(id: string): string {
    const busy = this.#parts.busy();
    return busy.length === 0 ? id : this.#parts.choices.pick("held up", busy);
  }

  #sendInTime(): void {
    const { choices, world, waits } = this.#parts;
    const open = waits();
    if (open.length === 0) return;
    const { id, type, leftMs } = choices.pick("in time for", open);
    // A call is under way a few times before the store has it.
    const spareMs = choices.spread("time to spare", 0.05, 5 * this.#parts.latencyMsMax);
    world.after(leftMs - spareMs, () => {
      this.#do("send", id, type).catch(() => {});
    });
  }

  #do(deed: Deed, id: string, type?: string): Promise<unknown> {
    const { fleet, choices, world } = this.#parts;
    const { workflowKey } = this.#parts;
    const members = fleet.places.flatMap(({ member }) => (member?.app.workflows[workflowKey] ? member : []));
    if (members.length === 0) return Promise.resolve();
    const member = choices.pick("deed through", members);
    const call: Call = { what: `${deed} ${id}`, member, since: world.elapsed };
    this.#parts.onDeed(deed, id);
    this.open.add(call);
    const answered = this.#deed(deed, id, member, type);
    return answered.then(
      () => this.open.delete(call),
      (error: unknown) => {
        this.open.delete(call);
        if (!isOrdinary(error)) this.#parts.onSurprise(call, error);
        this.#parts.onFound(this.#parts.answers.failed(call.what, error, world.elapsed - call.since));
        throw error;
      },
    );
  }

  async #deed(deed: Deed, id: string, { app }: Member, wanted?: string): Promise<unknown> {
    const { choices, workflowKey } = this.#parts;
    const workflow = app.workflows[workflowKey] as WorkflowHandle;
    if (deed === "create") return this.#create(workflow);
    if (deed === "batch") return this.#createBatch(workflow);
    if (deed === "publish")
      return app.publish(choices.pick("published on", topics), this.#payload(), {
        idempotencyKey: this.#eventKey(),
      });
    const instance = (await workflow.get(id)) as InstanceHandle;
    switch (deed) {
      case "send":
      case "send in time": {
        const type = wanted ?? choices.pick("sent type", eventTypes);
        const event = { type, payload: this.#payload(), idempotencyKey: this.#eventKey() };
        await instance.sendEvent(event);
        // A caller who heard nothing, or is told to be careful, sends again.
        if (choices.chance("sent twice", 0.2)) await instance.sendEvent(event);
        return;
      }
      case "pause":
        return instance.pause();
      case "resume":
        return instance.resume();
      case "hold up":
        this.#heldUp.add(id);
        await instance.pause();
        return this.#parts.world.after(choices.spread("held up for", 5, 20_000), () => {
          this.#do("resume", id).catch(() => {});
        });
      case "terminate":
        return instance.terminate();
      case "restart":
        return instance.restart();
      case "restart from":
      case "fork":
        return this.#fromStep(deed, instance);
      case "retry":
        return instance.retryFailedStep();
      case "skip":
        return instance.skipSleep();
      case "await":
        return instance.result({ timeout: 60_000 });
      case "look":
        return Promise.all([instance.status(), instance.history(), workflow.list()]);
    }
  }

  async #fromStep(deed: "restart from" | "fork", instance: InstanceHandle): Promise<unknown> {
    const { choices, instancesMax } = this.#parts;
    const { steps } = await instance.history();
    const name = steps.length === 0 ? undefined : choices.pick("from step", steps).name;
    const from = name === undefined ? {} : { from: { name } };
    if (deed === "restart from") return instance.restart(from);
    if (this.#ids >= instancesMax) return;
    const newId = idOf(this.#ids++);
    this.#parts.answers.unclear(newId);
    return instance.fork({ ...from, newId });
  }

  async #create(workflow: WorkflowHandle): Promise<void> {
    const { answers, onFound } = this.#parts;
    const wanted = this.#new();
    const asked = answers.asks(wanted.id);
    try {
      await workflow.create(wanted);
      onFound(answers.created(asked));
    } catch (error) {
      onFound(answers.notCreated(asked, error));
      throw error;
    }
  }

  /** Of several nobody is told which were there. */
  async #createBatch(workflow: WorkflowHandle): Promise<void> {
    const wanted = [this.#new(), this.#new(), this.#new()];
    for (const { id } of wanted) this.#parts.answers.unclear(id);
    await workflow.createBatch(wanted);
  }

  /** Sometimes an id that is taken. */
  #new(): { readonly id: string; readonly params: number } {
    const { choices, instancesMax, programs } = this.#parts;
    const isTaken = this.#ids >= instancesMax || (this.#ids > 0 && choices.chance("created again", 0.15));
    const at = isTaken ? choices.below("created again as", this.#ids) : this.#ids++;
    return { id: idOf(at), params: at % programs };
  }

  #payload(): string {
    return `word ${this.#events++}`;
  }

  #eventKey(): string {
    return `event-${this.#events}`;
  }
}

function idOf(at: number): string {
  return `i${at}`;
}

function isOrdinary(error: unknown): boolean {
  if (error instanceof StoreError) return error.retryable;
  if (!(error instanceof EverstepError)) return false;
  return ordinary.includes(error.code) || /by somebody else meanwhile/.test(error.message);
}

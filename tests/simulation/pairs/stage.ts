/** One instance, brought into a state, and two processes that are about to do something about it at the same time. */
import { defineWorkflow, type WorkflowEvent, type WorkflowStep } from "everstep";
import { Broken } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import type { Member } from "../../../packages/everstep/src/testing/simulate/fleet.ts";
import { memoryData, type SmallData } from "../small-world/small-data.ts";
import { type Site, SmallWorld } from "../small-world/small-world.ts";
import { Turnstile } from "./turnstile.ts";

export type State =
  | "absent"
  | "due"
  | "in its first body"
  | "in its second body"
  | "suspended"
  | "with an event"
  | "paused"
  | "errored"
  | "complete";

/** Bodies that wait, by the place their process runs at. */
type Gates = Map<string, { readonly passed: Promise<void>; open(): void }>;

export class Stage {
  readonly small: SmallWorld;
  readonly turnstile: Turnstile = new Turnstile();
  readonly data: SmallData = memoryData();
  /** Who does the first thing, and who does the other. */
  readonly one: Member;
  readonly other: Member;
  /** Whoever brings the instance into its state, and to its end. */
  readonly desk: Member;
  readonly #gates: Gates = new Map();
  #numbers = 0;

  constructor() {
    this.small = new SmallWorld({
      data: this.data,
      workflows: (site) => ({
        MAIN: defineWorkflow({ name: "main" }, (event, step) => this.#run(event, step, site)),
      }),
    });
    const { fleet } = this.small;
    this.one = fleet.place("one", { runs: false }).member as Member;
    this.other = fleet.place("other", { runs: false }).member as Member;
    this.desk = fleet.place("desk", { runs: false }).member as Member;
  }

  /** Steps, then whatever comes first: an event, a publication, the end of a sleep. */
  async #run(_event: WorkflowEvent, step: WorkflowStep, site: Site): Promise<string> {
    const { outside, place } = site;
    await step.do("first", { retries: false }, async () => {
      if (outside.has("broken")) throw new Error("broken");
      await this.#gates.get(`${place}: first`)?.passed;
    });
    await step.do("second", async ({ mutate, idempotencyKey }) => {
      await this.#gates.get(`${place}: second`)?.passed;
      if (outside.has("rows")) mutate((tx: unknown) => site.insertRow(tx, idempotencyKey));
    });
    const first = await Promise.race([
      step
        .waitForEvent<string>("word", { type: "word", timeout: "1 hour" })
        .then(({ payload }) => `heard ${payload}`),
      step
        .waitForEvent<string>("news", { topic: "news", timeout: "1 hour" })
        .then(({ payload }) => `read ${payload}`),
      step.sleep("rest", "1 hour").then(() => "slept"),
    ]);
    return step.do("last", async () => first);
  }

  close(which: "first" | "second", { place }: Member): void {
    let open = (): void => {};
    const passed = new Promise<void>((resolve) => {
      open = resolve;
    });
    this.#gates.set(`${place.name}: ${which}`, { passed, open });
  }

  open(which: "first" | "second", { place }: Member): void {
    this.#gates.get(`${place.name}: ${which}`)?.open();
  }

  openAll(): void {
    for (const { open } of this.#gates.values()) open();
  }

  /** All have looked at the store once, so that what follows is only what they are asked for. */
  async prepare(): Promise<void> {
    for (const { app } of [this.one, this.other, this.desk]) await this.until(app.migrate());
  }

  async bring(state: State): Promise<void> {
    await this.prepare();
    if (state === "absent") return;
    const { small, desk } = this;
    const { app } = desk;
    if (state === "errored") small.outside.set("broken", true);
    const x = await this.until(app.workflows.MAIN!.create({ id: "x" }));
    if (state === "due") return;
    if (state === "in its first body" || state === "in its second body") return this.enter(state, this.one);
    await this.until(app.tick());
    small.outside.delete("broken");
    if (state === "paused") await this.until(x.pause());
    if (state !== "complete" && state !== "with an event") return;
    await this.until(x.sendEvent({ type: "word", payload: "first" }));
    if (state === "complete") await this.until(app.tick());
  }

  /** Claims the instance and comes to this body, where it stays. */
  async enter(state: "in its first body" | "in its second body", member: Member): Promise<void> {
    const which = state === "in its first body" ? "first" : "second";
    this.close("first", member);
    this.close("second", member);
    if (which === "second") this.open("first", member);
    this.tick(member);
    const { ledger } = this.small;
    await this.come(() => ledger.entries.some((entry) => entry.member === member && entry.stepKey === which));
  }

  /** A number that was not there before. */
  next(): number {
    this.#numbers += 1;
    return this.#numbers;
  }

  tick({ app }: Member): void {
    app
      .tick()
      .catch((error) => this.small.broke({ invariant: "INV-49", message: `a tick failed: ${error}` }));
  }

  async until<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const settled = work.finally(() => {
      isOver = true;
    });
    settled.catch(() => {});
    await this.come(() => isOver);
    const { finding } = this.small;
    if (!isOver && finding) throw new Broken(finding);
    return settled;
  }

  /** Lets the world go on until this is so. */
  async come(isSo: () => boolean, withinMs = 60_000): Promise<void> {
    await this.small.run(isSo, withinMs);
    if (!isSo() && !this.small.finding)
      this.small.broke({ invariant: "LIV-1", message: `not within ${withinMs} ms: ${isSo}` });
  }

  /** Everything that follows from what happened so far, but nothing that waits for a time. */
  async settle(): Promise<void> {
    await this.small.run(() => false, 0.5);
  }
}

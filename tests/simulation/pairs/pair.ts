/** Two operations at the same time: one world per order of their calls, with at most one call that goes wrong. */
import { isTerminal } from "../../../packages/everstep/src/model/instance.ts";
import { Broken, type Finding } from "../../../packages/everstep/src/testing/simulate/finding.ts";
import { runName } from "../../../packages/everstep/src/testing/simulate/watch.ts";
import type { RunFacts } from "../../../packages/everstep/src/verify/run-facts.ts";
import { upshotOf } from "../small-world/upshot.ts";
import { isWriting } from "../strikes.ts";
import type { Choose } from "./merge-orders.ts";
import type { Deed, Operation } from "./operations.ts";
import { Stage, type State } from "./stage.ts";
import { type HeldCall, type Mishandling, mishandlingsOf } from "./turnstile.ts";

export interface Pair {
  readonly one: Operation;
  readonly other: Operation;
  readonly state: State;
  /**
   * Whose lease it is. own: the first process holds it, or nobody does. lost: it ran out while the first process's call
   * was on its way, and the other process has taken over. shared: one process does both.
   */
  readonly lease: "own" | "lost" | "shared";
}

export interface PairWorld {
  readonly finding: Finding | null;
  /** Answers, and what became of everything: the same for worlds that came to the same. */
  readonly came: string;
  /** The calls, in the order in which it was their turn. */
  readonly order: string;
  readonly trace: () => readonly string[];
}

export function pairName({ one, other, state, lease }: Pair): string {
  const how = { own: "", lost: ", with a lease that was lost", shared: ", in one process" }[lease];
  return `${one.name} and ${other.name}, ${state}${how}`;
}

/** Calls of each process whose turn is chosen; the others go through. */
const heldMax = 6;

/** Whose turn it is, and what goes wrong with it. */
export interface Order {
  /** One of those that wait; null to let time pass until another comes. */
  next(waiting: readonly HeldCall[], mayRest: boolean): HeldCall | null;
  mishandling(held: HeldCall): Mishandling | null;
}

/** In any order; with `faults` one call may go wrong. */
export function anyOrder(choose: Choose, faults: boolean): Order {
  let mayFail = faults;
  return {
    next(waiting, mayRest) {
      // The order of reads among themselves shows nowhere.
      if (waiting.every(({ call }) => !isWriting(call))) return waiting[0] as HeldCall;
      return waiting[choose(waiting.length + (mayRest ? 1 : 0))] ?? null;
    },
    mishandling(held) {
      if (!mayFail || held.isAnswered) return null;
      const ways = mishandlingsOf(held);
      const chosen = ways[choose(ways.length + 1) - 1] ?? null;
      mayFail = chosen === null;
      return chosen;
    },
  };
}

/** One operation after the other, and nothing goes wrong. */
export function oneAfterTheOther(first: "one" | "other"): Order {
  return {
    next: (waiting, mayRest) =>
      waiting.find(({ member }) => member.place.name === first) ??
      (mayRest ? null : (waiting[0] as HeldCall)),
    mishandling: () => null,
  };
}

export async function runPair(pair: Pair, order: Order): Promise<PairWorld> {
  const meeting = new Meeting(pair, order);
  return meeting.run();
}

class Meeting {
  readonly #pair: Pair;
  readonly #order: Order;
  readonly #stage = new Stage();
  readonly #turns: string[] = [];

  constructor(pair: Pair, order: Order) {
    this.#pair = pair;
    this.#order = order;
  }

  async run(): Promise<PairWorld> {
    const { small } = this.#stage;
    const answers = await this.#meet().catch((error: unknown) => {
      if (!(error instanceof Broken)) throw error;
      return "nothing";
    });
    const all = await small.lastLook({ isCalm: false });
    this.#matchRows(all);
    const upshot = await upshotOf(all, small.ledger, this.#stage.data.openStore());
    await small.close();
    const ends = [...upshot].map(([name, { came, details }]) => `${name} ${came}\n  ${details.join("\n  ")}`);
    return {
      finding: small.finding,
      came: [answers, ...ends.sort()].join("\n"),
      order: this.#turns.join(" > "),
      trace: () => small.trace.lines,
    };
  }

  /** Ends with what both were answered. */
  async #meet(): Promise<string> {
    await this.#stage.bring(this.#pair.state);
    const deeds = await this.#begin();
    await this.#takeTurns(deeds);
    const answers = deeds.map(({ answer }) => answer).join(" / ");
    await this.#comeToRest();
    await this.#comeToAnEnd();
    return answers;
  }

  // ---------------------------------------------------------------------------------------------- the beginning

  async #begin(): Promise<readonly Deed[]> {
    const { one, other, lease } = this.#pair;
    const stage = this.#stage;
    const first = await one.begin(stage, stage.one);
    if (lease === "shared") return [first, await other.begin(stage, stage.one)];
    if (lease === "lost") await this.#takeOver();
    return [first, await other.begin(stage, stage.other)];
  }

  /** The first process is cut off from the store, its call still under way, until another may have what it held. */
  async #takeOver(): Promise<void> {
    const { turnstile, small, other: successor } = this.#stage;
    const { other, state } = this.#pair;
    const { one } = this.#stage;
    for (const { member, call } of turnstile.waiting) if (member === one) small.disturb(member, call);
    turnstile.set(one, "lose");
    await small.run(() => false, small.settings.lease + 100);
    if (other.name === "claim") return;
    const isFar = [state, other.home].includes("in its second body");
    await this.#stage.enter(isFar ? "in its second body" : "in its first body", successor);
  }

  // ---------------------------------------------------------------------------------------------- taking turns

  async #takeTurns(deeds: readonly Deed[]): Promise<void> {
    const { small, turnstile } = this.#stage;
    const isOver = (): boolean => deeds.every(({ answer }) => answer !== null);
    while (!small.finding) {
      await this.#stage.settle();
      this.#letOthersPass();
      const { waiting } = turnstile;
      if (waiting.length === 0) {
        if (isOver()) return;
        await this.#stage.come(() => turnstile.waiting.length > 0 || isOver());
      } else await this.#turn(waiting, isOver);
    }
  }

  #letOthersPass(): void {
    const { turnstile, one, other } = this.#stage;
    for (const member of [one, other])
      if (turnstile.seen.filter((held) => held.member === member).length >= heldMax)
        turnstile.set(member, "pass");
  }

  async #turn(waiting: readonly HeldCall[], isOver: () => boolean): Promise<void> {
    const { turnstile, small } = this.#stage;
    // One that nobody waits for may take its time.
    const mayRest = !isOver() && waiting.every(({ isAnswered }) => isAnswered);
    const held = this.#order.next(waiting, mayRest);
    if (!held) {
      const before = turnstile.seen.length;
      return this.#stage.come(() => turnstile.seen.length > before || isOver());
    }
    const mishandling = this.#order.mishandling(held);
    const words = `${held.member.place.name} ${held.call.verbs.join(" ")}${mishandling ? ` (${mishandling})` : ""}`;
    this.#turns.push(words);
    small.trace.line(`TURN OF ${words}`);
    if (mishandling) small.disturb(held.member, held.call);
    await turnstile.release(held, mishandling);
  }

  // ---------------------------------------------------------------------------------------------- the end

  /** INV-11: a row is there with the step that wrote it, and not otherwise. */
  #matchRows(all: readonly RunFacts[]): void {
    const { small, data } = this.#stage;
    const rows = new Set(data.rows());
    const keys = all.flatMap(({ record, steps }) =>
      steps.filter(({ status }) => status === "completed").map(({ key }) => `${runName(record)}/${key}`),
    );
    const stray = [...rows].filter((row) => !keys.includes(row));
    const wrote = keys.filter((key) => key.endsWith("/second") && small.ledger.of(key).length > 0);
    const lost = small.outside.has("rows") ? wrote.filter((key) => !rows.has(key)) : [];
    if (stray.length + lost.length === 0) return;
    small.broke({
      invariant: "INV-11",
      message: `rows without steps: ${stray}; steps without rows: ${lost}`,
    });
  }

  /** LIV-1: with a healthy runner everything comes to its end, or waits for something that can happen. */
  async #comeToRest(): Promise<void> {
    const { small, turnstile, one, other } = this.#stage;
    for (const member of [one, other]) turnstile.set(member, "pass");
    for (const held of turnstile.waiting) await turnstile.release(held);
    this.#stage.openAll();
    small.fleet.place("healthy runner", { runs: true });
    const { lease, poll } = small.settings;
    await small.run(() => false, lease * 1.5 + poll * 2);
    // Who was lost twice in a row is left alone for some seconds.
    await this.#stage.come(() => small.unfinished.every(({ record }) => record.status !== "active"), 10_000);
  }

  /** Nothing that waits waits in vain. */
  async #comeToAnEnd(): Promise<void> {
    const { small, desk } = this.#stage;
    for (const { record } of small.unfinished) {
      if (small.finding) return;
      const instance = await this.#stage.until(desk.app.workflows.MAIN!.get(record.instanceId));
      await this.#stage.until(instance.resume());
      await this.#stage.until(instance.sendEvent({ type: "word", payload: "last" }));
    }
    await this.#stage.come(() => small.unfinished.every(({ record }) => isTerminal(record.status)), 20_000);
  }
}

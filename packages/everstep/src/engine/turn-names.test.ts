import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Held, held, stagesOn, type TurnStage } from "../../../../tests/support/turn-stage.ts";
import type { StepConfig, WorkflowStep } from "../authoring/workflow-step.ts";
import type { StepRecord } from "../model/step.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

/** One passage of author code: its bodies end when the test says, and it writes down all that it sees. */
class Passage {
  readonly open = new Map<string, Held<unknown>>();
  readonly started: string[] = [];
  /** What happened, behind the number of results the code had by then. */
  readonly seen: [number, string][] = [];
  #results = 0;

  async run(who: string, asked: Promise<unknown>): Promise<void> {
    const outcome = await asked.then(
      (value) => `got ${value}`,
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
    if (outcome !== "DUPLICATE_STEP_KEY") this.#results++;
    this.say(`${who} ${outcome}`);
  }

  say(what: string): void {
    this.seen.push([this.#results, what]);
  }

  do(step: WorkflowStep, name: string, config: StepConfig = {}): Promise<unknown> {
    return step.do(name, { retries: false, ...config }, (context) => {
      const use = `${name}#${context.step.count}`;
      const body = held();
      this.started.push(use);
      this.open.set(use, body);
      return body.promise;
    });
  }

  /** Ends an open body: those whose name begins with "bad" throw. */
  end(use: string): void {
    const body = this.open.get(use);
    this.open.delete(use);
    if (use.startsWith("bad")) body?.reject(new Error(`failed ${use}`));
    else body?.resolve(use);
  }

  /** What it saw while it had at most so many results. */
  upTo(results: number): readonly string[] {
    return this.seen.filter(([had]) => had <= results).map(([, what]) => what);
  }
}

type Program = (step: WorkflowStep, passage: Passage) => Promise<unknown>;

/** Branches that run side by side, each with these calls one after the other. */
function branches(
  calls: readonly string[],
  ask: (step: WorkflowStep, name: string, passage: Passage) => Promise<unknown>,
): Program {
  return (step, passage) =>
    Promise.all(
      ["x", "y", "z"].map(async (own) => {
        for (const name of calls) {
          passage.say(`${own} asks for ${name}`);
          await passage.run(own, ask(step, name === "own" ? own : name, passage));
        }
      }),
    );
}

const programs: Record<string, Program> = {
  "a name that branches share": branches(["own", "ask", "own", "ask"], (step, name, passage) =>
    passage.do(step, name),
  ),
  "a name that fails": branches(["own", "bad ask", "bad ask"], (step, name, passage) =>
    passage.do(step, name),
  ),
  "a name that branches share with repeat": branches(["own", "ask", "ask"], (step, name, passage) =>
    passage.do(step, name, { repeat: true }),
  ),
  "a name for several kinds of steps": branches(["own", "ask", "nap", "ask"], (step, name, passage) =>
    name === "nap" ? step.sleep("ask", 1) : passage.do(step, name),
  ),
};

/** Ends bodies one after the other as the dice say, until the run has ended. */
async function live(stage: TurnStage, passage: Passage, dice: () => number): Promise<void> {
  await stage.play();
  for (let moves = 0; stage.ending?.kind !== "ended" && moves < 100; moves++) {
    const open = [...passage.open.keys()];
    const together = dice() < 0.3 ? 2 : 1;
    for (let ended = 0; ended < together && open.length > 0; ended++)
      passage.end(open.splice(Math.floor(dice() * open.length), 1)[0] as string);
    if (dice() < 0.3) await stage.runtime.advance(1);
    else await stage.runtime.settle();
    if (stage.ending?.kind === "suspended") {
      await stage.runtime.advance(1);
      await stage.resume();
    }
  }
}

/** Every place a crash can leave behind: what is durable after each commit. */
function prefixes(stage: TurnStage): readonly (readonly StepRecord[])[] {
  const known = new Map<number, StepRecord>();
  return stage.boundaries.map((boundary) => {
    for (const step of boundary.steps) known.set(step.index, step);
    return [...known.values()];
  });
}

describe("uses of one name", () => {
  test.each(Object.entries(programs))(
    "%s: numbered and refused alike after any crash",
    { timeout: 120_000 },
    async (_, program) => {
      await fc.assert(
        fc.asyncProperty(
          fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
          async (rolls) => {
            const dice = (): number => rolls.next().value as number;
            const first = new Passage();
            const stage = stageOf((step) => program(step, first));
            await live(stage, first, dice);
            expect(stage.last.next).toMatchObject({ kind: "complete" });

            const again = new Passage();
            const replayed = stageOf((step) => program(step, again));
            replayed.remember(...stage.steps);
            await replayed.play();
            expect(again.seen).toEqual(first.seen);
            expect(again.started).toEqual([]);

            const known = prefixes(stage)[Math.floor(dice() * stage.commits.length)] ?? [];
            const settled = known.filter(({ status }) => status !== "waiting");
            const after = new Passage();
            const recovered = stageOf((step) => program(step, after));
            recovered.remember(...known);
            await live(recovered, after, dice);
            expect(recovered.last.next).toMatchObject({ kind: "complete" });
            expect(after.upTo(settled.length)).toEqual(first.upTo(settled.length));
            const uses = settled.map(({ name, count }) => `${name}#${count}`);
            expect(after.started.filter((use) => uses.includes(use))).toEqual([]);
          },
        ),
        { numRuns: 150, seed: 7 },
      );
    },
  );

  test("are told apart inside of a body, in each of its starts anew", async () => {
    const ran: string[] = [];
    const stage = stageOf((step) =>
      step.do("outer", { retries: { limit: 1, delay: 1000 } }, async ({ attempt }) => {
        const parts: unknown[] = [];
        for (const at of [1, 2]) parts.push(await step.do("part", async () => ran.push(`part ${at}`)));
        if (attempt === 1) throw new Error("again");
        return parts;
      }),
    );
    await stage.play();
    await stage.runtime.advance(1000);
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: "[1,2]" } });
    expect(ran).toEqual(["part 1", "part 2"]);
    expect(stage.steps.map(({ key }) => key)).toEqual(["outer", "outer/part", "outer/part#2"]);
  });

  test("each take an event of their own", async () => {
    const stage = stageOf(async (step) => {
      const first = await step.waitForEvent<string>("note", { type: "note" });
      const second = await step.waitForEvent<string>("note", { type: "note" });
      return [first.payload, second.payload];
    });
    stage.accept({ type: "note", payload: "one" });
    await stage.play();
    stage.accept({ type: "note", payload: "two" });
    await stage.play();
    expect(stage.last.next).toMatchObject({ kind: "complete", output: { json: '["one","two"]' } });
    expect(stage.steps.map(({ key }) => key)).toEqual(["note", "note#2"]);
  });

  test("do not meet a step with a name of the same look", async () => {
    const stage = stageOf(async (step) => [
      await step.do("ask#2", async () => "own name"),
      await step.do("ask", async () => "first"),
      await step.do("ask", async () => "second"),
      await step.sleep("nap", 1000),
    ]);
    await stage.play();
    await stage.runtime.advance(1000);
    await stage.play();
    expect(stage.last.next).toMatchObject({ output: { json: '["own name","first","second",null]' } });
    expect(stage.steps.map(({ key }) => key)).toEqual(["ask\\#2", "ask", "ask#2", "nap"]);
  });
});

describe("code whose branches are called back by something that is no step", () => {
  /** Work that is done after so many turns of the event loop. */
  async function digest(stage: TurnStage, turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn++)
      await new Promise<void>((resolve) => stage.runtime.drained(resolve));
  }

  test("keeps the results of a name it uses again, whichever branch comes first on replay", async () => {
    let turns = [1, 9];
    const stage: TurnStage = stageOf(async (step) => {
      const loop = async (): Promise<unknown[]> => {
        const asked: unknown[] = [];
        for (const at of [1, 2]) {
          await digest(stage, turns[0] as number);
          asked.push(await step.do("ask", async () => `asked ${at}`));
        }
        return asked;
      };
      const pay = async (): Promise<unknown> => {
        await digest(stage, turns[1] as number);
        return step.do("pay", async () => "paid");
      };
      const all = await Promise.all([loop(), pay()]);
      await step.sleep("nap", 60_000);
      return all;
    });
    await stage.play();
    turns = [9, 1];
    await stage.runtime.advance(60_000);
    await stage.play();
    await stage.runtime.waitUntil(() => stage.ending?.kind === "ended");
    expect(stage.last.next).toMatchObject({
      kind: "complete",
      output: { json: '[["asked 1","asked 2"],"paid"]' },
    });
  });
});

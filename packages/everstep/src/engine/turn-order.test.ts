import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Held,
  held,
  type Story,
  stagesOn,
  type TurnStage,
} from "../../../../tests/support/turn-stage.ts";
import { decodeValue } from "../authoring/codec.ts";
import type { WorkflowStep } from "../authoring/workflow-step.ts";
import type { StepRecord } from "../model/step.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const stageOf = stagesOn(createFakeRuntime);

/** Bodies that end when the test says, by step name. */
class Bodies {
  readonly open = new Map<string, Held<unknown>>();
  readonly started: string[] = [];

  run(step: WorkflowStep, name: string): Promise<unknown> {
    return step.do(name, { retries: false }, () => {
      const body = held();
      this.started.push(name);
      this.open.set(name, body);
      return body.promise;
    });
  }

  /** Ends an open body: those whose name begins with "bad" throw. */
  end(name: string): void {
    const body = this.open.get(name);
    this.open.delete(name);
    if (name.startsWith("bad")) body?.reject(new Error(name));
    else body?.resolve(name);
  }
}

/** Author code of growing depth between a step and who awaits it: races must not depend on it. */
async function through(depth: number, promise: Promise<unknown>): Promise<unknown> {
  return depth === 0 ? promise : through(depth - 1, promise);
}

/** Gives who won, and what was done about it, where there is a winner. */
type Program = (step: WorkflowStep, bodies: Bodies) => Promise<unknown>;

const programs: Record<string, Program> = {
  race: async (step, bodies) => {
    const names = ["a", "b", "bad c", "d"];
    const winner = await Promise.race(names.map((name, at) => through(at * 3, bodies.run(step, name)))).catch(
      (error: Error) => error.message,
    );
    return [winner, await bodies.run(step, `after ${winner}`)];
  },
  any: async (step, bodies) => {
    const names = ["bad a", "b", "bad c", "d"];
    const winner = await Promise.any(names.map((name, at) => through(9 - at * 3, bodies.run(step, name))));
    return [winner, await bodies.run(step, `after ${winner}`)];
  },
  all: async (step, bodies) => {
    const order: unknown[] = [];
    const branches = ["a", "b", "c"].map(async (name, at) => {
      order.push(await through(at, bodies.run(step, name)));
      order.push(await bodies.run(step, `${name} again`));
    });
    await Promise.all(branches);
    return order;
  },
  "all with a failure": async (step, bodies) => {
    const branches = ["a", "bad b", "bad c"].map((name) => bodies.run(step, name));
    const error = await Promise.all(branches).catch((failure: Error) => failure.message);
    return [error, await bodies.run(step, `after ${error}`)];
  },
  allSettled: async (step, bodies) => {
    const settled = await Promise.allSettled(["a", "bad b", "c"].map((name) => bodies.run(step, name)));
    return settled.map(({ status }) => status);
  },
  "race of branches": async (step, bodies) => {
    const branch = async (name: string, length: number): Promise<string> => {
      for (let at = 0; at < length; at++) await bodies.run(step, `${name}${at}`);
      return name;
    };
    const winner = await Promise.race([branch("short", 2), branch("long", 3), branch("mid", 2)]);
    return [winner, await bodies.run(step, `after ${winner}`)];
  },
  "race against a timer": async (step, bodies) => {
    const winner = await Promise.race([
      bodies.run(step, "a"),
      step.sleep("nap", 1).then(() => "nap"),
      bodies.run(step, "b"),
    ]);
    return [winner, await bodies.run(step, `after ${winner}`)];
  },
};

/** Ends bodies one after the other as the dice say, several in one go now and then, until the run has ended. */
async function live(stage: TurnStage, bodies: Bodies, dice: () => number): Promise<void> {
  await stage.play();
  for (let moves = 0; !stage.ending && moves < 100; moves++) {
    const names = [...bodies.open.keys()];
    const together = dice() < 0.3 ? 2 : 1;
    for (let ended = 0; ended < together && names.length > 0; ended++) {
      bodies.end(names.splice(Math.floor(dice() * names.length), 1)[0] as string);
    }
    if (dice() < 0.3) await stage.runtime.advance(1);
    else await stage.runtime.settle();
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

function theStory(program: Program, bodies: Bodies): Story {
  return (step) => program(step, bodies);
}

function outputOf(stage: TurnStage): unknown {
  const next = stage.ending?.kind === "ended" ? stage.ending.next : undefined;
  if (next?.kind !== "complete") throw new Error("The run is not complete.");
  return decodeValue(next.output);
}

/** The step whose settlement made somebody the winner. */
function deciderOf(winner: unknown): string {
  return { short: "short1", mid: "mid1", long: "long2" }[winner as string] ?? (winner as string);
}

describe("concurrent steps settle on replay in the order they settled in", () => {
  test.each(Object.entries(programs))(
    "%s: the same winner and the same steps after any crash",
    { timeout: 120_000 },
    async (_, program) => {
      await fc.assert(
        fc.asyncProperty(
          fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
          async (rolls) => {
            const bodies = new Bodies();
            const stage = stageOf(theStory(program, bodies));
            const dice = (): number => rolls.next().value as number;
            await live(stage, bodies, dice);

            // The whole history: nothing runs again, the same output.
            const again = new Bodies();
            const replayed = stageOf(theStory(program, again));
            replayed.remember(...stage.steps);
            await replayed.play();
            expect(outputOf(replayed)).toEqual(outputOf(stage));
            expect(again.started).toEqual([]);
            expect(replayed.last.steps).toEqual([]);

            // What one crash left behind: recorded steps do not run again, and the winner that was known stays.
            const known = prefixes(stage)[Math.floor(dice() * stage.commits.length)] ?? [];
            const after = new Bodies();
            const recovered = stageOf(theStory(program, after));
            recovered.remember(...known);
            await live(recovered, after, dice);
            const settled = known.filter((step) => step.status !== "waiting");
            const places = settled.map(({ settledIndex }) => settledIndex).sort((a, b) => a - b);
            expect(places).toEqual(places.map((_, at) => at));
            const names = settled.map(({ name }) => name);
            expect(after.started.filter((name) => names.includes(name))).toEqual([]);
            const [winner] = outputOf(stage) as unknown[];
            if (names.includes(deciderOf(winner))) expect((outputOf(recovered) as unknown[])[0]).toBe(winner);
          },
        ),
        { numRuns: 150, seed: 7 },
      );
    },
  );

  test("one settlement is handed over per drained queue, however deep the chains behind it", async () => {
    const order: string[] = [];
    const bodies = new Bodies();
    const stage = stageOf((step) =>
      Promise.all(
        ["deep", "flat"].map(async (name) => {
          await through(name === "deep" ? 20 : 0, bodies.run(step, name));
          order.push(name);
        }),
      ),
    );
    await stage.play();
    bodies.end("deep");
    bodies.end("flat");
    await stage.runtime.settle();
    expect(order).toEqual(["deep", "flat"]);
    order.length = 0;
    await stage.play();
    expect(order).toEqual(["deep", "flat"]);
  });

  test("while a recorded settlement is owed, nothing new begins", async () => {
    const bodies = new Bodies();
    const started: string[] = [];
    const story: Story = (step) =>
      Promise.all([
        bodies.run(step, "a").then(() => started.push("a known")),
        bodies.run(step, "b").then(() => started.push("b known")),
        step.do("new", async () => started.push("new runs")),
      ]);
    const stage = stageOf((step) => Promise.all([bodies.run(step, "a"), bodies.run(step, "b")]));
    await stage.play();
    bodies.end("b");
    await stage.runtime.settle();
    bodies.end("a");
    await stage.runtime.settle();
    const changed = stageOf(story);
    changed.remember(...stage.steps);
    await changed.play();
    expect(started).toEqual(["b known", "a known", "new runs"]);
  });

  test("records that are not asked for any more are skipped", async () => {
    const bodies = new Bodies();
    const stage = stageOf(async (step) => {
      await step.do("gone", async () => 1);
      await step.do("kept", async () => 2);
    });
    await stage.play();
    const changed = stageOf(async (step) => {
      await step.do("added", async () => 0);
      return step.do("kept", async () => 3);
    });
    changed.remember(...stage.steps);
    await changed.play();
    expect(bodies.started).toEqual([]);
    expect(changed.last.next).toMatchObject({ kind: "complete", output: { json: "2" } });
    expect(changed.step("added").index).toBe(2);
  });

  test("a loser that fails later changes nothing", async () => {
    const bodies = new Bodies();
    const stage = stageOf(async (step) => {
      const winner = await Promise.race([bodies.run(step, "a"), bodies.run(step, "bad b")]);
      await step.sleep("nap", 1000);
      return winner;
    });
    await stage.play();
    bodies.end("a");
    await stage.runtime.settle();
    bodies.end("bad b");
    await stage.runtime.settle();
    expect(stage.step("bad b").status).toBe("errored");
    await stage.runtime.advance(1000);
    expect(await stage.play()).toMatchObject({ next: { kind: "complete", output: { json: '"a"' } } });
  });

  test("code that moved on from its history is told so once, and never stopped", async () => {
    const stage = stageOf(async (step) => {
      await step.do("a", async () => 1);
      await step.do("b", async () => 2);
      await step.sleep("nap", 1000);
    });
    await stage.play();
    const changed = stageOf(async (step) => {
      await step.do("b", async () => 20);
      await step.do("a", async () => 10);
      return step.do("c", async () => 3);
    });
    changed.remember(...stage.steps);
    await changed.play();
    expect(changed.ending).toMatchObject({ next: { kind: "complete" } });
    expect(changed.logs).toMatchObject([
      { category: "system", level: "warn", message: expect.stringContaining("another order") },
    ]);
  });

  test("a recorded step asked for as another kind is refused, and history stays", async () => {
    const stage = stageOf(async (step) => {
      await step.do("nap", async () => 1);
      await step.sleep("rest", 1000);
    });
    await stage.play();
    const changed = stageOf((step) => step.sleep("nap", 1000));
    changed.remember(...stage.steps);
    await changed.play();
    expect(changed.last.next).toMatchObject({ kind: "error", error: { code: "STEP_TYPE_MISMATCH" } });
    expect(changed.last.steps).toEqual([]);
  });
});

import { expect, test } from "vitest";
import { held, stagesOn, type TurnStage } from "../../../../tests/support/turn-stage.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";

const open = stagesOn(() => createFakeRuntime());

async function answerAll(stage: TurnStage): Promise<void> {
  for (let commit = stage.held.shift(); commit; commit = stage.held.shift()) await commit.answer();
}

/** How many steps beside it write rows of their own, each in a commit of its own; and whether the inner step does. */
test.each([
  ["plain, in the commit that fails its outer step", 1, false, false],
  ["with rows of its own, behind another's commit", 1, true, true],
  ["with rows of its own, still waiting for others' commits", 2, true, true],
])(
  "an inner step that is done is not done again when its outer one is: %s",
  async (_name, beside, rows, innerRows) => {
    const ran: string[] = [];
    const [first, second] = [held(), held()];
    const stage = open(async (step) => {
      const others = Array.from({ length: beside }, (_, n) =>
        step.do(`beside ${n}`, async ({ mutate }) => {
          await first.promise;
          if (rows) mutate(() => {});
        }),
      );
      await Promise.all([
        ...others,
        step.do("outer", { timeout: 1000, retries: { limit: 3, delay: 0 } }, async ({ attempt }) => {
          await step.do("inner", async ({ mutate }) => {
            await second.promise;
            if (innerRows) mutate(() => {});
            ran.push(`inner of start ${attempt}`);
          });
          if (attempt === 1) await new Promise(() => {});
        }),
      ]);
    });
    stage.hold();
    await stage.play();
    first.resolve(null);
    await stage.runtime.settle();
    second.resolve(null);
    await stage.runtime.settle();
    await stage.runtime.advance(1000);
    await answerAll(stage);
    const keys = stage.steps.map(({ key }) => key);
    expect(keys.filter((key) => key === "outer/inner")).toEqual(["outer/inner"]);
    const recorded = stage.commits.filter(({ boundary }) =>
      boundary.steps.some(({ key, status }) => key === "outer/inner" && status === "completed"),
    );
    expect(recorded).toHaveLength(1);
    expect(stage.ending).toMatchObject({ kind: "ended" });
    // One that waits for the commits of others when its outer step is over is cut off with it, rows and all.
    if (!innerRows) expect(ran).toEqual(["inner of start 1"]);
  },
);

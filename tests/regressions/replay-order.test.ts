/** After a crash the same code asks for the same steps, and races end as they ended. */
import { defineWorkflow, type WorkflowStep } from "everstep";
import { createTestHarness, type TestHarness } from "everstep/testing";
import { describe, expect, test } from "vitest";
import { recordOf } from "../scenarios/early-wake.ts";
import { type Data, onEachData } from "./each-data.ts";
import { upTo, watchPassages } from "./passages.ts";
import { seeded } from "./seeded.ts";

const leaseMs = 30_000;

/** A tree of all, race, any and allSettled, three levels deep, whose leaves are steps that take their time, or fail. */
type Tree =
  | { readonly kind: "step"; readonly name: string; readonly ms: number; readonly fails: boolean }
  | { readonly kind: "all" | "race" | "any" | "allSettled" | "then"; readonly parts: readonly Tree[] };

function randomTree(random: () => number, depth = 3, name = "s"): Tree {
  if (depth === 0) {
    return { kind: "step", name, ms: Math.floor(random() * 4) * 1000, fails: random() < 0.15 };
  }
  const kinds = ["all", "race", "any", "allSettled", "then"] as const;
  const kind = kinds[Math.floor(random() * kinds.length)] ?? "all";
  const count = 2 + Math.floor(random() * 2);
  const parts = Array.from({ length: count }, (_, n) => randomTree(random, depth - 1, `${name}.${n}`));
  return { kind, parts };
}

async function walk(tree: Tree, step: WorkflowStep, sleep: (ms: number) => Promise<void>): Promise<unknown> {
  if (tree.kind === "step") {
    const { name, ms, fails } = tree;
    return step.do(name, { retries: false }, async () => {
      if (ms > 0) await sleep(ms);
      if (fails) throw new Error(name);
      return name;
    });
  }
  if (tree.kind === "then") {
    const values: unknown[] = [];
    for (const part of tree.parts) values.push(await walk(part, step, sleep));
    return values;
  }
  const branches = tree.parts.map((part) => walk(part, step, sleep));
  for (const branch of branches) branch.catch(() => {});
  switch (tree.kind) {
    case "all":
      return Promise.all(branches);
    case "race":
      return Promise.race(branches);
    case "any":
      return Promise.any(branches);
    case "allSettled":
      return (await Promise.allSettled(branches)).map(({ status }) => status);
  }
}

/** One life of the tree whose runner dies at its n-th commit; null when there is no such commit. */
async function lifeWithDeath(open: Data["open"], seed: number, place: "before" | "after", nth: number) {
  const tree = randomTree(seeded(seed));
  const { told, watched } = watchPassages();
  const workflow = defineWorkflow(
    { name: "w" },
    watched(async (_event, step): Promise<unknown> => {
      const sleep = (ms: number): Promise<void> => story.clock.sleep(ms);
      const value: unknown = await walk(tree, step, sleep).catch((error) => String(error));
      await step.do("last", {}, async () => "last");
      return value;
    }),
  );
  const story: TestHarness = createTestHarness({ workflows: { W: workflow }, store: open });
  const id = `${seed}-${place}-${nth}`;
  await story.workflows.W?.create({ id });
  const doomed = story.runner("doomed");
  let commits = 0;
  const where = (): boolean => ++commits === nth;
  const stop =
    place === "before" ? doomed.stopBefore("commit", { where }) : doomed.stopAfter("commit", { where });
  await doomed.tick();
  await story.clock.advance("20 seconds");
  const wasReached = stop.isReached;
  doomed.kill();
  const { runId } = await recordOf(story, id);
  const { items } = await story.app.store.listSteps(runId, { limit: 100 });
  const settled = items.filter(({ status }) => status !== "waiting").length;
  await story.advance(leaseMs + 60_000);
  const ended = await story.status(id);
  await story.stop();
  return { told, settled, ended, wasReached };
}

onEachData("replay order", {}, (take, store) => {
  const seeds = { memory: 25, sqlite: 3, postgres: 1, mysql: 1, redis: 1 }[store];
  test.each(Array.from({ length: seeds }, (_, n) => n + 1))(
    "R-035 (INV-15, INV-17) a crash at any commit of nested all, race, any and allSettled: the next process asks for the same (seed %i)",
    async (seed) => {
      const { open } = take();
      for (const place of ["before", "after"] as const) {
        for (let nth = 1, isMore = true; isMore; nth++) {
          const { told, settled, ended, wasReached } = await lifeWithDeath(open, seed, place, nth);
          expect(ended.status).toBe("complete");
          const [first = [], second = []] = told;
          // What was recorded is asked for and handed over in the same order, up to the last of it.
          const before = upTo(first, settled);
          if (wasReached && told.length > 1)
            expect(upTo(second, settled).slice(0, before.length)).toEqual(before);
          isMore = wasReached;
        }
      }
    },
  );

  describe("R-036 (INV-17) a race of steps", () => {
    const count = { memory: 1000, sqlite: 1000, postgres: 100, mysql: 100, redis: 100 }[store];

    test(`has the winner it had, for ${count} orders in which the steps ended and moments in which the process died`, async () => {
      const winners = new Map<string, unknown[]>();
      const workflow = defineWorkflow<{ ends: number[]; how: "race" | "any" }>(
        { name: "w" },
        async ({ payload, instanceId }, step) => {
          const racers = payload.ends.map((seconds, n) =>
            step.do(`racer ${n}`, async () => {
              await story.clock.sleep(seconds * 1000);
              return n;
            }),
          );
          const winner = await (payload.how === "race" ? Promise.race(racers) : Promise.any(racers));
          winners.get(instanceId)?.push(winner);
          await step.sleep("nap", "1 minute");
          return winner;
        },
      );
      const story = createTestHarness({
        workflows: { W: workflow },
        store: take().open,
        runner: { concurrency: count },
      });
      const random = seeded(36);
      const batch = Array.from({ length: count }, (_, n) => {
        const racers = 2 + (n % 4);
        const ends = Array.from({ length: racers }, (_, at) => at + 1);
        for (let at = racers - 1; at > 0; at--) {
          const other = Math.floor(random() * (at + 1));
          [ends[at], ends[other]] = [ends[other] ?? 0, ends[at] ?? 0];
        }
        // Two of three start later, so that the same moment finds them at other places.
        const startAt = story.runtime.now() + (n % 3) * 1000;
        return {
          id: `i${n}`,
          startAt,
          params: { ends, how: n % 2 === 0 ? ("race" as const) : ("any" as const) },
        };
      });
      for (const { id } of batch) winners.set(id, []);
      for (let at = 0; at < count; at += 100) await story.workflows.W.createBatch(batch.slice(at, at + 100));
      // Everybody has begun; some have a winner, some of those have losers that still run.
      for (let second = 0; second <= 2; second++) {
        while ((await story.runner("doomed").tick()) > 0);
        await story.clock.advance(second < 2 ? 1000 : 500);
      }
      story.runner("doomed").kill();
      const before = new Map([...winners].map(([id, seen]) => [id, [...seen]]));
      expect([...before.values()].filter((seen) => seen.length === 1).length).toBeGreaterThan(count / 3);
      expect([...before.values()].filter((seen) => seen.length === 0).length).toBeGreaterThan(count / 20);
      await story.advance("3 minutes");
      for (const { id, params } of batch) {
        const [first = params.ends.indexOf(1)] = before.get(id) ?? [];
        expect(await story.status(id), id).toEqual({ status: "complete", output: first });
        expect(new Set(winners.get(id)), id).toEqual(new Set([first]));
      }
      await story.stop();
    });
  });
});

/** What only real processes can show, on every store that outlives one. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkflows } from "everstep";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";
import { mixed, openPlace, type Place } from "./actor.ts";
import { Actor } from "./actors.ts";
import { quiet } from "./quiet.ts";
import { seeded } from "./seeded.ts";

const folder = mkdtempSync(join(tmpdir(), "everstep-processes-"));
const company: Actor[] = [];

/** So many processes that have loaded everything and wait for orders. */
async function actors(count: number): Promise<Actor[]> {
  for (let at = company.length - 1; at >= 0; at--) if (!company[at]?.isAlive) company.splice(at, 1);
  while (company.length < count) {
    const missing = Math.min(4, count - company.length);
    company.push(...(await Promise.all(Array.from({ length: missing }, () => Actor.start()))));
  }
  return company.slice(0, count);
}

beforeAll(() => actors(20));
afterAll(async () => {
  for (const actor of company) await actor.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** `isNew`: a place that nobody has ever used, without even a table. */
type TakePlace = (isNew?: boolean) => Place;

function onEachPlace(scenarios: (take: TakePlace) => void): void {
  let files = 0;
  describe("sqlite", () => scenarios(() => ({ store: "sqlite", path: join(folder, `${files++}.db`) })));
  for (const server of serverStores) {
    const { name, url } = server;
    describe.skipIf(url === undefined)(name, () => {
      const namespaces = new Namespaces(server);
      const taken: string[] = [];
      afterEach(async () => {
        for (const namespace of taken.splice(0)) await namespaces.giveBack(namespace);
      });
      scenarios((isNew = false) => {
        const namespace = isNew ? `new_${process.pid}_${Date.now().toString(36)}` : namespaces.take();
        taken.push(namespace);
        return { store: name, url: url as string, namespace };
      });
    });
  }
}

onEachPlace((take) => {
  test("R-079 of twenty processes that start on nothing at once, five killed at random, the others are ready", async () => {
    const place = take(true);
    const random = seeded(79);
    const all = await actors(20);
    const answers = all.map((actor, n) => actor.tell({ act: "start", place, id: `i${n}` }));
    const doomed = all.toSorted(() => random() - 0.5).slice(0, 5);
    await Promise.all(
      doomed.map(async (actor) => {
        await new Promise((resolve) => setTimeout(resolve, random() * 150));
        await actor.kill();
      }),
    );
    const told = await Promise.all(answers);
    for (const [n, answer] of told.entries()) {
      const isDoomed = doomed.includes(all[n]!);
      if (!isDoomed) expect(answer).toEqual({ problems: [] });
    }
    const store = openPlace(place);
    const { from, to, statements } = await store.migrate();
    expect([from > 0, from === to, statements]).toEqual([true, true, []]);
    const { complete } = await store.countByStatus("mixed");
    expect(complete).toBeGreaterThanOrEqual(15);
    await store.close();
  });

  test.each([
    ["exits", "create and exit"],
    ["is killed", "create and wait"],
  ] as const)("R-088 an instance whose creator %s at once exists and runs elsewhere", async (_title, act) => {
    const place = take();
    const [actor] = await actors(1);
    await actor?.tell({ act, place, id: "i" });
    await actor?.kill();
    const app = createWorkflows({ workflows: { MIXED: mixed }, store: openPlace(place), ...quiet() });
    await app.start();
    const instance = await app.workflows.MIXED.get("i");
    expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete", output: 1 });
    await app.stop();
  });

  test("R-084 eight processes that do everything at once to the same data hear of no failure", async () => {
    const place = take();
    const told = await Promise.all(
      (await actors(8)).map((actor, n) => actor.tell({ act: "mix", place, id: `p${n}` })),
    );
    expect(told).toEqual(told.map(() => ({ problems: [] })));
  });
});

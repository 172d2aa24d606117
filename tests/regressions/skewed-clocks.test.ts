/** Hosts whose clocks are wrong work together where the server has a clock of its own. */
import { createWorkflows } from "everstep";
import { afterAll, expect, test } from "vitest";
import { openPlace, timed } from "./actor.ts";
import { Actor } from "./actors.ts";
import { onEachServer } from "./servers.ts";

const clocks = {
  fast: { aheadMs: 10 * 60_000, rate: 1 },
  slow: { aheadMs: -10 * 60_000, rate: 1 },
  drifting: { aheadMs: 0, rate: 1.01 },
};

const actors: Promise<Actor>[] = [];
afterAll(async () => {
  for (const actor of actors) await (await actor).kill();
});

onEachServer("skewed clocks", (take, name) => {
  test("R-048 (INV-44) ten minutes fast, ten minutes slow and one percent too fast at once: no nap is short or long, and no lease is lost", async () => {
    const { namespace } = take();
    const url = process.env[`EVERSTEP_${name.toUpperCase()}_URL`] as string;
    const place = { store: name, url, namespace };
    const told = await Promise.all(
      Object.entries(clocks).map(async ([id, clock]) => {
        const starting = Actor.start();
        actors.push(starting);
        return (await starting).tell({ act: "run by a clock of its own", place, id, clock });
      }),
    );
    expect(told).toEqual(told.map(() => ({ problems: [] })));
    const app = createWorkflows({ workflows: { TIMED: timed }, store: openPlace(place) });
    const { items } = await app.workflows.TIMED.list();
    expect(items).toHaveLength(15);
    for (const { id, output } of items) {
      // A process knows the server's time as well as its question is short, which on a busy machine is not very.
      expect(output, id).toBeGreaterThan(300);
      expect(output, id).toBeLessThan(10_000);
      const { steps } = await (await app.workflows.TIMED.get(id)).history();
      expect(
        steps.map(({ starts }) => starts),
        id,
      ).toEqual([1, 0, 1, 1]);
    }
    await app.stop();
  });
});

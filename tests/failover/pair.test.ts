/** The servers themselves: what a standby has heard is there after the primary's death, and nothing else. */
import { afterEach, describe, expect, test } from "vitest";
import { whyNot } from "../../scripts/services/server.mjs";
import { openStore } from "../chaos/open-store.ts";
import { create, ref } from "../regressions/given.ts";
import { Pair } from "./pair.ts";

describe.each(["postgres", "mysql", "redis"] as const)("a standby of %s", (kind) => {
  let pair: Pair | undefined;
  afterEach(async () => {
    await pair?.close();
    pair = undefined;
  });

  test.skipIf(whyNot(kind) !== undefined)(
    "has what was written before the link was cut, and not what was written after; twice in a row",
    async () => {
      pair = await Pair.open(kind);
      for (const round of [1, 2]) {
        const before = await openStore(kind, pair.primary.url);
        await before.migrate();
        await before.write([create(`kept ${round}`)], 0);
        await pair.detach();
        await before.write([create(`lost ${round}`)], 0);
        await before.close();
        await pair.failOver();
        const after = await openStore(kind, pair.primary.url);
        expect(await after.getStatuses([ref(`kept ${round}`), ref(`lost ${round}`)])).toEqual([
          "active",
          undefined,
        ]);
        await after.close();
        if (round === 1) await pair.addStandby();
      }
    },
  );
});

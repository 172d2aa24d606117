/** The same promises with real processes on every store. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { drainMsAfter, runChaos } from "./chaos.ts";
import { describeTakeover } from "./describe-takeover.ts";
import type { StoreKind } from "./open-store.ts";
import { Site, storeNames, whyNoSite } from "./site.ts";

/** Always the same, so that a change is judged by what it does; `npm run chaos` goes to others. */
const seeds: Readonly<Record<StoreKind, number>> = {
  sqlite: 4711,
  postgres: 689_423,
  mysql: 20_250,
  redis: 987_980,
};
const seconds = 14;
const serverStartMs = 90_000;

export function describeChaos(kind: StoreKind): void {
  const seed = seeds[kind];
  const reason = whyNoSite(kind);
  const mustRun = process.env.CI === "true";
  if (reason)
    console.warn(`${mustRun ? "MISSING" : "SKIPPED"}: chaos on ${storeNames[kind]}, because ${reason}`);
  describe.skipIf(reason !== undefined && !mustRun)(`chaos on ${storeNames[kind]}`, () => {
    let site: Site;
    beforeAll(async () => {
      site = await Site.open(kind);
    }, serverStartMs);
    afterAll(() => site?.close(), serverStartMs);

    describeTakeover(() => site);

    const drainedMs = seconds * 1000 + drainMsAfter(seconds);
    test(`nothing is lost, done twice or left undone while runners, connections and servers fail (seed ${seed})`, {
      timeout: drainedMs + 60_000,
    }, async () => {
      const say = (line: string): void => console.info(`chaos on ${storeNames[kind]}, seed ${seed}: ${line}`);
      const verdict = await runChaos({ site, seed, seconds, say });
      const broken = Object.entries(verdict).filter(([, faults]) => faults.length > 0);
      const shown = broken.map(([about, faults]) => [`${about} (${faults.length})`, faults.slice(0, 10)]);
      expect(Object.fromEntries(shown), `broken promises, seed ${seed}`).toEqual({});
    });
  });
}

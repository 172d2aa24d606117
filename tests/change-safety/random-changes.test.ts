/** The check is never wrong in the direction that matters, whatever the code was and whatever it has become. */

import { createTestHarness, type StoreCall, type TestHarness } from "everstep/testing";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { build, type Code, Site } from "./deploy.ts";
import { changed, codeOf, programs } from "./programs.ts";

const harnesses: TestHarness[] = [];
afterEach(async () => {
  for (const harness of harnesses.splice(0)) await harness.stop();
});

function siteOf(code: Code): Site {
  return new Site((workflows, options) => {
    const harness = createTestHarness({ workflows, ...options });
    harnesses.push(harness as unknown as TestHarness);
    return harness;
  }, code);
}

/** How an instance comes to where it is: step by step, by time, by events, and over crashes. */
type Act = "step" | "time" | "event" | "crash";
const acts = fc.array(fc.constantFrom<Act>("step", "step", "time", "event", "crash"), {
  minLength: 1,
  maxLength: 8,
  size: "max",
});

async function play(site: Site, act: Act): Promise<void> {
  const { story } = site;
  switch (act) {
    case "step":
      await story.tick({ maxSteps: 1 });
      return;
    case "time":
      return story.advance("35 minutes");
    case "event": {
      const { status } = await story.status("i");
      if (status !== "complete" && status !== "errored")
        await story.sendEvent("i", { type: "paid", payload: "now" });
      return;
    }
    case "crash": {
      let commits = 0;
      const where = (call: StoreCall): boolean => call.verbs.includes("commit") && ++commits > 1;
      const stop = story.runner().stopBefore("commit", { where });
      await story.tick();
      if (!stop.isReached) stop.remove();
      await story.restartRunner();
      // Whatever lease the dead process held has run out.
      await story.clock.advance("1 minute");
      return;
    }
  }
}

async function begun(code: Code, played: readonly Act[]): Promise<Site> {
  const site = siteOf(code);
  await site.create("i");
  for (const act of played) await play(site, act);
  return site;
}

/** Until nothing is left that could wake it. */
async function toTheEnd(site: Site) {
  for (let round = 0; round < 12; round++) await site.story.advance("1 hour");
  return site.story.status("i");
}

describe("whatever the code is", () => {
  test("unchanged code changes nothing, wherever an instance stands and whatever crashed", async () => {
    const property = fc.asyncProperty(programs, acts, async (program, played) => {
      const site = await begun(codeOf(program), played);
      const report = await site.check(codeOf(program));
      expect(report.findings.filter(({ classification }) => classification !== "continues")).toEqual([]);
      expect(report.ok).toBe(true);
    });
    await fc.assert(property, { numRuns: 150, seed: 34 });
  });

  test("code that goes on or changes nothing never meets a record of another kind", async () => {
    let harmless = 0;
    const pairs = programs.chain((before) => fc.tuple(fc.constant(before), changed(before)));
    const property = fc.asyncProperty(pairs, acts, async ([before, after], played) => {
      const site = await begun(codeOf(before), played);
      const { checked, ok } = await site.check(codeOf(after));
      if (checked === 0 || !ok) return;
      harmless++;
      await site.deploy(codeOf(after));
      expect(await toTheEnd(site)).toMatchObject({ status: "complete" });
    });
    await fc.assert(property, { numRuns: 250, seed: 15 });
    expect(harmless).toBeGreaterThan(50);
  });

  test("a record of another kind is found, and is what the engine fails with", async () => {
    let found = 0;
    const pairs = programs.chain((before) => fc.tuple(fc.constant(before), changed(before)));
    const property = fc.asyncProperty(pairs, acts, async ([before, after], played) => {
      const site = await begun(codeOf(before), played);
      const { counts } = await site.check(codeOf(after));
      await site.deploy(codeOf(after));
      const { error } = await toTheEnd(site);
      if (error?.code === "STEP_TYPE_MISMATCH") {
        found += counts.mismatch;
        // Behind a step that is new, or a wait that is open, nobody can see.
        expect(counts.mismatch + counts.orphaned).toBe(1);
      }
    });
    await fc.assert(property, { numRuns: 250, seed: 17 });
    expect(found).toBeGreaterThan(5);
  });

  test("a history says of changed code what the store it comes from does", async () => {
    const { replayHistory } = await import("everstep");
    const pairs = programs.chain((before) => fc.tuple(fc.constant(before), changed(before)));
    const property = fc.asyncProperty(pairs, acts, async ([before, after], played) => {
      const site = await begun(codeOf(before), played);
      const { checked, counts } = await site.check(codeOf(after));
      if (checked === 0) return;
      const document = JSON.parse(JSON.stringify(await site.export("i")));
      const { classification } = await replayHistory(document, build(codeOf(after)));
      expect(counts[classification]).toBe(1);
    });
    await fc.assert(property, { numRuns: 60, seed: 18 });
  });
});

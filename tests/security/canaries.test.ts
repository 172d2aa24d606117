/** What is given to workflows is shown to nobody who only watches the process. */
import { inspect } from "node:util";
import { createWorkflows, defineWorkflow, NonRetryableError } from "everstep";
import { createTestHarness } from "everstep/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { onEachData } from "../regressions/each-data.ts";

/** One for every way in and out. */
const canaries = {
  params: "canary-params-7f3a",
  result: "canary-result-91bc",
  event: "canary-event-02de",
  publication: "canary-publication-5e5e",
  log: "canary-log-8c1d",
  output: "canary-output-3b7f",
} as const;

const outlets = ["log", "info", "warn", "error", "debug", "trace"] as const;
const printed: string[] = [];

beforeEach(() => {
  printed.length = 0;
  for (const outlet of outlets)
    vi.spyOn(console, outlet).mockImplementation((...args) => void printed.push(args.map(shown).join(" ")));
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
});

function shown(thing: unknown): string {
  return typeof thing === "string" ? thing : inspect(thing, { depth: 20, showHidden: true, getters: true });
}

function expectNoCanary(texts: readonly string[]): void {
  for (const canary of Object.values(canaries))
    for (const text of texts) expect(text.includes(canary), `${canary} in ${text.slice(0, 500)}`).toBe(false);
}

/** Takes everything in and gives everything out, and fails in the way it is told to. */
const courier = defineWorkflow<{ secret: string; fails: string }>(
  { name: "courier" },
  async ({ payload }, step) => {
    const { secret, fails } = payload;
    const kept = await step.do("keep", { sensitive: "output" }, async () => ({
      secret,
      result: canaries.result,
    }));
    step.log.info("kept it", { data: canaries.log });
    const { payload: sent } = await step.waitForEvent("note", { type: "note", timeout: "1 hour" });
    const { payload: news } = await step.waitForEvent("news", { topic: "news", timeout: "1 hour" });
    await step.do("work", { retries: { limit: 1, delay: 1000 } }, async ({ attempt }) => {
      if (fails === "once" && attempt === 1) throw new Error("not yet");
      if (fails === "for good") throw new NonRetryableError("never");
      if (fails === "slowly") await new Promise(() => {});
      if (fails === "by what it returns") return () => canaries.result;
      if (fails === "by its size") return canaries.result.repeat(100_000);
      return kept;
    });
    if (fails === "by its output") return { secret: canaries.output, wrong: Symbol(canaries.output) };
    return { kept, sent, news, output: canaries.output };
  },
);

onEachData("canaries", {}, (take) => {
  describe("SEC-15 neither the console nor a notice nor a problem shows what was given, returned, sent or logged, when a workflow fails", () => {
    test.each([
      "not at all",
      "once",
      "for good",
      "slowly",
      "by what it returns",
      "by its size",
      "by its output",
    ])("%s", async (fails) => {
      const onNotice = (notice: string): void => console.warn(notice);
      const onProblem = (problem: unknown): void => console.error(problem);
      const story = createTestHarness({
        workflows: { COURIER: courier },
        store: take().open,
        onNotice,
        onProblem,
      });
      const params = { secret: canaries.params, fails };
      const instance = await story.workflows.COURIER.create({ id: "i", params });
      await story.runUntilIdle();
      await instance.sendEvent({ type: "note", payload: { data: canaries.event } });
      await story.runUntilIdle();
      await story.app.publish("news", [canaries.publication]);
      // The store fails for a while, and for good, in the middle of it.
      const { faults } = story.runner();
      faults.fail("claim", "unavailable");
      await story.tick().catch(console.error);
      faults.fail("commit", "fatal");
      await story.tick();
      await story.advance("2 hours");
      expect((await instance.status()).status).toMatch(/complete|errored/);
      console.info("This is shown.", instance, story.app, story.workflows.COURIER);
      await story.stop();
      expect(printed.length).toBeGreaterThan(0);
      expectNoCanary(printed);
    });
  });

  test("SEC-15 nor do the errors of calls that are refused", async () => {
    const app = createWorkflows({ workflows: { COURIER: courier }, store: take().open() });
    const { COURIER } = app.workflows;
    const params = { secret: canaries.params, fails: "" };
    const instance = await COURIER.create({ id: "i", params });
    const large = { secret: canaries.params.repeat(100_000), fails: "" };
    const refusals = [
      () => COURIER.create({ id: "i", params }),
      () => COURIER.create({ id: "j", params: large }),
      () => COURIER.create({ id: "k", params: { ...params, tool: () => canaries.params } as never }),
      () => instance.sendEvent({ type: "no type", payload: canaries.event }),
      () => instance.sendEvent({ type: "note", payload: { at: new WeakMap(), data: canaries.event } }),
      () => app.publish("news", [canaries.publication, Symbol(canaries.publication)]),
    ];
    for (const refusal of refusals) {
      const error = await refusal().then(() => null, shown);
      expect(error).not.toBeNull();
      expectNoCanary([error ?? ""]);
    }
    await app.stop({ grace: 0 });
  });
});

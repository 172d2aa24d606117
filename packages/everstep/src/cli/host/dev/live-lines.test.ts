import { expect, test } from "vitest";
import { createWorkflows, defineWorkflow } from "../../../index.ts";
import { memory } from "../../../stores/memory/index.ts";
import { createFakeRuntime } from "../../../testing/fake-runtime.ts";
import { createOutput } from "../../output/output.ts";
import { LiveLines } from "./live-lines.ts";

const order = defineWorkflow<{ readonly fails?: boolean } | undefined>(
  { name: "order", retries: { limit: 1, delay: "1 minute" } },
  async ({ payload }, step) => {
    await step.log.info("on its way");
    await step.do("charge", async ({ attempt }) => {
      if (attempt === 1 || payload?.fails) throw new TypeError("no money\nat all");
    });
    await step.sleep("cool off", "2 hours");
    await step.waitForEvent("approval", { type: "approved", timeout: "1 day" });
    await step.do("announce", async ({ startWorkflow }) => void startWorkflow("news", { id: "n-1" }));
    return { ok: true };
  },
);
const news = defineWorkflow({ name: "news" }, async (_event, step) => {
  await step.waitForEvent("news", { topic: "press", timeout: "1 hour" });
});

function stage() {
  const runtime = createFakeRuntime();
  const store = memory();
  let text = "";
  const write = (more: string): void => {
    text += more;
  };
  const out = createOutput({ isTerminal: false, columns: Number.POSITIVE_INFINITY, colour: false, write });
  const app = createWorkflows({ workflows: { order, news }, store, runtime, onNotice: () => {} });
  app.observe(new LiveLines(out, runtime));
  /** Without the time of day. */
  const lines = (): string[] =>
    text
      .trim()
      .split("\n")
      .map((line) => line.replace(/^\S+ {2}/, ""));
  return { runtime, app, lines };
}

test("an instance's life is one line for each thing that happens", async () => {
  const { runtime, app, lines } = stage();
  await app.start();
  const instance = await app.workflows.order.create({ id: "o-1" });
  await runtime.advance("2 minutes");
  await instance.pause();
  await instance.resume();
  await runtime.advance("3 hours");
  await instance.sendEvent({ type: "approved" });
  await runtime.settle();
  await app.publish("press", "read all about it");
  await runtime.settle();
  expect(lines()).toEqual([
    "+ order o-1  created",
    "› order o-1  on its way",
    '↻ order o-1  "charge" failed, attempt 1 of 2, again in 1 min: TypeError: no money…',
    '✓ order o-1  "charge" done (1 min, attempt 2)',
    '… order o-1  "cool off" sleeps for 2 h',
    "… order o-1  paused",
    "+ order o-1  resumed",
    '✓ order o-1  "cool off" is over',
    '… order o-1  "approval" waits for event "approved" (1 d at most)',
    '› order o-1  event "approved" came',
    '✓ order o-1  "approval" received event "approved"',
    '✓ order o-1  "announce" done (0 ms)',
    '● order o-1  complete: {"ok":true}',
    "+ news n-1  created by order o-1",
    '… news n-1  "news" waits for topic "press" (1 h at most)',
    '› topic "press"  published to 1 instance',
    '✓ news n-1  "news" received topic "press"',
    "● news n-1  complete",
  ]);
});

test("ends that are no success are told with their reason", async () => {
  const { runtime, app, lines } = stage();
  await app.start();
  const failed = await app.workflows.order.create({ id: "bad", params: { fails: true } });
  await runtime.advance("5 minutes");
  await failed.restart();
  await failed.terminate({ reason: "enough" });
  await app.workflows.news.create({ id: "late" });
  await runtime.advance("2 hours");
  expect(lines().filter((line) => !/on its way|created|attempt 1/.test(line))).toEqual([
    '✗ order bad  "charge" failed: TypeError: no money…',
    "✗ order bad  errored: TypeError: no money…",
    "+ order bad  restarted, run 2",
    "✗ order bad  terminated: enough",
    '… news late  "news" waits for topic "press" (1 h at most)',
    '✗ news late  "news" failed: WaitForEventTimeoutError: WAIT_FOR_EVENT_TIMEOUT: step "news" got nothing from topic "press" within 1 hour.',
    '✗ news late  errored: WaitForEventTimeoutError: WAIT_FOR_EVENT_TIMEOUT: step "news" got nothing from topic "press" within 1 hour.',
  ]);
});

test("a flood of lines is cut short, and says by how much", async () => {
  const { runtime, app, lines } = stage();
  await Promise.all(Array.from({ length: 300 }, (_, at) => app.workflows.news.create({ id: `n-${at}` })));
  await runtime.advance("1 second");
  expect(lines()).toHaveLength(201);
  expect(lines().at(-1)).toBe("… 100 lines left out");
});

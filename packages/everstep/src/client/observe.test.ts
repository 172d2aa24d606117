/** What an app tells those who look on, through the public options. */
import { createWorkflows, defineWorkflow, type Observer } from "everstep";
import { memory } from "everstep/memory";
import { describe, expect, test } from "vitest";
import { observerNames } from "../model/observer.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";

const order = defineWorkflow(
  { name: "order", retries: { limit: 1, delay: "1 minute" } },
  async (_event, step) => {
    await step.do("charge", async ({ attempt }) => {
      if (attempt === 1) throw new TypeError("no answer");
      return "paid";
    });
    await step.sleep("cool off", "1 hour");
    return (await step.waitForEvent("approval", { type: "approved", timeout: "1 day" })).payload;
  },
);

const quiet = { onNotice: () => {} };

/** An observer that writes down what it is told, in short lines. */
function diary(): { readonly observer: Observer; readonly lines: string[] } {
  const lines: string[] = [];
  const of = ({ workflowName, instanceId }: { workflowName: string | null; instanceId: string | null }) =>
    `${workflowName}/${instanceId}`;
  const observer: Observer = {
    onClaim: (claim) => lines.push(`claim ${of(claim)} ${claim.kind}`),
    onTurnStart: (turn) => lines.push(`turn ${turn.kind}, ${turn.isResident ? "in memory" : "from the top"}`),
    onTurnEnd: (_turn, { outcome }) => lines.push(`turn over: ${outcome}`),
    onAttemptStart: ({ stepKey, attempt }) => lines.push(`attempt ${attempt} of ${stepKey}`),
    onAttemptEnd: ({ stepKey, attempt }, { outcome, durationMs, willRetry, error }) =>
      lines.push(
        `attempt ${attempt} of ${stepKey} ${outcome} in ${durationMs} ms${willRetry ? ", again" : ""}${error ? `: ${error.message}` : ""}`,
      ),
    onRetry: ({ stepKey, attempt, retryAt, error }) =>
      lines.push(`retry of ${stepKey} after ${attempt} at ${retryAt}: ${error?.name}`),
    onWaitStart: ({ stepKey, kind, awaited, until, startedAt }) =>
      lines.push(`wait ${stepKey}: ${kind} ${awaited} for ${until - startedAt}`),
    onWaitEnd: ({ stepKey }, { outcome, waitedMs, lateMs }) =>
      lines.push(`wait ${stepKey} ${outcome} after ${waitedMs}, late ${lateMs}`),
    onWrite: (write) => lines.push(`${write.request.kind} of ${of(write)} ${write.outcome?.kind}`),
    onLeaseLost: ({ reason }) => lines.push(`lease lost: ${reason}`),
    onLeaseReturned: (run) => lines.push(`given back: ${of(run)}`),
    onNotice: ({ message }) => lines.push(`notice: ${message}`),
  };
  return { observer, lines };
}

test("an instance's life, from its creation to its end", async () => {
  const runtime = createFakeRuntime({ now: 0 });
  const { observer, lines } = diary();
  const app = createWorkflows({
    workflows: { order },
    store: memory(),
    runtime,
    observers: [observer],
    ...quiet,
  });
  await app.start();
  const instance = await app.workflows.order.create({ id: "o-1" });
  await runtime.advance("2 minutes");
  await runtime.advance("1 hour");
  await instance.sendEvent({ type: "approved", payload: "yes" });
  await runtime.settle();
  expect(await instance.status()).toEqual({ status: "complete", output: "yes" });
  await app.stop();
  expect(lines).toEqual([
    "create of order/o-1 created",
    "claim order/o-1 start",
    "turn start, from the top",
    "attempt 1 of charge",
    "attempt 1 of charge failed in 0 ms, again: no answer",
    'notice: Step "charge" failed (attempt 1 of 2), next at 1970-01-01T00:01:00.000Z: TypeError: no answer',
    "retry of charge after 1 at 60000: TypeError",
    "commit of order/o-1 committed",
    "turn over: suspended",
    "claim order/o-1 resume",
    "turn resume, in memory",
    "attempt 2 of charge",
    "attempt 2 of charge completed in 0 ms",
    "wait cool off: sleep null for 3600000",
    "commit of order/o-1 committed",
    "turn over: suspended",
    "claim order/o-1 resume",
    "turn resume, in memory",
    "wait cool off over after 3600000, late 0",
    "wait approval: event approved for 86400000",
    "commit of order/o-1 committed",
    "turn over: suspended",
    "sendEvent of order/o-1 accepted",
    "claim order/o-1 resume",
    "turn resume, in memory",
    "wait approval received after 60000, late 0",
    "commit of order/o-1 committed",
    "turn over: complete",
  ]);
});

test("waits that are skipped, that time out, and attempts that take too long or are cut off", async () => {
  const runtime = createFakeRuntime({ now: 0 });
  const { observer, lines } = diary();
  const naps = defineWorkflow({ name: "naps" }, async (_event, step) => {
    await step.sleep("nap", "1 hour");
    await step.waitForEvent("word", { topic: "words", timeout: "1 minute" }).catch(() => {});
    await step
      .do("slow", { timeout: "5 seconds", retries: false }, () => new Promise(() => {}))
      .catch(() => {});
    await step.do("endless", { timeout: "1 day" }, () => new Promise(() => {}));
  });
  const app = createWorkflows({
    workflows: { naps },
    store: memory(),
    runtime,
    observers: [observer],
    ...quiet,
  });
  await app.start();
  const instance = await app.workflows.naps.create({ id: "n" });
  await runtime.advance("1 minute");
  await instance.skipSleep();
  await runtime.advance("70 seconds");
  await instance.terminate();
  await runtime.settle();
  await app.stop();
  const told = lines.filter((line) => /^(wait|attempt|lease|given)/.test(line));
  expect(told).toEqual([
    "wait nap: sleep null for 3600000",
    "wait nap skipped after 60000, late 0",
    "wait word: topic words for 60000",
    expect.stringMatching(/^wait word timed-out after 60000, late \d+$/),
    "attempt 1 of slow",
    expect.stringMatching(/^attempt 1 of slow timed-out in 5000 ms: /),
    "attempt 1 of endless",
    expect.stringMatching(/^attempt 1 of endless interrupted in \d+ ms: The instance was terminated\.$/),
    "lease lost: changed",
  ]);
});

test("a stop gives unfinished work back, and says so", async () => {
  const runtime = createFakeRuntime({ now: 0 });
  const { observer, lines } = diary();
  const held = defineWorkflow({ name: "held" }, async (_event, step) => {
    await step.do("work", () => new Promise(() => {}));
  });
  const app = createWorkflows({
    workflows: { held },
    store: memory(),
    runtime,
    observers: [observer],
    ...quiet,
  });
  await app.start();
  await app.workflows.held.create({ id: "h" });
  await runtime.settle();
  await app.stop({ grace: 0 });
  expect(lines.slice(-3)).toEqual([
    "attempt 1 of work interrupted in 0 ms: The runner is shutting down.",
    "turn over: lost",
    "given back: held/h",
  ]);
});

test("a write without an outcome, and how many shared one", async () => {
  const runtime = createFakeRuntime({ now: 0 });
  const writes: string[] = [];
  const store = createFaultyStore(memory());
  const app = createWorkflows({
    workflows: { order },
    store,
    runtime,
    observers: [
      {
        onWrite: ({ request, outcome, error, together, bytes, durationMs, runNumber }) =>
          writes.push(
            `${request.kind} ${outcome?.kind ?? (error as Error).message}, ${together} together, run ${runNumber}, ${bytes > 0}, ${durationMs} ms`,
          ),
      },
    ],
    ...quiet,
  });
  await app.workflows.order.createBatch([{ id: "a" }, { id: "b" }]);
  store.fail("write", "invalid");
  await expect(app.workflows.order.create({ id: "c" })).rejects.toThrow();
  expect(writes).toEqual([
    "create created, 2 together, run 1, true, 0 ms",
    "create created, 2 together, run 1, true, 0 ms",
    expect.stringMatching(/^create .+, 1 together, run null, true, 0 ms$/),
  ]);
});

describe("observers", () => {
  const names = Object.keys(observerNames);

  test("that throw in everything change nothing", async () => {
    const notices: string[] = [];
    const runtime = createFakeRuntime({ now: 0 });
    const thrower = Object.fromEntries(
      names.map((name) => [
        name,
        () => {
          throw new Error("no network");
        },
      ]),
    );
    const app = createWorkflows({
      workflows: { order },
      store: memory(),
      runtime,
      observers: [thrower],
      onNotice: (notice) => void notices.push(notice),
    });
    await app.start();
    const instance = await app.workflows.order.create({ id: "o-1" });
    await runtime.advance("2 hours");
    await instance.sendEvent({ type: "approved", payload: "yes" });
    await runtime.settle();
    expect(await instance.status()).toEqual({ status: "complete", output: "yes" });
    expect(notices.filter((notice) => notice.startsWith("An observer failed in "))).toHaveLength(1);
    await app.stop();
  });

  test("can come and go while the app is at work", async () => {
    const { observer, lines } = diary();
    const app = createWorkflows({ workflows: { order }, store: memory(), ...quiet });
    const stop = app.observe(observer);
    await app.workflows.order.create({ id: "a" });
    stop();
    await app.workflows.order.create({ id: "b" });
    expect(lines).toEqual(["create of order/a created"]);
  });

  test.each([
    [{ observers: {} }, "observers must be an array"],
    [{ observers: [null] }, "observers[0] must be an object with methods"],
    [{ observers: [{}, { onRetries() {} }] }, 'observers[1] has no "onRetries". Did you mean "onRetry"?'],
    [{ observers: [{ onRetry: "x" }] }, "observers[0].onRetry must be a function, not a string."],
  ])("with a mistake in them are refused: %j", (options, message) => {
    const make = (): unknown =>
      createWorkflows({ workflows: { order }, store: memory(), ...(options as object) });
    expect(make).toThrow(message);
  });

  test("that are given later are checked too", () => {
    const app = createWorkflows({ workflows: { order }, store: memory() });
    expect(() => app.observe({ onClaims() {} } as Observer)).toThrow('observe has no "onClaims".');
    expect(() => app.observe(undefined as never)).toThrow("observe must be an object with methods");
  });
});

import { afterEach, describe, expect, test } from "vitest";
import { defineWorkflow } from "../authoring/define-workflow.ts";
import type { App } from "../client/app.ts";
import { createWorkflows } from "../client/create-workflows.ts";
import { memory } from "../stores/memory/index.ts";
import { createFakeRuntime } from "../testing/fake-runtime.ts";
import { createFaultyStore } from "../testing/faulty-store.ts";
import { createGate } from "../testing/gate.ts";
import { createQueueHandler, type QueueHandlerOptions, type QueueMessage } from "./queue-handler.ts";

const begun = Date.UTC(2026, 0, 1);
const second = 1000;
const hour = 3600 * second;
const apps: App[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop({ grace: 0 });
});

const order = defineWorkflow({ name: "order" }, async (_, step) => {
  await step.do("charge", async () => 1);
  await step.sleep("cool off", "1 hour");
});

/** An app that nobody runs, a queue that its dispatcher fills, and what became of the messages. */
function host(options: QueueHandlerOptions = {}, workflows = { ORDER: order }) {
  const runtime = createFakeRuntime({ now: begun });
  const store = createFaultyStore(memory());
  const problems: unknown[] = [];
  const queue: unknown[] = [];
  const app = createWorkflows({
    workflows,
    store,
    runtime,
    dispatcher: { wake: (hint) => queue.push({ ...hint, enqueuedAt: runtime.now() }) },
    onProblem: (problem) => problems.push(problem),
  });
  apps.push(app);
  const handler = createQueueHandler(app, options);
  /** `ack`, or `retry in 3s`, or what was both. */
  const handle = async (bodies: readonly unknown[], more: Partial<QueueMessage> = {}) => {
    const fates = bodies.map(() => "");
    const messages = bodies.map(
      (body, at): QueueMessage => ({
        id: `m-${at}`,
        body,
        ack: () => (fates[at] += "ack"),
        retry: ({ delaySeconds }) => (fates[at] += `retry in ${delaySeconds}s`),
        ...more,
      }),
    );
    const report = await handler({ messages });
    return { fates, report };
  };
  return { app, runtime, store, problems, queue, handler, handle };
}

const hint = (more: object = {}) => ({ workflowName: "order", instanceId: "a", reason: "create", ...more });
const reported = (more: object) => ({
  done: 0,
  deferred: 0,
  failed: 0,
  stale: 0,
  malformed: 0,
  processed: 0,
  ...more,
});

describe("a message of the queue", () => {
  test("sets going what it tells of, and is done", async () => {
    const { app, queue, handle } = host();
    await app.workflows.ORDER.create({ id: "a" });
    const { fates, report } = await handle(queue.splice(0));
    expect(fates).toEqual(["ack"]);
    expect(report).toEqual(reported({ done: 1, processed: 1 }));
    expect(await (await app.workflows.ORDER.get("a")).status()).toEqual({ status: "waiting" });
  });

  test("for later comes again when it is due, and then the instance goes on", async () => {
    const { app, runtime, queue, handle } = host();
    await app.workflows.ORDER.create({ id: "a" });
    await handle(queue.splice(0));
    const later = await handle(queue);
    expect(later).toEqual({ fates: ["retry in 3600s"], report: reported({ deferred: 1 }) });
    await runtime.advance("1 hour");
    expect((await handle(queue)).fates).toEqual(["ack"]);
    expect(await (await app.workflows.ORDER.get("a")).status()).toEqual({ status: "complete" });
  });

  test("for much later comes again after twelve hours, and is not old when its time has come", async () => {
    const { runtime, handle } = host();
    const later = hint({ dueAt: new Date(begun + 72 * hour), enqueuedAt: begun });
    expect((await handle([later])).fates).toEqual(["retry in 43200s"]);
    await runtime.advance("72 hours");
    expect((await handle([later])).fates).toEqual(["ack"]);
  });

  test("that has nothing to do any more is done", async () => {
    const { handle } = host();
    expect(await handle([hint()])).toEqual({ fates: ["ack"], report: reported({ done: 1 }) });
  });

  test("that is older than a day is dropped, but its work is not", async () => {
    const { app, runtime, queue, handle } = host();
    await app.workflows.ORDER.create({ id: "a" });
    const [old] = queue;
    await runtime.advance("25 hours");
    expect(await handle([old])).toEqual({ fates: ["ack"], report: reported({ stale: 1 }) });
    expect(await app.tick()).toEqual({ processed: 1 });
  });

  test("is as old as its body says, or as the queue does, and as the handler allows", async () => {
    const { runtime, handle } = host({ maxAge: "10 minutes" });
    await runtime.advance("11 minutes");
    const { report } = await handle([hint()], { timestamp: new Date(begun) });
    expect(report).toEqual(reported({ stale: 1 }));
    const newer = hint({ enqueuedAt: begun + 5 * 60 * second });
    expect((await handle([newer], { timestamp: new Date(begun) })).report).toEqual(reported({ done: 1 }));
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["no JSON", "{"],
    ["a number", 7],
    ["no instance", { workflowName: "order" }],
    ["an instance without a name", hint({ instanceId: "" })],
    ["an instance that is no text", hint({ instanceId: 7 })],
    ["a time that is none", hint({ dueAt: "tomorrow" })],
    ["a time beyond all dates", hint({ enqueuedAt: 1e300 })],
  ])("that is malformed (%s) is dropped and reported", async (_, body) => {
    const { problems, handle } = host();
    const { fates, report } = await handle([body]);
    expect(fates).toEqual(["ack"]);
    expect(report).toEqual(reported({ malformed: 1 }));
    expect(problems).toEqual([expect.objectContaining({ code: "INVALID_ARGUMENT" })]);
    expect(String(problems[0])).toContain('Message "m-0"');
  });

  test("may be JSON text, with its times as text or numbers", async () => {
    const { handle } = host();
    const dueAt = new Date(begun + 5 * second);
    const texts = [hint({ dueAt }), hint({ dueAt: dueAt.getTime() })].map((body) => JSON.stringify(body));
    expect((await handle(texts)).fates).toEqual(["retry in 5s", "retry in 5s"]);
  });
});

describe("a batch", () => {
  test("is handled message by message, whatever becomes of one of them", async () => {
    const { app, store, queue, problems, handle } = host({ concurrency: 1 });
    await app.workflows.ORDER.createBatch([{ id: "a" }, { id: "b" }, { id: "c" }]);
    store.fail("claim", "fatal");
    const bodies = [...queue.splice(0), "malformed", hint({ dueAt: begun + hour, enqueuedAt: begun })];
    const { fates, report } = await handle(bodies);
    expect(fates).toEqual([
      expect.stringMatching(/^retry in [345]s$/),
      "ack",
      "ack",
      "ack",
      "retry in 3600s",
    ]);
    expect(report).toEqual(reported({ done: 2, failed: 1, malformed: 1, deferred: 1, processed: 3 }));
    expect(problems).toHaveLength(2);
  });

  test("whose messages cannot even be acknowledged is handled to its end", async () => {
    const { problems, handler } = host();
    let acknowledged = 0;
    const broken: QueueMessage = { id: "broken", body: hint(), ack: fails, retry: fails };
    const sound: QueueMessage = { ...broken, id: "sound", ack: () => acknowledged++ };
    const report = await handler({ messages: [broken, null as never, sound] });
    expect(report).toEqual(reported({ failed: 2, done: 1 }));
    expect(acknowledged).toBe(1);
    expect(problems.length).toBeGreaterThan(0);
  });

  test("is not held up by a message whose instance takes its time", async () => {
    const gate = createGate();
    const slow = defineWorkflow({ name: "order" }, async (event, step) => {
      await step.do("work", async () => (event.instanceId === "slow" ? gate.wait() : undefined));
    });
    const { app, runtime, queue, handle } = host({ maxInstances: 1 }, { ORDER: slow as never });
    await app.workflows.ORDER.createBatch([{ id: "slow" }, { id: "quick" }]);
    const handled = handle(queue.splice(0));
    await runtime.settle();
    expect(await (await app.workflows.ORDER.get("quick")).status()).toEqual({ status: "complete" });
    await gate.open();
    expect((await handled).report).toEqual(reported({ done: 2, processed: 2 }));
  });

  test("that is none is refused", async () => {
    await expect(host().handler({} as never)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("a store that fails", () => {
  test("lets a message come again, ever later, at most after five minutes", async () => {
    const { store, handle } = host();
    const delays: number[] = [];
    for (const attempts of [1, 2, 3, 4, 9, 100]) {
      store.fail("claim", "fatal");
      const { fates } = await handle([hint()], { attempts });
      delays.push(Number(/^retry in (\d+)s$/.exec(fates[0] ?? "")?.[1]));
    }
    const bounds = [
      [3, 5],
      [5, 7],
      [9, 11],
      [17, 19],
      [300, 300],
      [300, 300],
    ] as const;
    for (const [at, [least, most]] of bounds.entries()) {
      expect(delays[at]).toBeGreaterThanOrEqual(least);
      expect(delays[at]).toBeLessThanOrEqual(most);
    }
  });

  test("is reported to whom the handler says", async () => {
    const heard: unknown[] = [];
    const { store, problems, handle } = host({ onProblem: (problem) => heard.push(problem) });
    store.fail("claim", "fatal");
    await handle([hint()]);
    expect([heard.length, problems.length]).toEqual([1, 0]);
  });
});

test("one message sets going no more than it may", async () => {
  const { app, handle } = host({ maxInstances: 2 });
  await app.workflows.ORDER.createBatch([{ id: "a" }, { id: "b" }, { id: "c" }]);
  expect((await handle([hint()])).report).toEqual(reported({ done: 1, processed: 2 }));
});

function fails(): never {
  throw new Error("the queue is gone");
}

/** Whom a dispatcher hears of where the outcome of a write does not say it: asked of the store, whichever it is. */
import { defineWorkflow, type WorkflowEnqueuedHookPayload } from "everstep/fragment";
import type { Store } from "everstep/store";
import { createFaultyStore } from "everstep/testing";
import { expect, test } from "vitest";
import { host, impatientRuntime, onEachStore } from "./hosts.ts";

const Watch = defineWorkflow({ name: "watch" }, async (_event, step) => {
  const wait = (name: string) => step.waitForEvent(name, { topic: "rates" });
  await Promise.all([wait("one"), wait("two")]);
});
const Wait = defineWorkflow({ name: "wait" }, async (_event, step) => {
  await step.waitForEvent("go", { type: "go" });
});
const Tell = defineWorkflow({ name: "tell" }, async (_event, step) => {
  await step.do("tell", async (tx) => {
    tx.startWorkflow("wait", { id: "child" });
    tx.sendEvent({ workflow: "wait", id: "waiting" }, { type: "go" });
    tx.sendEvent({ workflow: "wait", id: "new" }, { type: "go" });
    tx.sendEvent({ workflow: "wait", id: "nobody" }, { type: "go" });
  });
});
const workflows = { WATCH: Watch, WAIT: Wait, TELL: Tell };

/** A host, and a way to wait until it has heard of something. */
function listening(store: Store) {
  const heard: string[] = [];
  let told = (): void => {};
  const wake = ({ instanceId, reason }: WorkflowEnqueuedHookPayload): void => {
    heard.push(`${instanceId} ${reason}`);
    told();
  };
  const { fragment, runtime } = host(store, { workflows, dispatcher: { wake } }, impatientRuntime());
  const hears = async (...expected: readonly string[]): Promise<void> => {
    while (heard.length < expected.length) {
      await new Promise<void>((resolve) => {
        told = resolve;
      });
    }
    expect(heard.splice(0).sort()).toEqual([...expected].sort());
  };
  return { fragment, runtime, heard, hears, forget: () => heard.splice(0) };
}

onEachStore("a dispatcher hears", (openStore) => {
  test("of each run that a publication woke, once, and not of paused ones", async () => {
    const { fragment, hears, forget } = listening(openStore());
    await fragment.workflows.WATCH.createBatch([{ id: "a" }, { id: "b" }, { id: "paused" }]);
    await fragment.runner.tick();
    await fragment.services.pauseInstance("watch", "paused");
    forget();
    expect(await fragment.services.publish("rates", 1)).toEqual({ waiters: 6 });
    await hears("a event", "b event");
    expect(await fragment.runner.tick()).toEqual({ processed: 2 });
  });

  test("of those whom a step's events woke, and of its children", async () => {
    const { fragment, hears, forget } = listening(openStore());
    await fragment.workflows.WAIT.create({ id: "waiting" });
    await fragment.runner.tick();
    await fragment.workflows.TELL.create({ id: "t" });
    // Due, but not by the event, which it does not wait for yet.
    await fragment.workflows.WAIT.create({ id: "new", startAt: Date.UTC(2026, 0, 2) });
    forget();
    await fragment.runner.tick();
    await hears("child create", "waiting event");
  });

  test.each(["create", "sendEvent", "publish"] as const)("of a %s whose reply was lost", async (verb) => {
    const store = createFaultyStore(openStore());
    const { fragment, hears, forget } = listening(store);
    await fragment.workflows.WATCH.create({ id: "watches" });
    const waiting = await fragment.workflows.WAIT.create({ id: "waiting" });
    await fragment.runner.tick();
    forget();
    store.fail(verb, "ambiguous", { applied: true });
    if (verb === "create") {
      await fragment.workflows.WAIT.create({ id: "lost" });
      await hears("lost create");
    } else if (verb === "sendEvent") {
      await waiting.sendEvent({ type: "go" });
      await hears("waiting event");
    } else {
      await fragment.services.publish("rates", 1);
      await hears("watches event");
    }
  });
});

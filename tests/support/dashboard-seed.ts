/** Fills an app with instances that are where a test wants them. */
import type { InstanceHandle, InstanceStatus } from "everstep";
import { vi } from "vitest";
import type { DashboardApp } from "./dashboard-app.ts";
import { hostileTexts } from "./hostile-texts.ts";

const patience = { timeout: 60_000, interval: 20 };

/** Resolves when the instance has this status, at this step if one is named. */
export async function reach(
  instance: InstanceHandle,
  status: InstanceStatus,
  stepName?: string,
): Promise<void> {
  await vi.waitFor(async () => {
    const details = await instance.details();
    const at = stepName === undefined ? undefined : details.currentStep?.name;
    if (details.status !== status || at !== stepName)
      throw new Error(`${instance.id} is ${details.status} at ${details.currentStep?.name}, not ${status}.`);
  }, patience);
}

/** One instance of everything, each with a telling id. */
export async function seedEverything({ app }: DashboardApp): Promise<void> {
  const { workflows } = app;
  const waiting = await workflows.order.create({ id: "order-waiting", params: book({ failures: 2 }) });
  const complete = await workflows.order.create({ id: "order-complete", params: book({ failures: 1 }) });
  await complete.sendEvent({ type: "approved", payload: { by: "Ada" } });
  const retrying = await workflows.order.create({
    id: "order-retrying",
    params: book({ failures: 5, retryDelay: "30 minutes" }),
  });
  const paused = await workflows.order.create({ id: "order-paused", params: book() });
  const terminated = await workflows.order.create({ id: "order-terminated", params: book() });
  const family = await workflows.parent.create({
    id: "parent-waiting",
    params: { children: 3, holds: true },
  });
  const wholeFamily = await workflows.parent.create({ id: "parent-complete", params: { children: 2 } });
  const listeners = await workflows.listener.createBatch(
    ["listener-1", "listener-2"].map((id) => ({ id, params: { topic: "prices.changed" } })),
  );
  const fan = await workflows.fanOut.create({ id: "fan-out-complete", params: { branches: 6 } });
  const dead = await workflows.failing.create({ id: "failing-dead", params: {} });
  const doomed = await workflows.doomed.create({ id: "doomed-errored" });
  const held = await workflows.held.create({ id: "held-active" });
  const sleeper = await workflows.sleeper.create({ id: "sleeper-waiting", params: { for: "1 hour" } });
  const chatty = await workflows.chatty.create({ id: "chatty-complete", params: { lines: 40 } });
  const signup = await workflows.signup.create({
    id: "signup-complete",
    params: { email: "ada@example.com", plan: "team" },
  });
  await Promise.all([
    reach(waiting, "waiting", "approval"),
    reach(complete, "complete"),
    reach(retrying, "waiting", "charge"),
    reach(paused, "waiting", "approval").then(() => paused.pause()),
    reach(terminated, "waiting", "approval").then(() => terminated.terminate({ reason: "Nobody wants it." })),
    reach(family, "waiting"),
    reach(wholeFamily, "complete"),
    ...listeners.map((listener) => reach(listener, "waiting", "news")),
    reach(fan, "complete"),
    reach(dead, "errored"),
    reach(doomed, "errored"),
    reach(held, "active"),
    reach(sleeper, "waiting", "nap"),
    reach(chatty, "complete"),
    reach(signup, "complete"),
  ]);
}

/** Texts that must stay texts, in every place: ids `hostile-waiting`, `hostile-complete` and `hostile-errored`. */
export async function seedHostile({ app }: DashboardApp): Promise<void> {
  const { hostile } = app.workflows;
  const note = { texts: hostileTexts, ...Object.fromEntries(hostileTexts.map((text) => [text, text])) };
  const waiting = await hostile.create({ id: "hostile-waiting", params: { note } });
  const complete = await hostile.create({ id: "hostile-complete", params: { note } });
  await complete.sendEvent({ type: "word", payload: note });
  const errored = await hostile.create({ id: "hostile-errored", params: { note, fails: true } });
  await Promise.all([
    reach(waiting, "waiting", "word"),
    reach(complete, "complete"),
    reach(errored, "errored"),
  ]);
}

/** One instance with so many steps: `long-complete`. */
export async function seedLong({ app }: DashboardApp, steps = 1000): Promise<void> {
  await (await app.workflows.long.create({ id: "long-complete", params: { steps } })).result();
}

/** So many instances of `quick`, `quick-00001` and on, all complete. */
export async function seedMany({ app }: DashboardApp, count: number): Promise<void> {
  for (let begun = 0; begun < count; begun += 100) {
    const batch = Array.from({ length: Math.min(100, count - begun) }, (_, n) => ({
      id: `quick-${String(begun + n + 1).padStart(5, "0")}`,
      params: { n: begun + n + 1 },
    }));
    await app.workflows.quick.createBatch(batch);
  }
  await vi.waitFor(async () => {
    const { complete } = await app.counts("quick");
    if (complete < count) throw new Error(`${complete} of ${count} are complete.`);
  }, patience);
}

function book(more: { readonly failures?: number; readonly retryDelay?: "30 minutes" } = {}) {
  return { item: "book", amount: 20, ...more };
}

/** On Redis runs are found through lists. A run that a broken write has left in none of them must not be lost. */
import { allowAll, createWorkflows, defineWorkflow } from "everstep";
import { createClient } from "everstep/client";
import { serve } from "everstep/node";
import { redis } from "everstep/redis";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { Namespaces, serverStores } from "../support/server-stores.ts";

const server = serverStores.find(({ name }) => name === "redis");

describe.skipIf(server?.url === undefined)("a run that is overdue and in no due list (redis)", () => {
  test("is seen at once by why, overview and verify, told at start, and put back by whoever runs", async () => {
    const { app, forget } = await begin();
    const instance = await app.workflows.W.create({ id: "lost" });
    await app.workflows.W.create({ id: "well", startAt: new Date(Date.now() + 3_600_000) });
    expect(await app.verify()).toMatchObject({ ok: true });
    await forget("starting", "lost");

    expect(await instance.why()).toMatchObject({
      reason: "unlisted",
      advice: expect.stringContaining("Pause and resume"),
    });
    const served = await serve(app, { port: 0 });
    const overview = await createClient({ url: served.url }).overview();
    await served.close();
    expect(overview.store.warnings).toContainEqual({
      code: "RUNS_UNLISTED",
      message: expect.stringContaining("1 run"),
    });
    expect(await app.verify()).toMatchObject({
      ok: false,
      violations: [{ invariant: "INV-37", instanceId: "lost", message: expect.stringContaining("no list") }],
    });

    const problems: unknown[] = [];
    const { app: runner } = await begin((problem) => problems.push(problem));
    await runner.start();
    expect(await instance.result({ timeout: 60_000 })).toMatchObject({ status: "complete" });
    expect(problems).toContainEqual(
      expect.objectContaining({ code: "STORE_UNSAFE", details: { warning: "RUNS_UNLISTED" } }),
    );
    expect(await app.verify()).toMatchObject({ ok: true });
  });

  test("is found by verify although no list of instances has it either", async () => {
    const { app, forget } = await begin();
    await app.workflows.W.create({ id: "lost" });
    await forget("starting", "lost");
    await forgetStatus();
    expect(await app.verify()).toMatchObject({ ok: false, violations: [{ instanceId: "lost" }] });
  });

  const namespaces = new Namespaces(server as NonNullable<typeof server>);
  let namespace: string | undefined;

  /** All apps of a test share a namespace. */
  async function begin(onProblem: (problem: unknown) => void = () => {}) {
    if (namespace === undefined) {
      const taken = namespaces.take();
      namespace = taken;
      onTestFinished(async () => {
        namespace = undefined;
        await namespaces.giveBack(taken);
      });
    }
    const W = defineWorkflow({ name: "w" }, async (_event, step) => step.do("work", async () => "done"));
    const store = redis({ url: server?.url as string, namespace });
    const app = createWorkflows({
      workflows: { W },
      store,
      authorize: allowAll(),
      onProblem,
      onNotice: () => {},
    });
    onTestFinished(async () => {
      await app.stop();
    });
    const forget = async (lane: string, instanceId: string): Promise<void> => {
      const record = await app.store.getInstance({ workflowName: "w", instanceId });
      await behind("ZREM", `due:${lane}:w`, String(record?.runId).padStart(16, "0"));
    };
    return { app, forget };
  }

  async function forgetStatus(): Promise<void> {
    await behind("DEL", "status:active:w");
  }

  /** A command on a key of the namespace. */
  async function behind(command: string, key: string, ...args: readonly string[]): Promise<void> {
    const client = new Redis(server?.url as string);
    expect(await client.call(command, `{${namespace}}:${key}`, ...args)).toBe(1);
    client.disconnect();
  }
});

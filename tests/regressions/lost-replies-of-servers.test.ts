import { createWorkflows, defineWorkflow } from "everstep";
import { expect, test } from "vitest";
import { quiet } from "./quiet.ts";
import { onEachServer } from "./servers.ts";

const child = defineWorkflow({ name: "child" }, async () => "ran");

/** Where a claim was not heard of nobody knows whether a body began, so the number of an attempt says nothing here. */
const failed = new Set<string>();

const busy = defineWorkflow({ name: "w" }, async ({ instanceId }, step) => {
  const flaky = await step.do("flaky", { retries: { limit: 1, delay: 1 } }, async ({ idempotencyKey }) => {
    step.log.info(failed.has(idempotencyKey) ? "second" : "first");
    if (failed.has(idempotencyKey)) return 2;
    failed.add(idempotencyKey);
    throw new Error("not yet");
  });
  await step.do("child", async (context) => context.startWorkflow("child", { id: `${instanceId}-child` }));
  await step.sleep("nap", 1);
  const { payload } = await step.waitForEvent<string>("note", { type: "note" });
  return [flaky, payload];
});

/** Tells what will be committed. PostgreSQL is given a statement's text once, and from then on only its name. */
function writeSense(): (data: string) => boolean {
  const writes = new Set<string>();
  return (data) => {
    for (const [, name = "", sql = ""] of data.matchAll(/(everstep_\d+)\0([^\0]{20,})/g)) {
      if (/\b(INSERT INTO|UPDATE)\b/.test(sql)) writes.add(name);
    }
    const named = [...data.matchAll(/\0(everstep_\d+)\0/g)].map(([, name = ""]) => name);
    return (
      named.some((name) => writes.has(name)) || /COMMIT(?!TED)|\r\n(create|commit|sendEvent)\r\n/.test(data)
    );
  };
}

onEachServer("lost replies of servers", (take) => {
  test("R-073 when a connection is cut behind every third commit, nothing is done twice", async () => {
    const server = take();
    failed.clear();
    let commits = 0;
    const isWrite = writeSense();
    const losesReply = (data: Buffer): boolean => {
      if (!isWrite(data.toString("latin1"))) return false;
      return ++commits % 3 === 0 && commits <= 9;
    };
    const proxy = await server.proxy({ losesReply });
    const app = createWorkflows({
      workflows: { W: busy, CHILD: child },
      store: server.open(proxy),
      // Leases whose claim was never heard of run out soon, and none that a busy machine needs.
      runner: { lease: "8 seconds" },
      ...quiet(),
    });
    await app.start();
    const ids = Array.from({ length: 10 }, (_, n) => `i${n}`);
    await Promise.all(
      ids.map(async (id) => {
        const instance = await app.workflows.W.create({ id });
        await instance.sendEvent({ type: "note", payload: id, idempotencyKey: `note-${id}` });
        expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ output: [2, id] });
      }),
    );
    await app.stop();
    expect(commits).toBeGreaterThanOrEqual(6);
    const seen = createWorkflows({ workflows: { W: busy, CHILD: child }, store: server.open(null) });
    for (const id of ids) {
      const instance = await seen.workflows.W.get(id);
      const { runNumber, steps, events } = await instance.history();
      expect([runNumber, events.length]).toEqual([1, 1]);
      expect(steps.map(({ attempts, errors }) => [attempts, errors.length])).toEqual([
        [2, 1],
        [1, 0],
        [0, 0],
        [0, 0],
      ]);
      const lines = (await instance.logs()).items.filter(
        ({ isReplay, category }) => !isReplay && category !== "system",
      );
      expect(lines.map(({ message }) => message)).toEqual(["first", "second"]);
    }
    expect((await seen.workflows.CHILD.list()).items).toHaveLength(ids.length);
  });
});

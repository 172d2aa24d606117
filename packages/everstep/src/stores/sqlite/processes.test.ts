import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { startScript, temporaryFolder } from "../../../../../tests/support/sqlite-place.ts";
import { erased } from "../../testing/store-contract/acts.ts";
import { at, create, workflow } from "../../testing/store-contract/given.ts";
import { sqlite } from "./index.ts";

const folder = temporaryFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Repeats what the store could not do because another process was writing, as a runner would. */
const patience = `
  const patiently = async (act) => {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (error.code !== "STORE_BUSY") throw error;
        await new Promise(setImmediate);
      }
    }
  };
`;

test("two processes that create, claim, commit and send on one file lose nothing and do nothing twice", async () => {
  const path = join(folder, "shared.db");
  await sqlite(path).migrate();
  const count = 60;
  const scripts = ["left", "right"].map((name) =>
    startScript(
      `
      ${patience}
      const { at, create, claimRequest, commit, boundary, completed, complete, logLine, sendEvent } = given;
      const store = sqlite({ path: args.path, synchronous: "normal" });
      print("ready");
      await nextLine();
      let finished = 0;
      for (let n = 0; n < args.count; n += 1) {
        await patiently(() => store.write([create(args.name + n)], at(n)));
        await patiently(() => store.write([sendEvent(args.name + n, "e " + args.name + n, "x")], at(n)));
        const claims = await patiently(() => store.claim(claimRequest({ now: at(n), limit: 3, owner: args.name })));
        for (const { lease } of claims) {
          const first = boundary(1, { steps: [completed(1)], logs: [logLine("by " + args.name)] });
          const [one] = await patiently(() => store.write([commit(lease, first)], at(n)));
          const [two] = await patiently(() => store.write([commit(lease, boundary(2, { next: complete() }))], at(n)));
          if (one.kind === "committed" && two.kind === "committed") finished += 1;
        }
      }
      print(String(finished));
      await store.close();
      `,
      { path, name, count },
    ),
  );
  for (const script of scripts) await script.line();
  for (const script of scripts) script.send("go");
  const finished = await Promise.all(scripts.map(async (script) => Number(await script.line())));
  await Promise.all(scripts.map((script) => script.ended));

  const store = sqlite(path);
  const counts = await store.countByStatus(workflow);
  expect(counts.active + counts.complete).toBe(2 * count);
  expect(counts.complete).toBe((finished[0] ?? 0) + (finished[1] ?? 0));
  const { items } = await store.listInstances({ limit: 1000, statuses: ["complete"] });
  for (const { runId } of items) {
    expect((await store.listSteps(runId, { limit: 10 })).items).toHaveLength(1);
    expect((await store.listLogs(runId, { limit: 10 })).items).toHaveLength(1);
  }
  await store.close();
});

test("what was acknowledged is there after the process was killed, and nothing is there by halves", async () => {
  const path = join(folder, "killed.db");
  await sqlite(path).migrate();
  const writer = startScript(
    `
    const { at, create, commit, boundary, completed } = given;
    const store = sqlite(args.path);
    for (let n = 0; ; n += 1) {
      const lease = { owner: "me", until: at(1000) };
      const [{ claim }] = await store.write([create("i" + n, { lease })], at(0));
      await store.write([commit(claim.lease, boundary(1, { steps: [completed(1), completed(2)] }))], at(0));
      print(String(n));
    }
    `,
    { path },
  );
  let acknowledged = -1;
  while (acknowledged < 40) acknowledged = Number(await writer.line());
  await writer.kill();

  const store = sqlite(path);
  const { items } = await store.listInstances({ limit: 10_000, order: "asc" });
  expect(items.length).toBeGreaterThan(acknowledged);
  for (const [n, { runId, instanceId }] of items.entries()) {
    const steps = (await store.listSteps(runId, { limit: 10 })).items.length;
    expect(instanceId).toBe(`i${n}`);
    expect(n <= acknowledged ? [2] : [0, 2]).toContain(steps);
  }
  await store.close();
});

test("ids of runs are never used again, not even after the newest was removed and the file reopened", async () => {
  const path = join(folder, "ids.db");
  const ids: unknown[] = [];
  for (let n = 0; n < 3; n += 1) {
    const store = sqlite(path);
    const [outcome] = await store.write([create("a")], at(0));
    ids.push(outcome?.kind === "created" && outcome.runId);
    await erased(store, { workflowName: workflow, instanceId: "a" });
    await store.close();
  }
  expect(ids).toEqual([1, 2, 3]);
});

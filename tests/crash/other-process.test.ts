import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWorkflows, defineWorkflow } from "everstep";
import { sqlite } from "everstep/sqlite";
import { afterEach, expect, test } from "vitest";

/** Two connections to one file, as two processes would have; nothing but the file connects them. */
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Long enough for a busy machine to pause an instance meanwhile. */
const retryMs = 2000;

function twoApps() {
  const folder = mkdtempSync(join(tmpdir(), "everstep-other-process-"));
  folders.push(folder);
  const ran: string[] = [];
  const aborted: string[] = [];
  const held: { release(): void } = { release: () => {} };
  const workflow = defineWorkflow({ name: "w" }, async (event, step) => {
    const hold = step.do("hold", ({ signal }) => {
      ran.push("hold");
      signal.addEventListener("abort", () => aborted.push((signal.reason as Error).message));
      return new Promise<void>((resolve) => {
        held.release = resolve;
      });
    });
    if (event.payload.quiet) return hold;
    await step.do(
      "flaky",
      { retries: { limit: 5, delay: retryMs, backoff: "constant" } },
      async ({ attempt }) => {
        ran.push(`flaky ${attempt}`);
        if (attempt < 3) throw new Error("again");
      },
    );
    return hold;
  });
  const open = () =>
    createWorkflows({
      workflows: { W: workflow },
      store: sqlite({ path: join(folder, "app.db"), synchronous: "normal" }),
      // So long that no test sees it renewed.
      runner: { lease: "1 hour" },
      onNotice: () => {},
    });
  return { runs: open(), other: open(), ran, aborted, held };
}

const until = async (condition: () => unknown): Promise<void> => {
  await expect.poll(condition, { timeout: 60_000, interval: 10 }).toBeTruthy();
};

test("a body hears at once that another process terminated its instance, long before its lease is renewed", async () => {
  const { runs, other, ran, aborted } = twoApps();
  await runs.start();
  await runs.workflows.W.create({ id: "i", params: { quiet: true } });
  await until(() => ran.includes("hold"));
  await (await other.workflows.W.get("i")).terminate();
  await until(() => aborted.length > 0);
  expect(aborted).toEqual(["The instance is terminated."]);
  await runs.stop({ grace: 0 });
  await other.stop();
});

test("no body starts after another process has paused the instance, though a long one holds the turn open (INV-34)", async () => {
  const { runs, other, ran, held } = twoApps();
  await runs.start();
  const instance = await runs.workflows.W.create({ id: "i" });
  await until(() => ran.includes("flaky 1"));
  const handle = await other.workflows.W.get("i");
  await handle.pause();
  await new Promise((resolve) => setTimeout(resolve, 1.5 * retryMs));
  expect(ran).toEqual(["hold", "flaky 1"]);
  held.release();
  await until(() => ran.length === 2);
  await handle.resume();
  expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
  expect(ran).toEqual(["hold", "flaky 1", "flaky 2", "flaky 3"]);
  await runs.stop();
  await other.stop();
});

test("resumed by another process, what waits beside a long body goes on while that still runs", async () => {
  const { runs, other, ran, held } = twoApps();
  await runs.start();
  const instance = await runs.workflows.W.create({ id: "i" });
  await until(() => ran.includes("flaky 1"));
  const handle = await other.workflows.W.get("i");
  await handle.pause();
  // The attempt that is due asks, and hears of the pause.
  await new Promise((resolve) => setTimeout(resolve, 1.5 * retryMs));
  expect(ran).toEqual(["hold", "flaky 1"]);
  await handle.resume();
  await until(() => ran.includes("flaky 3"));
  held.release();
  expect(await instance.result({ timeout: "60 seconds" })).toMatchObject({ status: "complete" });
  expect(ran).toEqual(["hold", "flaky 1", "flaky 2", "flaky 3"]);
  await runs.stop();
  await other.stop();
});

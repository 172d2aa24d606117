import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const workflow = `
import { appendFileSync } from "node:fs";
import { defineWorkflow } from "everstep";
export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("endless", async ({ signal }) => {
    console.log("endless began");
    await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
});
export const brief = defineWorkflow({ name: "brief" }, async (_event, step) => {
  await step.do("one", async () => {
    console.log("one began");
    await new Promise((resolve) => process.once("SIGUSR2", resolve));
    appendFileSync("ledger.txt", "one ended\\n");
  });
  await step.do("two", async () => appendFileSync("ledger.txt", "two\\n"));
});`;

test("Ctrl-C lets bodies in flight finish, begins nothing new, and leaves no note and no process behind", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  const dev = await project.dev("--quiet");
  const pid = dev.hostPid;
  expect(dev.note).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/$/),
    pid: dev.running.pid,
    token: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(statSync(project.path(".everstep/dev.json")).mode & 0o077).toBe(0);
  await dev.client.workflow("brief").create();
  await dev.running.says(/one began/);

  dev.running.signal("SIGINT");
  await dev.running.says(/stops; bodies/);
  process.kill(pid, "SIGUSR2");
  expect(await dev.running.ended).toBe(0);
  expect(project.lines("ledger.txt")).toEqual(["one ended"]);
  expect(project.has(".everstep/dev.json")).toBe(false);
  expect(isAlive(pid)).toBe(false);
  expect(dev.running.text).not.toMatch(/created/);

  const again = await project.dev();
  await again.running.says(/brief .* complete/);
  expect(project.lines("ledger.txt")).toEqual(["one ended", "two"]);
});

test("a second Ctrl-C ends it at once", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  const dev = await project.dev();
  const pid = dev.hostPid;
  await dev.client.workflow("brief").create();
  await dev.running.says(/one began/);
  dev.running.signal("SIGINT");
  await dev.running.says(/stops; bodies/);
  dev.running.signal("SIGINT");
  expect(await dev.running.ended).toBe(130);
  expect(project.has(".everstep/dev.json")).toBe(false);
  await gone(pid);
});

test("a host whose supervisor was killed ends by itself", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  const dev = await project.dev();
  const pid = dev.hostPid;
  dev.running.signal("SIGKILL");
  await gone(pid);
});

test("a second one in the same folder is refused with the address of the first; a note that was left behind is not in the way", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  project.write(".everstep/dev.json", JSON.stringify({ url: "http://127.0.0.1:9/", pid: process.pid }));
  const dev = await project.dev();
  const { url, pid, token } = dev.note;
  const second = await project.run("dev");
  expect(second.exitCode).toBe(70);
  expect(second.text).toContain(`runs in this folder already: ${url} (process ${pid})`);
  expect(second.text).toContain(`kill ${pid}`);
  expect(dev.note).toEqual({ url, pid, token });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** There is no event for the end of a process that is nobody's child: look until it is gone. */
async function gone(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false);
}

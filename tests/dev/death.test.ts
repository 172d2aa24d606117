import { createClient } from "everstep/client";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const workflow = `
import { appendFileSync } from "node:fs";
import { defineWorkflow } from "everstep";
const note = (what: string) => appendFileSync("ledger.txt", what + "\\n");
export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("first", async () => note("first"));
  await step.do("second", async ({ attempt }) => {
    note("second began");
    if (attempt === 1) {
      console.log("second hangs");
      await new Promise(() => {});
    }
    note("second ended");
  });
  return step.do("third", async () => note("third"));
});
export const leaves = defineWorkflow({ name: "leaves" }, async (_event, step) => {
  await step.do("stay", async () => {});
  return step.do("leave", async ({ attempt }) => {
    if (attempt === 1) process.exit(3);
    return "back";
  });
});`;

test("a process that is killed is started again and goes on; what had completed does not run again", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  const dev = await project.dev();
  const killed = dev.hostPid;
  const instance = await dev.client.workflow("order").create({ id: "o-1" });
  await dev.running.says(/second hangs/);
  process.kill(killed, "SIGKILL");

  await dev.running.says(/The process died \(SIGKILL\)\. Starting it again\./);
  await dev.running.says(/Running again .*\n {2}order o-1 goes on; "second" was cut off and runs again\./);
  expect(await instance.result()).toMatchObject({ status: "complete" });
  expect(project.lines("ledger.txt")).toEqual([
    "first",
    "second began",
    "second began",
    "second ended",
    "third",
  ]);
  expect(dev.hostPid).not.toBe(killed);

  const left = await dev.client.workflow("leaves").create();
  await dev.running.says(/The process died \(exit code 3\)[\s\S]*Running again/);
  expect(await left.result()).toMatchObject({ output: "back" });
});

test("the process can be killed over HTTP: it is answered, dies, and goes on at the same address", async () => {
  const project = new Project({ "workflows.ts": workflow }).install();
  const dev = await project.dev();
  const [killed, { url, token }] = [dev.hostPid, dev.note];
  const client = createClient({ url, retries: 20, headers: { authorization: `Bearer ${token}` } });
  const instance = await client.workflow("order").create({ id: "o-1" });
  await dev.running.says(/second hangs/);
  expect((await client.overview()).mayKill).toBe(true);
  await client.kill();

  await dev.running.says(/The process died \(SIGKILL\)\. Starting it again\./);
  await dev.running.says(/Running again .*\n {2}order o-1 goes on; "second" was cut off and runs again\./);
  expect(await instance.result()).toMatchObject({ status: "complete" });
  expect(project.lines("ledger.txt").filter((line) => line === "first")).toHaveLength(1);
  expect(dev.note.url).toBe(url);
  expect(dev.hostPid).not.toBe(killed);
});

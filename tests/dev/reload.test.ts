import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

/** Its bodies write down what they do; "slow" takes until a file says that it may end. */
const workflow = (version: string): string => `
import { appendFileSync, existsSync, watch } from "node:fs";
import { defineWorkflow } from "everstep";

const note = (what: string) => appendFileSync("ledger.txt", \`\${what} ${version} \${process.pid}\\n\`);
const fileThere = (name: string) => new Promise<void>((resolve) => {
  const watcher = watch(".", look);
  function look() { if (existsSync(name)) { watcher.close(); resolve(); } }
  look();
});

export const order = defineWorkflow({ name: "order" }, async (_event, step) => {
  await step.do("first", async () => note("first"));
  await step.do("slow", async () => {
    note("slow began");
    console.log("slow began");
    await fileThere("go");
    note("slow ended");
  });
  await step.do("last", async () => note("last"));
  return "${version}";
});
export const quick = defineWorkflow({ name: "quick" }, async () => "${version}");
`;

test("new code goes on where the old code stopped, and nothing runs twice or at the same time", async () => {
  const project = new Project({ "workflows.ts": workflow("v1") }).install();
  const dev = await project.dev();
  const oldPid = dev.hostPid;
  const instance = await dev.client.workflow("order").create({ id: "o-1" });
  await dev.running.says(/slow began/);

  await dev.change("workflows.ts", workflow("v2"), /Process \d+ stops/);
  project.write("go", "");
  await dev.running.says(/Running the new code/);
  const newPid = dev.hostPid;

  expect(await instance.result()).toMatchObject({ status: "complete", output: "v2" });
  expect(newPid).not.toBe(oldPid);
  expect(project.lines("ledger.txt")).toEqual([
    `first v1 ${oldPid}`,
    `slow began v1 ${oldPid}`,
    `slow ended v1 ${oldPid}`,
    `last v2 ${newPid}`,
  ]);
});

test("a mistake in the file is shown with its place, and the old code serves on until it is repaired", async () => {
  const project = new Project({ "workflows.ts": workflow("v1") }).install();
  const dev = await project.dev();
  const { url } = dev.note;
  const answer = async (id: string) => (await dev.client.workflow("quick").create({ id })).result();

  await dev.change("workflows.ts", `${workflow("v2")}\nconst broken = {;\n`, /old code|before goes on/);
  expect(dev.running.text).toMatch(/workflows\.ts:\d+: SyntaxError: .*\n {2}const broken = \{;\n/);
  expect(await answer("a")).toMatchObject({ output: "v1" });

  await dev.change(
    "workflows.ts",
    workflow("v3").replace("export const quick", "enum No { A }\nexport const quick"),
    /enum/,
  );
  await dev.running.says(/Write an object instead/);
  expect(await answer("b")).toMatchObject({ output: "v1" });

  await dev.change("workflows.ts", workflow("v4"), /Running the new code/);
  expect(await answer("c")).toMatchObject({ output: "v4" });
  expect(dev.note.url).toBe(url);
});

test("a file that is imported is watched too, and touching a file without changing it does nothing", async () => {
  const project = new Project({
    "workflows.ts": `
      import { defineWorkflow } from "everstep";
      import { answer } from "./answer.ts";
      export default [defineWorkflow({ name: "quick" }, async () => answer)];`,
    "answer.ts": "export const answer = 1;",
  }).install();
  const dev = await project.dev();
  project.write("answer.ts", "export const answer = 1;");
  await dev.change("answer.ts", "export const answer = 2;", /Running the new code/);
  expect(dev.running.text.match(/answer\.ts changed/g)).toHaveLength(1);
  const instance = await dev.client.workflow("quick").create();
  expect(await instance.result()).toMatchObject({ output: 2 });
});

test("a file that cannot be loaded at first is waited for", async () => {
  const project = new Project({ "workflows.ts": 'import "./missing.ts";' }).install();
  const running = project.start("dev", "--port", "0");
  await running.says(/Cannot find module[\s\S]*Waiting for a change/);
  project.write("missing.ts", "");
  await running.says(/exports no workflow and no app/);
  project.write("workflows.ts", workflow("v1"));
  await running.says(/start one +npx everstep instances create order/);
});

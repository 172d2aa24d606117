import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

test("an empty folder becomes a project that runs", async () => {
  const project = new Project();
  const { exitCode, text } = await project.run("init", "--yes");
  expect(exitCode).toBe(0);
  expect(text).toMatch(/Next:\n {2}npm install\n {2}npx everstep dev\n$/);
  expect(JSON.parse(project.read("package.json"))).toMatchObject({
    private: true,
    type: "module",
    scripts: { dev: "everstep dev" },
    dependencies: { everstep: expect.stringMatching(/^\^\d/) },
  });
  expect(project.read(".gitignore")).toContain(".everstep/");
  expect(project.lines("workflows.ts").length).toBeLessThanOrEqual(15);

  const dev = await project.install().dev();
  const instance = await dev.client.workflow("hello").create({ params: { name: "Ada" } });
  await instance.skipSleep().catch(() => {});
  expect(await instance.result()).toMatchObject({ output: "Hello, Ada! Goodbye!" });
});

test("what is there stays: a package gets a script and the dependency, no file is overwritten", async () => {
  const manifest = { name: "shop", scripts: { dev: "vite" }, dependencies: { zod: "^4" } };
  const project = new Project({
    "package.json": JSON.stringify(manifest, null, "\t"),
    "workflows.ts": "// mine",
    ".gitignore": "dist",
  });
  expect((await project.run("init")).exitCode).toBe(0);
  const text = project.read("package.json");
  expect(JSON.parse(text)).toEqual({
    name: "shop",
    scripts: { dev: "vite", "dev:workflows": "everstep dev" },
    dependencies: { zod: "^4", everstep: expect.any(String) },
  });
  expect(text).toContain('\n\t"scripts"');
  expect(project.read("workflows.ts")).toBe("// mine");
  expect(project.read(".gitignore")).toBe("dist");

  expect((await project.run("init")).text).toContain("workflows.ts is there already");
  expect(project.read("package.json")).toBe(text);
});

test("a package.json that is broken is left alone", async () => {
  const project = new Project({ "package.json": "{ oh" });
  const { exitCode, text } = await project.run("init", "new", "--yes");
  expect({ exitCode, text }).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining("cd new && npm install"),
  });
  const broken = await project.run("init", "--yes");
  expect(broken.exitCode).toBe(70);
  expect(broken.text).toContain("is not a JSON object");
  expect(project.read("package.json")).toBe("{ oh");
});

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { resolve } from "node:path";
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
    scripts: { dev: "everstep dev", start: "everstep serve app.ts", check: "tsc" },
    dependencies: { everstep: expect.stringMatching(/^\^\d/) },
    devDependencies: { typescript: expect.any(String), "@types/node": expect.any(String) },
  });
  expect(project.read("app.ts")).toContain('store: sqlite("workflows.db")');
  expect(JSON.parse(project.read("tsconfig.json")).compilerOptions).toMatchObject({
    strict: true,
    noEmit: true,
  });
  expect(project.read(".gitignore")).toContain(".everstep/");
  expect(project.lines("workflows.ts").length).toBeLessThanOrEqual(15);

  const dev = await project.install().dev();
  const instance = await dev.client.workflow("hello").create({ params: { name: "Ada" } });
  await instance.skipSleep().catch(() => {});
  expect(await instance.result()).toMatchObject({ output: "Hello, Ada! Goodbye!" });
});

/** What the compiler says of what init wrote; nothing is good. */
function compilerOn(project: Project): string {
  mkdirSync(project.path("node_modules/@types"), { recursive: true });
  symlinkSync(resolve("node_modules/@types/node"), project.path("node_modules/@types/node"), "dir");
  // The library's sources stand in for its declarations, and need more than those.
  const sources = ["--customConditions", "everstep-source", "--lib", "es2023,dom,dom.iterable"];
  const words = [resolve("node_modules/typescript/bin/tsc"), ...sources];
  try {
    return execFileSync(process.execPath, words, { cwd: project.folder, encoding: "utf8" });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

test("after npm install alone, init makes the package one of modules, which the compiler takes", async () => {
  const project = new Project({
    "package.json": '{\n  "dependencies": {\n    "everstep": "^0.1.0"\n  }\n}\n',
    "package-lock.json": "{}",
  }).install();
  const { exitCode, text } = await project.run("init");
  expect([exitCode, text]).toEqual([0, expect.stringContaining('adds "type": "module", script "dev"')]);
  expect(text).toMatch(/dependency "typescript"[\s\S]*Next:\n {2}npm install\n {2}npx everstep dev\n$/);
  expect(JSON.parse(project.read("package.json"))).toMatchObject({
    type: "module",
    scripts: { dev: "everstep dev", start: "everstep serve app.ts", check: "tsc" },
    dependencies: { everstep: "^0.1.0" },
  });
  expect(compilerOn(project)).toBe("");
});

test("a package with code but without a type keeps what its code is, and the compiler takes what init writes", async () => {
  const project = new Project({ "package.json": '{"name": "shop"}', "index.js": "exports.a = 1" }).install();
  const { exitCode, text } = await project.run("init", "--yes");
  expect([exitCode, text]).toEqual([0, expect.stringContaining("workflows.mts  a workflow to begin with")]);
  expect(JSON.parse(project.read("package.json"))).toMatchObject({ scripts: { dev: "everstep dev" } });
  expect(JSON.parse(project.read("package.json"))).not.toHaveProperty("type");
  expect(compilerOn(project)).toBe("");
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

test("in a package as npm init makes it, what init writes runs, and a change of its type is heard of", async () => {
  const project = new Project({ "package.json": '{"name": "shop", "type": "commonjs"}' }).install();
  const { exitCode, text } = await project.run("init", "--yes", "--store", "postgres");
  expect([exitCode, text]).toEqual([0, expect.stringContaining("workflows.mts  a workflow to begin with")]);
  expect(text).toMatch(
    /adds script "dev", dependency "everstep", dependency "pg", .*\n[\s\S]*Next:\n {2}npm install\n/,
  );
  expect(project.read("app.mts")).toMatch(
    /import \{ postgres \} from "everstep\/postgres";[\s\S]*"\.\/workflows\.mts"/,
  );

  project.write("workflows.ts", project.read("workflows.mts"));
  const running = project.start("dev", "--port", "0");
  await running.says(/says "type": "commonjs"\. Write "type": "module" there, or .* end in \.mts/);
  project.write("package.json", '{"name": "shop", "type": "module"}');
  await running.says(/package\.json changed\.[\s\S]*start one/);
});

test.each([
  [".gitignore", ["--yes"]],
  ["package.json", ["--yes"]],
  ["new", ["new", "--yes"]],
])("where %s is a link to nothing, nothing is written", async (name, words) => {
  const project = new Project();
  symlinkSync(project.path("nowhere"), project.path(name));
  const { exitCode, text } = await project.run("init", ...words);
  expect([exitCode, text]).toEqual([
    70,
    expect.stringContaining(`${name} is a link to something that is not there`),
  ]);
  expect(readdirSync(project.folder)).toEqual([name]);
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

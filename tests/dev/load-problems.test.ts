/** What is said of a file that cannot be loaded: where, what, and what to do. One process loads them all. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Project } from "./command-line.ts";

const files: Readonly<Record<string, string>> = {
  "syntax.ts": "const a: number = 1;\n\nexport const b = {;\n",
  "syntax.mjs": "export const a = 1;\nexport const b = {;\n",
  "imports-syntax.ts": 'export * from "./other-syntax.ts";',
  "other-syntax.ts": "\n\nlet let = 1;",
  "enum.ts": "export const a = 1;\nenum Color { Red }\n",
  "property.ts": "export class A { constructor(private a: number) {} }",
  "decorator.ts": "const tag = () => {};\n@tag\nexport class A {}",
  "type.ts": 'import { Order } from "./order.ts";\nexport const a: Order = 1;',
  "order.ts": "export type Order = number;",
  "ending.ts": 'import "./order";',
  "package.ts": 'import "no-such-package";',
  "throws.ts": "const config = undefined as any;\n\nexport const url = config.url;",
  "thrown.ts": 'throw "a string";',
  "nothing.ts": "export const a = 1;",
  "class.ts": "export class Greeter { async run() {} }",
  "name.ts":
    'import { defineWorkflow } from "everstep";\nexport const a = defineWorkflow({ name: "" }, () => 1);',
};

test("every mistake has its place, its reason and its advice", async () => {
  const project = new Project({ ...files, "package.json": '{ "type": "module" }' }).install();
  const paths = Object.keys(files).map((name) => project.path(name));
  const options = ["--disable-warning=ExperimentalWarning", "--conditions=everstep-source"];
  const script = resolve("tests/dev/load-each.ts");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...options, script, ...paths], {
    cwd: project.folder,
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  expect(stderr).toBe("");
  const told = JSON.parse(stdout);
  const text = (name: string): string => told[project.path(name)].join("\n");

  expect(text("syntax.ts")).toMatch(/^syntax\.ts:3: SyntaxError: .*\n {2}export const b = \{;\n {2} +\^$/);
  expect(text("syntax.mjs")).toMatch(
    /^syntax\.mjs:2: SyntaxError: Unexpected token ';'\n {2}export const b = \{;\n {2} +\^$/,
  );
  expect(text("imports-syntax.ts")).toMatch(/^other-syntax\.ts:3: SyntaxError/);
  expect(text("enum.ts")).toMatch(
    /^enum\.ts:2: .*enum is not supported[\s\S]*removing its types[\s\S]*an object instead/,
  );
  expect(text("property.ts")).toMatch(
    /^property\.ts:1: [\s\S]*Declare the field and assign it in the constructor\.$/,
  );
  expect(text("decorator.ts")).toMatch(/^decorator\.ts:2: [\s\S]*Node does not run decorators/);
  expect(text("type.ts")).toMatch(/^type\.ts:1: [\s\S]*`import type`/);
  expect(text("ending.ts")).toMatch(
    /^ending\.ts: Cannot find module [\s\S]*the ending that the file has, \.ts/,
  );
  expect(text("package.ts")).toMatch(
    /^package\.ts: Cannot find package 'no-such-package'[\s\S]*\nInstall it: npm install no-such-package$/,
  );
  expect(text("throws.ts")).toMatch(/^throws\.ts:3: TypeError: Cannot read properties of undefined/);
  expect(text("thrown.ts")).toBe("thrown.ts: Thrown: a string");
  expect(text("nothing.ts")).toMatch(
    /^nothing\.ts: This file exports no workflow and no app. It exports a\.\nExport one: /,
  );
  expect(text("class.ts")).toMatch(
    /Give the class a name: .*defineEntrypoint\({ name: "greeter" }, Greeter\)/,
  );
  expect(text("name.ts")).toMatch(/^name\.ts:2: /);
});

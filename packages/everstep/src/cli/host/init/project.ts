/** What `everstep init` would write into a folder, as a plan. Files that are there stay as they are. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CommandFailed } from "../../problems.ts";

export interface PlannedFile {
  readonly name: string;
  readonly content: string;
  /** Something is added to a file that is there; everything in it is kept. */
  readonly isAddition: boolean;
  /** What is new in it, for people. */
  readonly about: string;
}

export interface Project {
  readonly files: readonly PlannedFile[];
  /** The file with the workflows, whether it is planned or there. */
  readonly workflowsFile: string;
  /** The library has to be fetched before anything runs. */
  readonly needsInstall: boolean;
}

export const sampleWorkflow = `import { defineWorkflow } from "everstep";

interface Guest {
  name?: string;
}

export const hello = defineWorkflow<Guest | undefined>({ name: "hello" }, async ({ payload }, step) => {
  const greeting = await step.do("greet", async () => \`Hello, \${payload?.name ?? "world"}!\`);
  await step.sleep("take a breath", "2 seconds"); // it goes on although the process may have died meanwhile
  return step.do("say goodbye", async () => \`\${greeting} Goodbye!\`);
});
`;

export function planProject(folder: string, version: string): Project {
  const workflows = ["workflows.ts", "workflows.js", "src/workflows.ts", "src/workflows.js"];
  const existing = workflows.find((name) => existsSync(join(folder, name)));
  const files = [
    plannedPackage(folder, version),
    existing === undefined ? fresh("workflows.ts", sampleWorkflow, "a workflow to begin with") : null,
    existsSync(join(folder, ".gitignore"))
      ? null
      : fresh(".gitignore", "node_modules/\n.everstep/\n", "what is not for git"),
  ];
  return {
    files: files.filter((file) => file !== null),
    workflowsFile: existing ?? "workflows.ts",
    needsInstall: !existsSync(join(folder, "node_modules", "everstep", "package.json")),
  };
}

function fresh(name: string, content: string, about: string): PlannedFile {
  return { name, content, isAddition: false, about };
}

const script = "everstep dev";

function plannedPackage(folder: string, version: string): PlannedFile | null {
  const path = join(folder, "package.json");
  if (existsSync(path)) return addedTo(path, version);
  const manifest = {
    name: packageName(folder),
    private: true,
    type: "module",
    scripts: { dev: script },
    dependencies: { everstep: `^${version}` },
  };
  return fresh("package.json", written(manifest, 2), "a package with everstep and a script");
}

type Section = Readonly<Record<string, string>>;

interface Manifest {
  readonly scripts?: Section;
  readonly dependencies?: Section;
  readonly devDependencies?: Section;
}

function addedTo(path: string, version: string): PlannedFile | null {
  const text = readFileSync(path, "utf8");
  const manifest = parsed(path, text);
  const { scripts = {}, dependencies = {}, devDependencies = {} } = manifest;
  const hasScript = Object.values(scripts).some((line) => line.includes(script));
  const name = "dev" in scripts ? "dev:workflows" : "dev";
  const isInstalled = "everstep" in dependencies || "everstep" in devDependencies;
  const news = [
    ...(hasScript ? [] : [`script "${name}"`]),
    ...(isInstalled ? [] : ['dependency "everstep"']),
  ];
  if (news.length === 0) return null;
  const more = {
    ...manifest,
    ...(hasScript ? {} : { scripts: { ...scripts, [name]: script } }),
    ...(isInstalled ? {} : { dependencies: { ...dependencies, everstep: `^${version}` } }),
  };
  return {
    name: "package.json",
    content: written(more, indentOf(text)),
    isAddition: true,
    about: `adds ${news.join(" and ")}`,
  };
}

function parsed(path: string, text: string): Manifest {
  try {
    const manifest = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof manifest === "object" && manifest !== null && !Array.isArray(manifest)) return manifest;
  } catch {
    // Said below.
  }
  throw new CommandFailed(`${path} is not a JSON object, so nothing can be added to it.`, "Repair it first.");
}

function indentOf(text: string): string | number {
  return /^[ \t]+/m.exec(text)?.[0] ?? 2;
}

function written(manifest: object, indent: string | number): string {
  return `${JSON.stringify(manifest, null, indent)}\n`;
}

/** npm wants it short, small and plain. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return name === "" || name === "everstep" || name === "node-modules" ? "my-workflows" : name.slice(0, 100);
}

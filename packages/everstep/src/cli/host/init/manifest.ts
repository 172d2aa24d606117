/** The package.json of a project: a new one, or what is added to the one that is there. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { parseJson } from "../../../model/json.ts";
import { CommandFailed } from "../../problems.ts";
import { drivers, type StoreName, typeTools } from "./templates.ts";

type Section = Readonly<Record<string, string>>;

export interface Manifest {
  readonly text: string;
  readonly value: {
    readonly type?: string;
    readonly scripts?: Section;
    readonly dependencies?: Section;
    readonly devDependencies?: Section;
  };
}

export interface Needed {
  readonly version: string;
  /** null where nothing is written that uses one. */
  readonly store: StoreName | null;
  readonly appFile: string;
  /** A tsconfig is written, and what it names must be there. */
  readonly isTyped: boolean;
  /** Nothing in the package has been written yet, so it can become what a new one is. */
  readonly isBlank: boolean;
}

const devScript = "everstep dev";

export function newManifest(folder: string, needed: Needed): string {
  const manifest = {
    name: packageName(folder),
    private: true,
    type: "module",
    scripts: scriptsOf(needed),
    dependencies: dependenciesOf(needed),
    devDependencies: typeTools,
  };
  return written(manifest, 2);
}

export function readManifest(path: string): Manifest {
  const text = readFileSync(path, "utf8");
  try {
    const value = parseJson(text.replace(/^\uFEFF/, ""));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { text, value };
  } catch {
    // Said below.
  }
  throw new CommandFailed(`${path} is not a JSON object, so nothing can be added to it.`, "Repair it first.");
}

/** Without a type Node looks into each file, but the compiler takes it for CommonJS. */
export function isCommonjs(manifest: Manifest): boolean {
  return manifest.value.type !== "module";
}

/** As `npm install` and `npm init` leave it: nobody has said what its files are. */
export function hasNoType(manifest: Manifest): boolean {
  return manifest.value.type === undefined;
}

/** Everything that must be installed before all of it runs. */
export function packagesOf(needed: Needed): readonly string[] {
  return Object.keys({ ...dependenciesOf(needed), ...(needed.isTyped ? typeTools : {}) });
}

/** null where everything is there already. */
export function addedTo(
  { text, value }: Manifest,
  needed: Needed,
): { readonly content: string; readonly about: string } | null {
  const { scripts = {}, dependencies = {}, devDependencies = {} } = value;
  const newScripts = lackingScripts(scripts, needed);
  const lacking = (wanted: Section): Section =>
    Object.fromEntries(
      Object.entries(wanted).filter(([each]) => !(each in dependencies || each in devDependencies)),
    );
  const libraries = lacking(dependenciesOf(needed));
  const tools = lacking(needed.isTyped ? typeTools : {});
  const news = [
    ...(needed.isBlank ? ['"type": "module"'] : []),
    ...Object.keys(newScripts).map((each) => `script "${each}"`),
    ...Object.keys({ ...libraries, ...tools }).map((each) => `dependency "${each}"`),
  ];
  if (news.length === 0) return null;
  const more = {
    ...value,
    ...(needed.isBlank ? { type: "module" } : {}),
    ...(isEmpty(newScripts) ? {} : { scripts: { ...scripts, ...newScripts } }),
    ...(isEmpty(libraries) ? {} : { dependencies: { ...dependencies, ...libraries } }),
    ...(isEmpty(tools) ? {} : { devDependencies: { ...devDependencies, ...tools } }),
  };
  return { content: written(more, indentOf(text)), about: `adds ${listed(news)}` };
}

/** A package with code of its own says itself how it is started and checked. */
function lackingScripts(scripts: Section, needed: Needed): Section {
  if (needed.isBlank)
    return Object.fromEntries(Object.entries(scriptsOf(needed)).filter(([name]) => !(name in scripts)));
  if (Object.values(scripts).some((line) => line.includes(devScript))) return {};
  return { ["dev" in scripts ? "dev:workflows" : "dev"]: devScript };
}

function scriptsOf({ appFile }: Needed): Section {
  return { dev: devScript, start: `everstep serve ${appFile}`, check: "tsc" };
}

function dependenciesOf({ version, store }: Needed): Section {
  const driver = store === null ? null : drivers[store];
  return { everstep: `^${version}`, ...(driver === null ? {} : { [driver[0]]: driver[1] }) };
}

function isEmpty(section: Section): boolean {
  return Object.keys(section).length === 0;
}

function listed(news: readonly string[]): string {
  return news.length < 2 ? news.join("") : `${news.slice(0, -1).join(", ")} and ${news.at(-1)}`;
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

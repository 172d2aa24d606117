/** The package.json of a project: a new one, or what is added to the one that is there. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
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
}

const script = "everstep dev";

export function newManifest(folder: string, needed: Needed): string {
  const manifest = {
    name: packageName(folder),
    private: true,
    type: "module",
    scripts: { dev: script, start: `everstep serve ${needed.appFile}`, check: "tsc" },
    dependencies: dependenciesOf(needed),
    devDependencies: typeTools,
  };
  return written(manifest, 2);
}

export function readManifest(path: string): Manifest {
  const text = readFileSync(path, "utf8");
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { text, value };
  } catch {
    // Said below.
  }
  throw new CommandFailed(`${path} is not a JSON object, so nothing can be added to it.`, "Repair it first.");
}

/** As `npm init` writes it; without a type, Node looks into the file. */
export function isCommonjs(manifest: Manifest | null): boolean {
  return manifest?.value.type === "commonjs";
}

/** null where everything is there already. */
export function addedTo(
  { text, value }: Manifest,
  needed: Needed,
): { readonly content: string; readonly about: string } | null {
  const { scripts = {}, dependencies = {}, devDependencies = {} } = value;
  const hasScript = Object.values(scripts).some((line) => line.includes(script));
  const name = "dev" in scripts ? "dev:workflows" : "dev";
  const lacking = (wanted: Section): Section =>
    Object.fromEntries(
      Object.entries(wanted).filter(([each]) => !(each in dependencies || each in devDependencies)),
    );
  const libraries = lacking(dependenciesOf(needed));
  const tools = lacking(needed.isTyped ? typeTools : {});
  const news = [
    ...(hasScript ? [] : [`script "${name}"`]),
    ...Object.keys({ ...libraries, ...tools }).map((each) => `dependency "${each}"`),
  ];
  if (news.length === 0) return null;
  const more = {
    ...value,
    ...(hasScript ? {} : { scripts: { ...scripts, [name]: script } }),
    ...(isEmpty(libraries) ? {} : { dependencies: { ...dependencies, ...libraries } }),
    ...(isEmpty(tools) ? {} : { devDependencies: { ...devDependencies, ...tools } }),
  };
  return { content: written(more, indentOf(text)), about: `adds ${listed(news)}` };
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

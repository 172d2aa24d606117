/** What `everstep init` would write into a folder, as a plan. Files that are there stay as they are. */
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { CommandFailed } from "../../problems.ts";
import { addedTo, hasNoType, isCommonjs, newManifest, packagesOf, readManifest } from "./manifest.ts";
import { endingOf, type StoreName, sampleApp, sampleWorkflow, tsconfig } from "./templates.ts";

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
  /** Something has to be fetched before all of it runs. */
  readonly needsInstall: boolean;
}

const workflowsFiles = ["", "src/"].flatMap((folder) =>
  [".ts", ".mts", ".js", ".mjs"].map((ending) => `${folder}workflows${ending}`),
);

export function planProject(folder: string, version: string, store: StoreName): Project {
  checkLinks(folder);
  const path = join(folder, "package.json");
  const manifest = existsSync(path) ? readManifest(path) : null;
  const existing = workflowsFiles.find((name) => existsSync(join(folder, name)));
  const isSample = existing === undefined;
  const isBlank = isSample && manifest !== null && hasNoType(manifest) && !hasCode(folder);
  // Where the package's files are CommonJS, or may be, this ending is a module for Node and for the compiler.
  const isOther = manifest !== null && isCommonjs(manifest) && !isBlank;
  const workflowsFile = existing ?? (isOther ? "workflows.mts" : "workflows.ts");
  const appFile = `app${endingOf(workflowsFile)}`;
  const needed = { version, store: isSample ? store : null, appFile, isTyped: isSample, isBlank };
  const missing = (name: string, content: string, about: string): readonly PlannedFile[] =>
    existsSync(join(folder, name)) ? [] : [fresh(name, content, about)];
  const files = [
    ...(manifest === null
      ? [fresh("package.json", newManifest(folder, needed), "a package with everstep and scripts")]
      : addition(addedTo(manifest, needed))),
    ...(isSample ? [fresh(workflowsFile, sampleWorkflow, "a workflow to begin with")] : []),
    ...(isSample
      ? missing(appFile, sampleApp(store, workflowsFile), `the app for production, on ${store}`)
      : []),
    ...(isSample ? missing("tsconfig.json", tsconfig, "for npx tsc and for editors") : []),
    ...missing(".gitignore", "node_modules/\n.everstep/\n*.db*\n", "what is not for git"),
  ];
  const needsInstall = packagesOf(needed).some(
    (name) => !existsSync(join(folder, "node_modules", name, "package.json")),
  );
  return { files, workflowsFile, needsInstall };
}

function fresh(name: string, content: string, about: string): PlannedFile {
  return { name, content, isAddition: false, about };
}

function addition(
  added: { readonly content: string; readonly about: string } | null,
): readonly PlannedFile[] {
  return added === null ? [] : [{ name: "package.json", isAddition: true, ...added }];
}

/** Files or folders whose meaning a type in package.json could change. */
function hasCode(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some(
    (entry) =>
      !entry.name.startsWith(".") &&
      entry.name !== "node_modules" &&
      (!entry.isFile() || /\.[cm]?[jt]sx?$/.test(entry.name)),
  );
}

/** A link that leads nowhere looks like no file, and cannot be written: better said before the first one is. */
function checkLinks(folder: string): void {
  const names = ["", "package.json", ".gitignore", "tsconfig.json", "app.ts", "app.mts", ...workflowsFiles];
  for (const name of names) {
    const path = join(folder, name);
    if (existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) === undefined) continue;
    throw new CommandFailed(
      `${path} is a link to something that is not there; nothing was written.`,
      "Delete the link, or make what it leads to.",
    );
  }
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new CommandFailed(`${folder} is a file, not a folder.`);
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { nearest } from "../../../model/nearest.ts";
import { defineCommand } from "../../command.ts";
import type { Input } from "../../input.ts";
import type { Output } from "../../output/output.ts";
import { painted } from "../../output/paint.ts";
import { UsageError } from "../../problems.ts";
import { ownVersion } from "../own-package.ts";
import { type PlannedFile, type Project, planProject } from "./project.ts";
import { type StoreName, storeNames } from "./templates.ts";

export const init = defineCommand({
  path: ["init"],
  group: "Host",
  summary: "write a minimal project: one workflow, an app, scripts, tsconfig.json, .gitignore",
  description: [
    "Writes package.json, workflows.ts, app.ts, tsconfig.json and .gitignore where they are missing. An existing package.json " +
      "gets scripts and the dependencies added; no other file that is there is touched. In a terminal it asks which store " +
      "the app shall have, shows what it will write and asks.",
    'A package.json without a "type" gets "type": "module" if there is no code beside it. In a package of "type": "commonjs", or ' +
      "without a type but with code, the files end in .mts, which are modules there too.",
  ],
  arguments: [
    { name: "folder", optional: true, suggests: "files", summary: "where to write it (default this folder)" },
  ],
  options: {
    store: { choices: storeNames, summary: "the store of the app (default sqlite)" },
    yes: { type: "flag", short: "y", summary: "ask nothing" },
  },
  examples: [
    { line: "init", about: "in this folder, after a question" },
    { line: "init --yes my-app", about: "in a new folder, without one" },
    { line: "init --store postgres my-app", about: "with an app on PostgreSQL" },
  ],
  async run({ values, cwd, out, input }) {
    const folder = resolve(cwd, values.folder ?? ".");
    const isAsked = input.isTerminal && out.isTerminal && !values.yes;
    // What stands in the way is said before anything is asked.
    planProject(folder, ownVersion(), "sqlite");
    const store = values.store ?? (isAsked ? await askForStore(input) : "sqlite");
    const project = planProject(folder, ownVersion(), store);
    const mustAsk = isAsked && project.files.length > 0;
    for (const file of mustAsk ? project.files : []) describe(file, out);
    if (mustAsk && !isYes(await input.ask("Write this? [Y/n] "))) {
      out.line("Nothing was written.");
      return;
    }
    write(folder, project, out);
    writeNextCommands(relative(cwd, folder), project, out);
  },
});

async function askForStore(input: Input): Promise<StoreName> {
  const answer = (await input.ask(`Which store? ${storeNames.join(", ")} [sqlite] `))?.trim().toLowerCase();
  const found = storeNames.find((name) => name === answer);
  if (found !== undefined) return found;
  if (!answer) return "sqlite";
  const meant = nearest(answer, storeNames);
  throw new UsageError(
    `There is no store ${JSON.stringify(answer)}; use one of ${storeNames.join(", ")}.`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}

function isYes(answer: string | null): boolean {
  return answer !== null && /^\s*(y|yes)?\s*$/i.test(answer);
}

function describe({ name, about }: PlannedFile, out: Output): void {
  out.line("  ", name, "  ", painted("dim", about));
}

function write(folder: string, { files, workflowsFile }: Project, out: Output): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, content, isAddition, about } of files) {
    // A file that appeared meanwhile is somebody's, too.
    writeFileSync(join(folder, name), content, { flag: isAddition ? "w" : "wx" });
    out.line(painted("green", "✓"), ` ${name}  `, painted("dim", about));
  }
  if (!files.some(({ name }) => name === workflowsFile)) out.line(`${workflowsFile} is there already.`);
}

/** Two commands, from where the user stands. */
function writeNextCommands(folder: string, { needsInstall }: Project, out: Output): void {
  const enter = folder === "" ? "" : `cd ${folder} && `;
  const commands = needsInstall
    ? [`${enter}npm install`, "npx everstep dev"]
    : [`${enter}npx everstep dev`, "npx everstep instances create hello"];
  out.line();
  out.line("Next:");
  for (const command of commands) out.line("  ", painted("cyan", command));
}

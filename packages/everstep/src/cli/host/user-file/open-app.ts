/** The app of a user's file, for commands that look at its store. */
import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { App } from "../../../index.ts";
import { CommandFailed, UsageError } from "../../problems.ts";
import { DevFolder } from "../dev/dev-folder.ts";
import type { Exported } from "./exported.ts";
import { findFile } from "./find-file.ts";
import { libraryOf } from "./library.ts";
import { loadFile } from "./load-file.ts";
import { problemLines } from "./load-problem.ts";

export interface Loaded extends Exported {
  readonly file: string;
}

export async function loadOrFail(cwd: string, given: string | undefined): Promise<Loaded> {
  const file = findFile(cwd, given);
  const loading = await loadFile(file);
  if (loading.kind === "loaded") return { file, ...loading.exported };
  const [first = "", ...rest] = problemLines(loading.problem, cwd);
  throw new CommandFailed(first, rest.length === 0 ? undefined : rest.join("\n"));
}

/**
 * The app that the file exports; around workflows alone one is made on the SQLite file that was named, or on that of
 * `everstep dev`. It is not started. Whoever opens it stops it.
 */
export async function openApp(cwd: string, loaded: Loaded, storePath: string | undefined): Promise<App> {
  const { file, app, workflows } = loaded;
  if (app && storePath === undefined) return app;
  const path = storePath === undefined ? new DevFolder(cwd).storePath : resolve(cwd, storePath);
  if (!existsSync(path)) throw noStore(cwd, file, path, storePath !== undefined);
  const library = await libraryOf(file);
  const made = library.createWorkflows({ workflows, store: library.sqlite(path), onNotice: () => {} });
  return made as unknown as App;
}

/** Runs what needs the app, and closes its store whatever happens. */
export async function withApp<Result>(app: App, use: (app: App) => Promise<Result>): Promise<Result> {
  try {
    return await use(app);
  } finally {
    await app.stop({ grace: 0 });
  }
}

function noStore(cwd: string, file: string, path: string, isNamed: boolean): CommandFailed | UsageError {
  const name = relative(cwd, file) || file;
  if (isNamed) return new UsageError(`There is no store ${relative(cwd, path) || path}.`);
  return new CommandFailed(
    `${name} exports workflows but no app, so it does not say which store is meant; "everstep dev" has left none here either.`,
    "Export an app: export const app = createWorkflows({ workflows, store }); or name a SQLite file: --store app.db",
  );
}

/** Loads the user's own file, and remembers which files came with it. */
import * as nodeModule from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Exported, exportedBy } from "./exported.ts";
import { type LoadProblem, loadProblem, nothingExported } from "./load-problem.ts";

export type Loading =
  | { readonly kind: "loaded"; readonly exported: Exported; readonly files: readonly string[] }
  | { readonly kind: "failed"; readonly problem: LoadProblem; readonly files: readonly string[] };

export async function loadFile(path: string): Promise<Loading> {
  const watched = watchImports(path);
  try {
    const module = await import(pathToFileURL(path).href);
    const exported = exportedBy(module);
    const isEmpty = exported.app === null && Object.keys(exported.workflows).length === 0;
    if (!isEmpty) return { kind: "loaded", exported, files: watched.files() };
    return { kind: "failed", problem: nothingExported(path, exported, module), files: watched.files() };
  } catch (error) {
    const problem = await loadProblem(error, watched.last());
    return { kind: "failed", problem, files: [...watched.files(), ...missingFiles(error)] };
  } finally {
    watched.stop();
  }
}

interface WatchedImports {
  files(): readonly string[];
  /** What was loaded last: where a syntax error has no place of its own, it is in there. */
  last(): string;
  stop(): void;
}

function watchImports(path: string): WatchedImports {
  const files = new Set([path, ...packageOf(path)]);
  let last = path;
  // Bun has no such hooks; the supervisor then watches the file itself and its package.json.
  const hooks = nodeModule.registerHooks?.({
    load(url, context, next) {
      const file = ownFile(url);
      if (file !== null) {
        files.add(file);
        last = file;
      }
      return next(url, context);
    },
  });
  return { files: () => [...files], last: () => last, stop: () => hooks?.deregister() };
}

/** What its package.json says of its type decides how the file is read. */
function packageOf(path: string): readonly string[] {
  const found = nodeModule.findPackageJSON?.(pathToFileURL(path));
  return found === undefined ? [] : [found];
}

/** Of the project itself: what is installed does not change under one's hands. */
function ownFile(url: string): string | null {
  if (!url.startsWith("file:") || url.includes("/node_modules/")) return null;
  return fileURLToPath(url);
}

/** A file that is imported and not there: when it comes, it is worth another try. */
function missingFiles(error: unknown): readonly string[] {
  const url = (error as { readonly url?: unknown } | null)?.url;
  const file = typeof url === "string" ? ownFile(url) : null;
  return file === null ? [] : [file];
}

/**
 * The library as the user's file itself imports it. A program that was installed elsewhere is another copy of it, whose
 * errors the file's own `instanceof` would not know; so the file's copy runs its workflows wherever there is one.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { bearerToken, createHandler, createWorkflows } from "../../../index.ts";
import { sqlite } from "../../../stores/sqlite/index.ts";

export interface Library {
  readonly createWorkflows: typeof createWorkflows;
  readonly createHandler: typeof createHandler;
  readonly bearerToken: typeof bearerToken;
  readonly sqlite: typeof sqlite;
}

const own: Library = { createWorkflows, createHandler, bearerToken, sqlite };

export async function libraryOf(file: string): Promise<Library> {
  try {
    const { resolve } = createRequire(file);
    const [core, store] = await Promise.all(
      ["everstep", "everstep/sqlite"].map((name) => import(pathToFileURL(resolve(name)).href)),
    );
    const found: Partial<Library> = { ...core, ...store };
    return isWhole(found) ? found : own;
  } catch {
    return own;
  }
}

/** An older copy may lack what this program needs of it. */
function isWhole(found: Partial<Library>): found is Library {
  return Object.keys(own).every((name) => typeof found[name as keyof Library] === "function");
}

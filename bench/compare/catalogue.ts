/** The alternatives by name. Their adapters load nothing before they are opened. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AlternativeModule } from "./alternative.ts";

export const alternativeNames = [
  "dbos",
  "openworkflow",
  "bullmq",
  "pg-boss",
  "graphile-worker",
  "absurd",
] as const;

/** With the place of its adapter, which another process imports. */
export interface Listed extends AlternativeModule {
  readonly adapter: string;
}

/** A name of the list, or the path of an adapter of one's own. */
export async function findAlternative(name: string): Promise<Listed> {
  const adapter = adapterOf(name);
  const module = (await import(adapter)) as AlternativeModule;
  return { alternative: module.alternative, open: module.open, adapter };
}

export function adapterOf(name: string): string {
  const isPath = name.includes("/") || name.includes("\\");
  return isPath ? pathToFileURL(resolve(name)).href : new URL(`./adapters/${name}.ts`, import.meta.url).href;
}

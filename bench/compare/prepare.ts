/** Finds what is to be compared on a store, and installs it. */
import { join } from "node:path";
import { parentFolder } from "../folder.ts";
import type { Options } from "../options.ts";
import type { Progress } from "../progress.ts";
import { findAlternative, type Listed } from "./catalogue.ts";
import { install } from "./install.ts";

/** Ready to be opened; `loader` is the address of the module that imports what was installed, if anything. */
export interface Prepared extends Listed {
  readonly loader: string | null;
}

/** Those that keep their data elsewhere are left out, which is said. */
export async function prepareAlternatives(
  { compare, store }: Options,
  progress: Progress,
): Promise<readonly Prepared[]> {
  const prepared: Prepared[] = [];
  for (const name of compare) {
    const listed = await findAlternative(name);
    const { title, stores } = listed.alternative;
    if (!stores.includes(store)) {
      progress.note(`compare: ${title} is for ${stores.join(" and ")}, so not on ${store}`);
      continue;
    }
    const note = (what: string): void => progress.note(`compare: ${what}`);
    const loader = await install(listed.alternative, join(parentFolder, "alternatives"), note);
    prepared.push({ ...listed, loader });
  }
  return prepared;
}

/**
 * Copies of the library's sources and of what judges them, one as it is and one per mutant, in a temporary folder. The tree
 * is only read.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { edited, editsOf, type Mutant } from "./mutant.ts";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));
export const library = "packages/everstep/src";

/** The simulation, and the tests beside the sources, import these. */
const copied = [library, "tests/simulation", "tests/support"];

export class Workshop {
  readonly folder: string = mkdtempSync(join(tmpdir(), "everstep-mutants-"));
  /** The sources as they were when work began: whatever is edited meanwhile, all mutants differ from the same. */
  readonly original: string = join(this.folder, "original");
  #copies = 0;

  constructor() {
    this.#copy(repository, this.original);
  }

  /** A copy with the mutant's edits made: a folder that stands for the repository. */
  make(mutant: Mutant): string {
    const home = join(this.folder, `mutant-${++this.#copies}`);
    this.#copy(this.original, home);
    for (const edit of editsOf(mutant)) {
      const file = join(home, library, edit.file);
      writeFileSync(file, edited(readFileSync(file, "utf8"), edit));
    }
    return home;
  }

  remove(home: string): void {
    rmSync(home, { recursive: true, force: true });
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #copy(from: string, home: string): void {
    mkdirSync(home, { recursive: true });
    for (const folder of copied) cpSync(join(from, folder), join(home, folder), { recursive: true });
    writeFileSync(join(home, "package.json"), '{ "type": "module" }\n');
    symlinkSync(join(repository, "node_modules"), join(home, "node_modules"));
  }
}
